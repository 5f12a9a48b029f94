public import Clocks
public import Cryptography
public import Nostr
public import PushDelivery

// Which keys are watched, which events arrived for them, and when they are woken.
//
//   began ─▶ received … ─▶ caughtUp ─▶ received …          and at any time: watch, due
//            what was stored           what comes
//
// Events of one topic for one key are grouped: the first wakes at once; those that arrive within the pause after it
// wake together at its end. So an owner gets one push for each pause, and no event is left out.
//
// An event that waits for the end of a pause is not yet counted in the position that is stored (`place`): after a crash
// the worker reads it again. The ledger knows by their ids which events have already woken.

/// A key to wake.
public struct MatchedWake: Hashable, Sendable {
  /// The key whose devices are woken.
  public let key: PublicKey
  /// The topic.
  public let topic: WakeTopic
  /// The events in the order of arrival; the push names the last one.
  public let events: [EventID]
}

/// What became of events since the process began, counted once for each key that an event was judged for.
public struct EventCounts: Hashable, Sendable {
  /// Events that wake.
  public var waking: UInt64 = 0
  /// Events that do not wake, by reason.
  public var dismissed: [EventDismissal: UInt64] = [:]
}

/// The machine. A value without I/O or a clock of its own.
public struct WakeMatcher: Sendable {
  private struct Watched: Sendable {
    var rules: WakeRules
    /// Whether its stored events are history: it was not watched before this stream began.
    var isNew = true
  }

  private struct GroupKey: Hashable, Sendable {
    let key: PublicKey
    let topic: WakeTopic
  }

  private struct Group: Sendable {
    /// When the group may wake again.
    var opensAt: Instant
    var events: [EventID] = []
    /// The seq before that of its first event.
    var before: Int64 = 0
  }

  /// The judge of events.
  public let judge: EventJudge
  /// The pause between two wakes of one topic for one key, in milliseconds.
  public let pauseMilliseconds: UInt64
  /// What became of events.
  public private(set) var counts = EventCounts()
  /// The last seq that was read; nil before the first.
  public private(set) var seq: Int64?
  private var watched: [PublicKey: Watched] = [:]
  private var mutes: [PublicKey: MuteList] = [:]
  private var groups: [GroupKey: Group] = [:]
  private var isCaughtUp = false
  private var pastIsNews = false

  /// Most events of one group whose ids are kept; after that each event replaces the last one.
  public static let groupMaximum = 64

  /// A matcher that continues after `seq`.
  public init(judge: EventJudge, pauseMilliseconds: UInt64, seq: Int64?) {
    self.judge = judge
    self.pauseMilliseconds = pauseMilliseconds
    self.seq = seq
  }

  // MARK: Keys

  /// The watched keys.
  public var keys: Set<PublicKey> { Set(watched.keys) }

  /// Whether events for a key are judged as they arrive.
  public func isFollowing(_ key: PublicKey) -> Bool { isCaughtUp && watched[key]?.isNew == false }

  /// Watches these keys and no others.
  ///
  /// - Parameters:
  ///   - rules: the rules of each key.
  ///   - known: keys that were watched before, so that events after the stored position are news for them.
  /// - Returns: whether keys were added or removed, so that the caller must subscribe at the store again.
  public mutating func watch(_ rules: [PublicKey: WakeRules], known: Set<PublicKey> = []) -> Bool {
    let isChanged = rules.count != watched.count || rules.keys.contains { watched[$0] == nil }
    var next: [PublicKey: Watched] = [:]
    for (key, rules) in rules {
      next[key] = Watched(rules: rules, isNew: watched[key]?.isNew ?? !known.contains(key))
    }
    watched = next
    if isChanged {
      mutes = mutes.filter { next[$0.key] != nil }
      groups = groups.filter { next[$0.key.key] != nil }
    }
    return isChanged
  }

  // MARK: Events

  /// A stream of the store began.
  ///
  /// - Parameter pastIsNews: whether the events before ``caughtUp(seq:)`` were stored so recently that the gift wraps
  ///   among them are news.
  public mutating func began(pastIsNews: Bool) {
    isCaughtUp = false
    self.pastIsNews = pastIsNews
  }

  /// The stream ended; the next event belongs to another stream.
  public mutating func ended() { isCaughtUp = false }

  /// All stored events have arrived, up to this seq.
  public mutating func caughtUp(seq: Int64) {
    self.seq = max(self.seq ?? seq, seq)
    isCaughtUp = true
    for key in watched.keys { watched[key]?.isNew = false }
  }

  /// The store is another one: the matcher begins again, and everything stored there is history.
  public mutating func storeChanged() {
    seq = nil
    isCaughtUp = false
    groups = [:]
  }

  /// A verified event arrived. A mute list is learned; any other event is judged.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - seq: its number in the store's order.
  ///   - moment: now.
  public mutating func received(_ event: Event, seq: Int64, at moment: PushMoment) {
    let before = self.seq ?? max(0, seq - 1)
    self.seq = max(before, seq)
    if event.kind == EventKind.mutes { return learn(event) }
    var seen: Set<PublicKey> = []
    for name in event.values(of: "p") {
      guard let key = PublicKey(name), let entry = watched[key], seen.insert(key).inserted else { continue }
      // The event was stored before its recipient was watched.
      if !isCaughtUp, entry.isNew { continue }
      let arrival: EventArrival = isCaughtUp || pastIsNews ? .live : .past
      let verdict = judge.judge(
        event, for: key, entry.rules, mutes[key], arrival: arrival, now: moment.unixSeconds)
      switch verdict {
      case .dismissed(let why): counts.dismissed[why, default: 0] += 1
      case .wakes(let topic):
        counts.waking += 1
        add(event.id, before: before, to: GroupKey(key: key, topic: topic), at: moment.instant)
      }
    }
  }

  /// Learns a mute list.
  public mutating func learn(_ event: Event) {
    // An invalid mute list mutes nothing.
    guard watched[event.pubkey] != nil, let list = try? MuteList(event) else { return }
    if let present = mutes[event.pubkey], present.createdAt > list.createdAt { return }
    mutes[event.pubkey] = list
  }

  private mutating func add(_ event: EventID, before: Int64, to key: GroupKey, at instant: Instant) {
    var group = groups[key] ?? Group(opensAt: instant)
    if group.events.isEmpty { group.before = before }
    if group.events.count == Self.groupMaximum { group.events.removeLast() }
    group.events.append(event)
    groups[key] = group
  }

  // MARK: Time

  /// The wakes that are due. The caller must keep them: the matcher forgets them.
  public mutating func due(at instant: Instant) -> [MatchedWake] {
    var wakes: [MatchedWake] = []
    for (key, group) in groups where group.opensAt <= instant {
      if group.events.isEmpty {
        groups[key] = nil
        continue
      }
      wakes.append(MatchedWake(key: key.key, topic: key.topic, events: group.events))
      groups[key] = Group(opensAt: instant.advanced(milliseconds: pauseMilliseconds))
    }
    return wakes
  }

  /// When to call ``due(at:)``; nil for never.
  public var deadline: Instant? { groups.values.lazy.filter { !$0.events.isEmpty }.map(\.opensAt).min() }

  /// Where to continue after a crash: every event up to this seq has woken, or does not wake. Nil: unknown.
  public var place: Int64? {
    let waiting = groups.values.lazy.filter { !$0.events.isEmpty }.map(\.before).min()
    guard let seq else { return nil }
    return min(seq, waiting ?? seq)
  }
}
