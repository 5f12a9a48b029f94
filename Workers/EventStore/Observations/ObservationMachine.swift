public import Contracts
public import Frames
public import NostrContracts

// One `store.observe` under way, as a value. It knows seqs and numbers of bytes; its shell has the events.
//
//   new ──▶ sendingStored ──▶ reachingEnd ──▶ tellingEnd ──▶ live
//
//   live, in this order:
//     something waits                     ──▶ sendingPart
//     behind, and the archive has more    ──▶ reading           ── nothing was announced meanwhile ──▶ level
//     there are sightings to look at      ──▶ readingSightings
//     none of these                       ──▶ asleep            ── there is work, or an end ──▶ woken
//
//   any step that ends after a refusal    ──▶ over
//
// It is behind until it has read all that was announced, and again when more waits than is kept. While it is behind,
// it reads announced events from the archive later. So it holds a bounded number of events, however slow its caller is,
// and misses none. Ephemeral events, which the archive does not have, wait while there is room. An observer that takes
// replaced versions, which the archive does not have either, has more room, and learns when a version may be missing.
//
// A caller that takes pages is sent a page when it is full, or when all events of a transaction are announced.
//
// Under `network-only`, and where only some relays count, an event that was stored long ago is news when such a relay
// sends it. Those events are in the log of sightings, in which each observation has a place.

/// Decides which events one observer is sent, when, and whether from memory or from the archive.
public struct ObservationMachine: Sendable {
  /// An event that was announced and that the filters match.
  public struct Event: Hashable, Sendable {
    /// Its place in the order of commits; nil for an ephemeral event and a replaced version.
    public let seq: Int64?
    /// The number of the relay that sent it; nil when no relay did.
    public let relay: Int64?
    /// The most bytes that it has in a part.
    public let byteCount: Int
    /// Whether it is a version of what has one newest version: a later one may take its place in the archive.
    public let isVersion: Bool

    /// An announced event.
    public init(seq: Int64?, relay: Int64?, byteCount: Int, isVersion: Bool = false) {
      (self.seq, self.relay, self.byteCount, self.isVersion) = (seq, relay, byteCount, isVersion)
    }
  }

  /// What happens to an announced event.
  public enum Intake: Hashable, Sendable {
    /// Nothing: it does not count, or the archive has it and it is read there.
    case ignore
    /// It is too large for a frame: report that it was left out.
    case leaveOut
    /// Send it if the caller has room; report `sent` or `foundNoRoom`.
    case sendNow
    /// Put it behind what waits; report `queued`.
    case queue
    /// It is read from the archive: end the sleep.
    case wake
  }

  /// What the shell does at once.
  public enum Action: Hashable, Sendable {
    /// Nothing.
    case none
    /// End the sleep, and report `stepEnded`.
    case wake
    /// Report `allAnnounced` when all events are announced that are to be announced now.
    case awaitAnnouncements
    /// Send waiting parts while the caller has room; report each as `tookPart`, then `foundNoRoom` if some are left.
    case sendParts
    /// The same, after the page that is being filled is put behind the waiting parts.
    case sendPage
  }

  /// What the shell does next, and may take time for. Its end is reported as `stepEnded` or `stepFailed`.
  public enum Step: Hashable, Sendable {
    /// Send the stored events up to this seq, while ``isWanted``; report `sentStored`.
    case sendStored(upTo: Int64)
    /// Read events by seq and report `read`; then send them while ``isWanted``.
    case read(after: Int64, upTo: Int64)
    /// Tell the caller that all stored events have been sent.
    case tellEnd(StoredEnd)
    /// Take the part that has waited longest, or the page that is being filled; report `tookPart`, and send it.
    case sendPart
    /// Look at the sightings from this place on; report `tookSightings`, and send the events with those seqs.
    case readSightings(from: UInt64)
    /// Sleep until an action ends it.
    case sleep
    /// End the answer with this refusal.
    case end(Refusal)
  }

  private enum State: Hashable, Sendable {
    /// Nothing has been done yet.
    case new
    /// The stored events are being sent, newest first.
    case sendingStored
    /// Events are being read on, up to the seq where live events begin.
    case reachingEnd(Int64)
    /// The caller is learning that all stored events have been sent.
    case tellingEnd
    /// Live: a part that waited is being sent.
    case sendingPart
    /// Live, and behind: events are being read from the archive.
    case reading
    /// Live: sightings are being read.
    case readingSightings
    /// Live: there is nothing to do.
    case asleep
    /// The sleep has ended, and the shell has not reported it yet.
    case woken
    /// The answer has ended.
    case over
  }

  /// The most events that wait for a caller; beyond it they are read from the archive.
  public static let waitingMaximum = 256
  /// The most bytes of those.
  public static let waitingByteMaximum = 1 << 20
  /// The most events that wait for a caller that takes replaced versions.
  public static let supersededMaximum = 4_096
  /// The most bytes of those.
  public static let supersededByteMaximum = 16 << 20
  /// The most bytes that wait for the observers of all callers.
  public static let waitingByteMaximumOfAll = 64 << 20
  /// The most sightings read at once.
  public static let sightingCount = 200
  /// Sent sightings remembered; beyond it they are forgotten, and an event may come twice.
  public static let sightedMaximum = 4_096

  private var state = State.new
  /// All up to this seq is sent, or waits.
  private var cursor: Int64
  private var isBehind = true
  /// Why the answer ends.
  private var ending: Refusal?
  /// Single events that wait. Those of pages are not counted: a transaction's page is as good as sent.
  private var waitingCount = 0
  /// Bytes of all events that wait.
  public private(set) var waitingByteCount = 0
  /// The shell is to report `allAnnounced`.
  private var isDue = false
  private var isComplete: Bool?
  /// Seqs that a search among the filters has not looked at.
  private var unsearched: Int64?
  /// The sightings before this place have been looked at.
  private var sightingPlace: UInt64
  /// Stored events that were sent as sightings, so that a second relay's copy is not.
  private var sightedSeqs: Set<Int64> = []

  private let isResumed: Bool
  private let readsStored: Bool
  private let watchesSightings: Bool
  private let isPaged: Bool
  private let takesSuperseded: Bool
  private let partByteMaximum: Int
  /// A version was left out, or is to be read from the archive, where a newer one may have its place by then.
  private var hasMissed = false

  /// An observation that begins.
  ///
  /// - Parameters:
  ///   - plan: what is observed.
  ///   - afterSeq: the last seq that the caller has; nil when it is to be sent the stored events.
  ///   - announcedSeq: all events up to this seq have been announced.
  ///   - sightingEnd: the place after the last sighting.
  ///   - isPaged: whether the caller takes pages.
  ///   - takesSuperseded: whether the caller takes replaced versions.
  ///   - partByteMaximum: the most bytes that a frame can carry.
  public init(
    _ plan: ObservePlan, after afterSeq: Int64?, announcedSeq: Int64, sightingEnd: UInt64, isPaged: Bool,
    takesSuperseded: Bool = false, partByteMaximum: Int
  ) {
    isResumed = afterSeq != nil
    cursor = afterSeq ?? announcedSeq
    sightingPlace = sightingEnd
    readsStored = plan.readsStored
    watchesSightings = plan.watchesSightings
    self.isPaged = isPaged
    self.takesSuperseded = takesSuperseded
    self.partByteMaximum = partByteMaximum
  }

  /// Whether the caller still wants events.
  public var isWanted: Bool { ending == nil }

  // MARK: Announced events

  /// An event was announced that the filters match.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - relays: the only relays that count; nil when all do.
  ///   - waitingByteCountOfAll: bytes of events that wait for the observers of all callers.
  public mutating func announced(_ event: Event, relays: Set<Int64>?, waitingByteCountOfAll: Int) -> Intake {
    guard state != .over, counts(event.relay, relays) else { return .ignore }
    if let seq = event.seq, isBehind || seq <= cursor { return .ignore }
    guard event.byteCount <= partByteMaximum else {
      advance(past: event)
      return .leaveOut
    }
    if !isPaged, isResting, waitingByteCount == 0 { return .sendNow }
    return queueIfRoom(event, waitingByteCountOfAll)
  }

  /// The event was sent at once.
  public mutating func sent(_ event: Event) { advance(past: event) }

  /// The event was not sent at once, because the caller has no room.
  public mutating func foundNoRoom(for event: Event, waitingByteCountOfAll: Int) -> Intake {
    queueIfRoom(event, waitingByteCountOfAll)
  }

  /// The event was put behind what waits.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - byteCount: the bytes that it has in a part: fewer than announced if the caller may not read all of them.
  public mutating func queued(_ event: Event, byteCount: Int) -> Action {
    precondition(byteCount > 0 && byteCount <= event.byteCount, "a part has the bytes of its event, or fewer")
    advance(past: event)
    waitingByteCount += byteCount
    guard isPaged else {
      waitingCount += 1
      return wake()
    }
    guard !isDue else { return .none }
    isDue = true
    return .awaitAnnouncements
  }

  /// The page was full, and another one was begun with the event that was queued.
  public func pageFilled() -> Action { isResting ? .sendParts : .none }

  /// All events are announced that were to be announced now.
  public mutating func allAnnounced() -> Action {
    isDue = false
    // Otherwise the page is sent when its turn comes, with the events that have come until then.
    return isResting ? .sendPage : .none
  }

  /// A part that waited was taken, to be sent.
  public mutating func tookPart(byteCount: Int) {
    waitingByteCount -= byteCount
    if !isPaged { waitingCount -= 1 }
    precondition(waitingByteCount >= 0 && waitingCount >= 0, "more was taken than waited")
  }

  /// The caller has no room for the parts that are left.
  public mutating func foundNoRoom() -> Action { wake() }

  private mutating func queueIfRoom(_ event: Event, _ waitingByteCountOfAll: Int) -> Intake {
    let (count, byteCount) =
      takesSuperseded
      ? (Self.supersededMaximum, Self.supersededByteMaximum) : (Self.waitingMaximum, Self.waitingByteMaximum)
    let hasRoom =
      waitingCount < count && waitingByteCount + event.byteCount <= byteCount
      && waitingByteCountOfAll + event.byteCount <= Self.waitingByteMaximumOfAll
    if hasRoom { return .queue }
    if takesSuperseded, event.isVersion { hasMissed = true }
    // An ephemeral event is lost to a caller that does not keep up.
    guard event.seq != nil || hasMissed else { return .ignore }
    if event.seq != nil { isBehind = true }
    return wake() == .wake ? .wake : .ignore
  }

  private mutating func advance(past event: Event) {
    if let seq = event.seq { cursor = seq }
  }

  /// Whether an event counts that came from this relay.
  private func counts(_ relay: Int64?, _ relays: Set<Int64>?) -> Bool {
    if let relays { return relay.map(relays.contains) ?? false }
    return readsStored || relay != nil
  }

  /// Whether no step is under way that sends.
  private var isResting: Bool { state == .asleep || state == .woken }

  private mutating func wake() -> Action {
    guard state == .asleep else { return .none }
    state = .woken
    return .wake
  }

  // MARK: Steps

  /// The stored events have been sent.
  ///
  /// - Parameters:
  ///   - isComplete: whether these were all that match; nil when that is not known.
  ///   - unsearched: how many of the last seqs a search did not look at; nil when it looked at all.
  ///   - leftOutCount: events that were too large for a frame.
  public mutating func sentStored(isComplete: Bool?, unsearched: Int64?, leftOutCount: Int) {
    precondition(state == .sendingStored, "stored events are sent once")
    self.unsearched = unsearched
    self.isComplete = unsearched == nil && leftOutCount == 0 ? isComplete : nil
  }

  /// The archive has been read up to this seq.
  public mutating func read(upTo seq: Int64) {
    switch state {
    case .reachingEnd, .reading: cursor = seq
    default: preconditionFailure("an observation reads no events in the state \(state)")
    }
  }

  /// Sightings were taken from the log.
  ///
  /// - Parameters:
  ///   - page: the sightings; nil when the log has dropped some of them.
  ///   - relays: the only relays that count; nil when all do.
  /// - Returns: the seqs of the events that count now.
  /// - Throws: `missed` without a page.
  public mutating func tookSightings(_ page: [Sighting]?, relays: Set<Int64>?) throws(Refusal) -> [Int64] {
    precondition(state == .readingSightings, "sightings are read in a step")
    guard let page else {
      throw Refusal(
        .missed, "relays sent more events that were stored already than are kept for an observer; observe again",
        outcome: .done)
    }
    sightingPlace += UInt64(page.count)
    var seqs: [Int64] = []
    for sighting in page where counts(sighting.relay, relays) && (sighting.isNew || !readsStored) {
      if sightedSeqs.insert(sighting.seq).inserted { seqs.append(sighting.seq) }
    }
    if sightedSeqs.count > Self.sightedMaximum { sightedSeqs = [] }
    return seqs
  }

  /// The step has ended, or the first one may begin. No event is announced between this and the step that follows.
  ///
  /// - Parameters:
  ///   - announcedSeq: all events up to this seq have been announced.
  ///   - sightingEnd: the place after the last sighting.
  public mutating func stepEnded(announcedSeq: Int64, sightingEnd: UInt64) -> Step {
    if let ending {
      state = .over
      return .end(ending)
    }
    switch state {
    case .new where !isResumed && readsStored:
      state = .sendingStored
      return .sendStored(upTo: cursor)
    case .new, .sendingStored: return reachEnd(announcedSeq)
    case .reachingEnd(let end): return reachEnd(end)
    case .reading: if cursor >= announcedSeq { isBehind = false }
    case .tellingEnd, .sendingPart, .readingSightings, .woken: break
    case .asleep, .over: preconditionFailure("an observation has no step in the state \(state)")
    }
    return liveStep(announcedSeq, sightingEnd)
  }

  private mutating func reachEnd(_ end: Int64) -> Step {
    guard cursor >= end else {
      state = .reachingEnd(end)
      return .read(after: cursor, upTo: end)
    }
    state = .tellingEnd
    return .tellEnd(StoredEnd(seq: cursor, isComplete: isComplete, unsearched: unsearched))
  }

  private mutating func liveStep(_ announcedSeq: Int64, _ sightingEnd: UInt64) -> Step {
    if waitingByteCount > 0 {
      state = .sendingPart
      return .sendPart
    }
    if hasMissed {
      state = .over
      return .end(
        Refusal(
          .missed, "more versions came than are kept for an observer, and the store keeps none replaced; observe again",
          outcome: .done))
    }
    if isBehind, cursor < announcedSeq {
      state = .reading
      return .read(after: cursor, upTo: announcedSeq)
    }
    isBehind = false
    if watchesSightings, sightingPlace < sightingEnd {
      state = .readingSightings
      return .readSightings(from: sightingPlace)
    }
    state = .asleep
    return .sleep
  }

  /// The step has failed.
  ///
  /// - Returns: why the answer ends: for this reason, unless there was one before.
  public mutating func stepFailed(_ refusal: Refusal) -> Step {
    state = .over
    return .end(ending ?? refusal)
  }

  // MARK: What else happens

  /// The log of sightings has grown.
  public mutating func sighted() -> Action { wake() }

  /// The caller wants no more.
  public mutating func cancelled() -> Action {
    end(Refusal(.cancelled, "cancelled by the caller", outcome: .done))
  }

  /// The caller observes again under the same name.
  public mutating func replaced() -> Action {
    end(Refusal(.replaced, "observed again under the same id", outcome: .done))
  }

  /// The store is to finish: the caller comes again, with the last seq it has.
  public mutating func drained() -> Action {
    end(
      Refusal(
        .unavailable, "the event store is stopping; observe again after the last seq received", outcome: .done,
        retryAfterMilliseconds: 500))
  }

  private mutating func end(_ refusal: Refusal) -> Action {
    if ending == nil { ending = refusal }
    return wake()
  }
}
