public import Clocks
public import Contracts
public import Frames

// How a REQ is answered from the store, as a value: a `store.observe` that is repeated when the store was away.
//
//   new ──▶ waitingForRoom ⇄ waitingForTurn ──▶ asking ──▶ reading ⇄ resting
//
//   asking, reading   the store is away          ──▶ pausing     ── the pause is over      ──▶ again
//   reading           the turn's share is spent  ──▶ givingWay   ── the answer has ended   ──▶ again
//   reading, resting  the client does not read   ──▶ unread      ── the client has read    ──▶ again
//   asking, reading   cancelled, with a turn     ──▶ closing     ── the answer has ended   ──▶ over
//   any other         cancelled, or refused      ──▶ over
//
//   again: from waitingForRoom while stored events are to come; from asking afterwards, which needs no turn.
//
// Stored events come first, newest first, in turns that clients share; then their end; then new events, without a turn.
// If an answer is cut off among the stored events, the feed asks again and skips what it has already delivered; if
// later, it continues after the last seq. So the client sees one stream, whatever fails behind it.
//
// A client that does not read stops only its own feeds. Stored events wait on the bus until another client waits for
// the turn; then the feed gives the answer up. New events it gives up at once, because the store has them.

/// One subscription's path from the store to the client: when it asks, what it delivers, when it gives way.
public struct FeedMachine: Sendable {
  /// What the shell performs, in order. At most one action of an input is a ``wait(for:)``, the last.
  public enum Action: Hashable, Sendable {
    /// Wait for this; report what the case says.
    case wait(for: Wait)
    /// Ask for a turn at the store. `isLong`: a short turn is too short for the stored events.
    case askForTurn(isLong: Bool)
    /// The turn is idle for now; report `turnWanted`, at once or later, when another client waits for it.
    case restTurn
    /// The turn is in use again.
    case resumeTurn
    /// The turn is over. It has delivered so many bytes.
    case endTurn(byteCount: Int)
    /// The turn has delivered its share; report `turnSpent` if another client waits for such a turn.
    case compareShare
    /// Start to follow the network's part of the answer.
    case followNetwork
    /// Events have come: the network's part makes progress.
    case noteNetworkProgress
    /// Report `networkEnded` when the network's part is complete or need not be waited for; perhaps at once.
    case awaitNetwork
    /// Stop following the network.
    case leaveNetwork
    /// Read the part that has just arrived; report `tookPage`, `tookStoredEnd` or, if it cannot be read, `answerEnded`.
    case takePart
    /// Send the client these records of the page.
    case deliver([EventPage.Record])
    /// Tell the client that all stored events have been sent.
    case tellStoredEnd(isComplete: Bool?)
    /// Tell the client that the subscription has ended, for this reason.
    case tellEnd(Refusal)
    /// Ask the store to end its answer; the feed waits for the end.
    case cancelAnswer
    /// Give up the answer.
    case abandonAnswer(Refusal)
  }

  /// What the shell waits for.
  public enum Wait: Hashable, Sendable {
    /// The client has read enough of what was sent: `clientHasRoom`.
    case room
    /// The turn is granted, or was ended: `turnGranted` or `turnWithdrawn`.
    case turn
    /// The store answers a request for everything after this seq: `answerBegan` or `answerEnded`.
    case answer(afterSeq: Int64?)
    /// The next part of the answer: `partArrived` or `answerEnded`.
    case part
    /// This time: `pauseEnded`.
    case pause(milliseconds: UInt64)
  }

  private enum State: Hashable, Sendable {
    /// Nothing has been done yet.
    case new
    /// An attempt that began at this time waits until the client has room for what a turn delivers.
    case waitingForRoom(since: Instant)
    /// The attempt waits for its turn.
    case waitingForTurn(since: Instant)
    /// The request is at the store.
    case asking(since: Instant)
    /// The store is answering.
    case reading
    /// A page waits for the client to read, and the turn is idle.
    case resting
    /// The answer was cancelled in favour of other clients, and has not ended yet.
    case givingWay
    /// The answer was given up, because the client does not read.
    case unread
    /// The store is away.
    case pausing
    /// The client has cancelled; the turn lasts until the answer has ended.
    case closing
    /// The feed has ended.
    case over
  }

  /// The network's part of the answer.
  private enum Network: Hashable, Sendable {
    /// There is no such part, or the feed no longer follows it.
    case none
    /// The feed will follow it once the store has begun to answer.
    case wanted
    /// The feed follows it.
    case followed
    /// The end of the stored events waits for it.
    case awaited
  }

  private var state = State.new
  private var network: Network
  /// The last seq delivered, once all stored events were. Nil before that, while each attempt needs a turn.
  private var resumeSeq: Int64?
  /// Stored events already delivered, so that none is repeated after the store was away; above ``givenMaximum`` one may
  /// be.
  private var given: Set<Int64> = []
  /// Bytes of events delivered in this turn.
  private var broughtByteCount = 0
  /// Whether the stored events are more than a short turn delivers.
  private var isLong = false
  /// When the store last answered; until it has, when the feed began.
  private var lostAt = Instant(nanoseconds: 0)

  /// How long the store may be away.
  public static let absenceMilliseconds: UInt64 = 60_000
  /// The pause before the store is asked again.
  public static let retryMilliseconds: UInt64 = 250
  /// How many stored events are remembered as delivered.
  public static let givenMaximum = 200_000
  /// The bytes that a short turn delivers.
  public static let shareByteCount = 64 << 10

  private static let unread = Refusal(.cancelled, "the client does not read", outcome: .done)
  private static let unwanted = Refusal(.cancelled, "the client wants no more", outcome: .done)

  /// A feed that has not begun.
  ///
  /// - Parameter awaitsNetwork: whether the end of the stored events waits for relays.
  public init(awaitsNetwork: Bool) { network = awaitsNetwork ? .wanted : .none }

  // MARK: Asking

  /// The shell has started the feed.
  public mutating func began(at now: Instant) -> [Action] {
    switch state {
    case .new:
      lostAt = now
      return attempt(at: now)
    case .over: return []
    default: impossible(#function)
    }
  }

  /// The client has read enough of what was sent for more to be sent.
  public mutating func clientHasRoom(at now: Instant) -> [Action] {
    switch state {
    case .waitingForRoom(let since):
      state = .waitingForTurn(since: since)
      broughtByteCount = 0
      return [.askForTurn(isLong: isLong), .wait(for: .turn)]
    case .resting:
      state = .reading
      return [.resumeTurn, .takePart]
    case .unread:
      lostAt = now
      return attempt(at: now)
    case .over: return []
    default: impossible(#function)
    }
  }

  /// The turn is granted. The client may no longer have room.
  public mutating func turnGranted(hasRoom: Bool) -> [Action] {
    switch state {
    case .waitingForTurn(let since) where hasRoom:
      state = .asking(since: since)
      return [.wait(for: .answer(afterSeq: nil))]
    case .waitingForTurn(let since):
      state = .waitingForRoom(since: since)
      return [.endTurn(byteCount: 0), .wait(for: .room)]
    case .over: return []
    default: impossible(#function)
    }
  }

  /// The turn was ended before it was granted.
  public mutating func turnWithdrawn() -> [Action] {
    // Only the feed itself ends its turn.
    guard state == .over else { impossible(#function) }
    return []
  }

  /// The store has begun to answer.
  public mutating func answerBegan() -> [Action] {
    switch state {
    case .asking:
      state = .reading
      guard network == .wanted else { return [.wait(for: .part)] }
      network = .followed
      return [.followNetwork, .wait(for: .part)]
    case .closing: return [.cancelAnswer, .wait(for: .part)]
    case .over: return [.abandonAnswer(Self.unwanted)]
    default: impossible(#function)
    }
  }

  /// The pause before a retry is over.
  public mutating func pauseEnded(at now: Instant) -> [Action] {
    switch state {
    case .pausing: return attempt(at: now)
    case .over: return []
    default: impossible(#function)
    }
  }

  private mutating func attempt(at now: Instant) -> [Action] {
    guard let resumeSeq else {
      state = .waitingForRoom(since: now)
      return [.wait(for: .room)]
    }
    state = .asking(since: now)
    return [.wait(for: .answer(afterSeq: resumeSeq))]
  }

  // MARK: Parts

  /// A part of the answer is here: a page of events, or the end of the stored events.
  public mutating func partArrived(isPage: Bool, hasRoom: Bool) -> [Action] {
    switch state {
    case .reading where !isPage || hasRoom: return [.takePart]
    case .reading where resumeSeq == nil:
      state = .resting
      return [.restTurn, .wait(for: .room)]
    case .reading:
      state = .unread
      return [.abandonAnswer(Self.unread), .wait(for: .room)]
    case .givingWay, .closing: return [.wait(for: .part)]
    case .over: return []
    default: impossible(#function)
    }
  }

  /// The part was a page with these records, of so many bytes.
  public mutating func tookPage(_ records: [EventPage.Record], byteCount: Int) -> [Action] {
    guard state == .reading else { impossible(#function) }
    var actions: [Action] = isFollowing ? [.noteNetworkProgress] : []
    var new: [EventPage.Record] = []
    for record in records where isNew(record) { new.append(record) }
    if !new.isEmpty {
      actions.append(.deliver(new))
      broughtByteCount += byteCount
      if resumeSeq == nil, broughtByteCount >= Self.shareByteCount { actions.append(.compareShare) }
    }
    return actions + [.wait(for: .part)]
  }

  private mutating func isNew(_ record: EventPage.Record) -> Bool {
    guard let seq = record.seq else { return true }
    guard let last = resumeSeq else {
      return given.count < Self.givenMaximum ? given.insert(seq).inserted : !given.contains(seq)
    }
    resumeSeq = max(last, seq)
    return true
  }

  /// The part was the end of the stored events.
  public mutating func tookStoredEnd(_ end: StoredEnd) -> [Action] {
    guard state == .reading else { impossible(#function) }
    if let last = resumeSeq {
      resumeSeq = max(last, end.seq)
      return [.wait(for: .part)]
    }
    resumeSeq = end.seq
    given = []
    let turnEnd = Action.endTurn(byteCount: broughtByteCount)
    guard isFollowing else { return [turnEnd, .tellStoredEnd(isComplete: end.isComplete), .wait(for: .part)] }
    network = .awaited
    return [turnEnd, .awaitNetwork, .wait(for: .part)]
  }

  private var isFollowing: Bool { network == .followed || network == .awaited }

  /// The network's part is complete, or is no longer waited for.
  public mutating func networkEnded() -> [Action] {
    guard network == .awaited else { impossible(#function) }
    network = .none
    // Relays may have more events, so completeness is left open.
    return isDone ? [] : [.tellStoredEnd(isComplete: nil)]
  }

  // MARK: Giving way

  /// The turn has delivered its share, and another client waits for one.
  public mutating func turnSpent() -> [Action] {
    switch state {
    case .reading:
      isLong = true
      state = .givingWay
      return [.cancelAnswer]
    case .closing, .over: return []
    default: impossible(#function)
    }
  }

  /// Another client waits for the turn, which is idle.
  public mutating func turnWanted() -> [Action] {
    guard state == .resting else { impossible(#function) }
    state = .unread
    return [.abandonAnswer(Self.unread), .endTurn(byteCount: broughtByteCount)]
  }

  // MARK: The end

  /// The answer has ended, or did not begin.
  ///
  /// - Parameters:
  ///   - refusal: why; nil when the store ended it without a refusal.
  ///   - now: the moment.
  public mutating func answerEnded(_ refusal: Refusal?, at now: Instant) -> [Action] {
    let turnEnd: [Action] = resumeSeq == nil ? [.endTurn(byteCount: broughtByteCount)] : []
    switch state {
    case .asking(let since):
      return turnEnd + lost(refusal, absenceMilliseconds: since.milliseconds(since: lostAt))
    case .reading:
      lostAt = now
      return turnEnd + lost(refusal, absenceMilliseconds: 0)
    case .givingWay:
      lostAt = now
      return turnEnd + attempt(at: now)
    case .closing:
      state = .over
      return turnEnd
    case .over: return []
    default: impossible(#function)
    }
  }

  private mutating func lost(_ refusal: Refusal?, absenceMilliseconds: UInt64) -> [Action] {
    let refusal = refusal ?? Refusal(.unavailable, "the store has ended the answer", outcome: .done)
    let isAway = refusal.isPassing || refusal.code == .unknownMethod
    guard isAway, absenceMilliseconds < Self.absenceMilliseconds else {
      state = .over
      return [.tellEnd(refusal)]
    }
    state = .pausing
    return [.wait(for: .pause(milliseconds: Self.retryMilliseconds))]
  }

  /// The client has cancelled. While the store works on an answer, or an answer is on its way, the turn lasts:
  /// otherwise a client that repeats its request all the time would have many turns at once.
  public mutating func cancelled() -> [Action] {
    if isDone { return [] }
    let before = state
    state = .over
    let networkEnd: [Action] = isFollowing ? [.leaveNetwork] : []
    network = .none
    switch before {
    case .asking where resumeSeq == nil: state = .closing
    case .reading where resumeSeq == nil:
      state = .closing
      return networkEnd + [.cancelAnswer]
    case .givingWay: state = .closing
    case .reading: return networkEnd + [.abandonAnswer(Self.unwanted)]
    case .resting: return networkEnd + [.abandonAnswer(Self.unwanted), .endTurn(byteCount: broughtByteCount)]
    case .waitingForTurn: return networkEnd + [.endTurn(byteCount: 0)]
    case .new, .waitingForRoom, .asking, .unread, .pausing, .closing, .over: break
    }
    return networkEnd
  }

  /// Whether the client receives nothing more.
  private var isDone: Bool { state == .closing || state == .over }

  private func impossible(_ input: String) -> Never {
    preconditionFailure("a feed has no \(input) in the state \(state)")
  }
}
