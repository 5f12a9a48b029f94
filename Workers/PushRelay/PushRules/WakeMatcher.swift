public import Clocks
public import Cryptography
public import Nostr
public import PushDelivery

// Who is watched for, what came for them, and when they are woken for it.
//
//   began ─▶ received … ─▶ caughtUp ─▶ received …          and at any time: watch, due
//            what was stored           what comes
//
// Events of one topic for one key are grouped: the first wakes at once, those within the pause after it wake together
// at its end. So whoever is talked about gets a push at a time, and none of what came is told of never.
//
// An event that waits for the end of a pause is not behind the place that is kept (`place`): after a crash it is read
// again. What has woken already is known to the ledger, by its id.

/// Somebody is to be woken.
public struct MatchedWake: Hashable, Sendable {
  /// Whose devices.
  public let key: PublicKey
  /// What for.
  public let topic: WakeTopic
  /// The events, in the order in which they came; the last one is what the devices are told.
  public let events: [EventID]
}

/// What was made of events since the process began, one for each key that an event was judged for.
public struct EventCounts: Hashable, Sendable {
  /// Events that wake.
  public var waking: UInt64 = 0
  /// Events that do not, by why.
  public var dismissed: [EventDismissal: UInt64] = [:]
}

/// The machine. A value without I/O or a clock of its own.
public struct WakeMatcher: Sendable {
  private struct Watched: Sendable {
    var rules: WakeRules
    /// Whether its events from before are history: it is watched since this stream began.
    var isNew = true
  }

  private struct GroupKey: Hashable, Sendable {
    let key: PublicKey
    let topic: WakeTopic
  }

  private struct Group: Sendable {
    /// From when it may wake again.
    var opensAt: Instant
    var events: [EventID] = []
    /// The seq before the first of them.
    var before: Int64 = 0
  }

  /// Who judges.
  public let judge: EventJudge
  /// Between two wakes of one topic for one key, in milliseconds.
  public let pauseMilliseconds: UInt64
  /// What was made of events.
  public private(set) var counts = EventCounts()
  /// The last seq that was looked at; nil before anything was.
  public private(set) var seq: Int64?
  private var watched: [PublicKey: Watched] = [:]
  private var mutes: [PublicKey: MuteList] = [:]
  private var groups: [GroupKey: Group] = [:]
  private var isCaughtUp = false
  private var pastIsNews = false

  /// Events of one group whose ids are kept; of more only the last is.
  public static let groupMaximum = 64

  /// A watch that goes on at a place.
  public init(judge: EventJudge, pauseMilliseconds: UInt64, seq: Int64?) {
    self.judge = judge
    self.pauseMilliseconds = pauseMilliseconds
    self.seq = seq
  }

  // MARK: Who

  /// The keys that are watched for.
  public var keys: Set<PublicKey> { Set(watched.keys) }

  /// Whether events for a key are looked at as they come.
  public func isFollowing(_ key: PublicKey) -> Bool { isCaughtUp && watched[key]?.isNew == false }

  /// Watches for these keys and no others.
  ///
  /// - Parameters:
  ///   - rules: by key.
  ///   - known: those whose events from the place on are news, as they were watched for before.
  /// - Returns: whether keys were added or have gone, so that the store is to be asked again.
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

  // MARK: What comes

  /// A stream of the store begins.
  ///
  /// - Parameter pastIsNews: whether what comes before ``caughtUp(seq:)`` was stored so short ago that gift wraps
  ///   among it are news.
  public mutating func began(pastIsNews: Bool) {
    isCaughtUp = false
    self.pastIsNews = pastIsNews
  }

  /// The stream has ended; what comes next begins another.
  public mutating func ended() { isCaughtUp = false }

  /// All that was stored has come, up to this seq.
  public mutating func caughtUp(seq: Int64) {
    self.seq = max(self.seq ?? seq, seq)
    isCaughtUp = true
    for key in watched.keys { watched[key]?.isNew = false }
  }

  /// The store is another one: it begins again, and all that it has is history.
  public mutating func storeChanged() {
    seq = nil
    isCaughtUp = false
    groups = [:]
  }

  /// An event came, verified. Mute lists are taken in, all others judged.
  ///
  /// - Parameters:
  ///   - event: what came.
  ///   - seq: its place in the store's order.
  ///   - moment: now.
  public mutating func received(_ event: Event, seq: Int64, at moment: PushMoment) {
    let before = self.seq ?? max(0, seq - 1)
    self.seq = max(before, seq)
    if event.kind == EventKind.mutes { return learn(event) }
    var seen: Set<PublicKey> = []
    for name in event.values(of: "p") {
      guard let key = PublicKey(name), let entry = watched[key], seen.insert(key).inserted else { continue }
      // It was there before its recipient was.
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

  /// Takes in a mute list.
  public mutating func learn(_ event: Event) {
    // What is no mute list mutes nobody.
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

  // MARK: When

  /// The wakes whose time has come. From then on they are the caller's to keep.
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

  /// When ``due(at:)`` is wanted; nil for never.
  public var deadline: Instant? { groups.values.lazy.filter { !$0.events.isEmpty }.map(\.opensAt).min() }

  /// The place to go on at after a crash: all up to this seq has woken, or does not wake. Nil: not known.
  public var place: Int64? {
    let waiting = groups.values.lazy.filter { !$0.events.isEmpty }.map(\.before).min()
    guard let seq else { return nil }
    return min(seq, waiting ?? seq)
  }
}
