public import Clocks
public import Contracts
public import Frames

// How a REQ is answered from the store, as a value: a `store.observe`, begun again by itself when the store was away.
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
// What is stored comes first, newest first, and in turns that clients share; then its end; then what comes, without a
// turn. An answer that was cut off among the stored events begins again and passes over what it gave already; one that
// was cut off later goes on after the last seq. So a client sees one stream, whatever dies behind it.
//
// A client that does not read stops its own feeds only. Stored events wait on the bus until another client waits for
// the turn; then the answer is given up. Later events are given back to the store at once, which has them.

/// One subscription's way from the store to the client: when it asks, what it gives the client, when it gives way.
public struct FeedMachine: Sendable {
  /// What the shell performs, in order. At most one action of an input is a ``wait(for:)``, the last.
  public enum Action: Hashable, Sendable {
    /// Wait for this; report what the case says.
    case wait(for: Wait)
    /// Ask for a turn at the store. `isLong`: a short turn does not bring what is stored.
    case askForTurn(isLong: Bool)
    /// Nothing happens in the turn for now; report `turnWanted`, at once or later, when another client waits for it.
    case restTurn
    /// The turn works again.
    case resumeTurn
    /// The turn is over. It has brought so much.
    case endTurn(byteCount: Int)
    /// The turn has brought its share; report `turnSpent` if another client waits for such a turn.
    case compareShare
    /// Begin to follow how the network's part of the answer comes.
    case followNetwork
    /// Events have come: the network's part moves.
    case noteNetworkProgress
    /// Report `networkEnded` when nothing more is to be waited for, or at once.
    case awaitNetwork
    /// Follow the network no longer.
    case leaveNetwork
    /// Read the part that has just arrived; report `tookPage`, `tookStoredEnd` or, if it cannot be read, `answerEnded`.
    case takePart
    /// Send the client these records of the page.
    case deliver([EventPage.Record])
    /// All that was stored has been sent.
    case tellStoredEnd(isComplete: Bool?)
    /// Nothing more will come, for this reason.
    case tellEnd(Refusal)
    /// Ask the store to end its answer; its end is waited for.
    case cancelAnswer
    /// Take nothing more of the answer.
    case abandonAnswer(Refusal)
  }

  /// What the shell waits for.
  public enum Wait: Hashable, Sendable {
    /// The client has read enough of what was sent: `clientHasRoom`.
    case room
    /// The turn is granted, or was ended: `turnGranted` or `turnWithdrawn`.
    case turn
    /// The store, asked for what comes after this seq, answers: `answerBegan` or `answerEnded`.
    case answer(afterSeq: Int64?)
    /// The next part of the answer: `partArrived` or `answerEnded`.
    case part
    /// This time: `pauseEnded`.
    case pause(milliseconds: UInt64)
  }

  private enum State: Hashable, Sendable {
    /// Nothing was done yet.
    case new
    /// An attempt that began then waits until the client has room for what a turn brings.
    case waitingForRoom(since: Instant)
    /// The attempt waits for its turn.
    case waitingForTurn(since: Instant)
    /// The store was asked.
    case asking(since: Instant)
    /// The store answers.
    case reading
    /// A page waits for the client to read, and so does the turn.
    case resting
    /// The answer was cancelled for other clients, and has not ended.
    case givingWay
    /// The answer was given up, since the client does not read.
    case unread
    /// The store is away.
    case pausing
    /// The client wants no more; the turn lasts until the answer has ended.
    case closing
    /// Nothing more happens.
    case over
  }

  /// The network's part of the answer.
  private enum Network: Hashable, Sendable {
    /// It has none, or none that is still followed.
    case none
    /// It is followed when the store has begun to answer.
    case wanted
    /// It is followed.
    case followed
    /// The end of what is stored waits for it.
    case awaited
  }

  private var state = State.new
  private var network: Network
  /// The last seq given, once all that was stored has been; nil before, while each attempt needs a turn.
  private var resumeSeq: Int64?
  /// Stored events given, so that none is given again when the store was away; beyond ``givenMaximum`` one may be.
  private var given: Set<Int64> = []
  /// Bytes of events that were brought in this turn.
  private var broughtByteCount = 0
  /// Whether what is stored is more than a short turn brings.
  private var isLong = false
  /// When the store last answered; before, when the feed began.
  private var lostAt = Instant(nanoseconds: 0)

  /// How long the store may be away.
  public static let absenceMilliseconds: UInt64 = 60_000
  /// How long after a refusal the store is asked again.
  public static let retryMilliseconds: UInt64 = 250
  /// Stored events that are remembered as given.
  public static let givenMaximum = 200_000
  /// Bytes that a short turn brings.
  public static let shareByteCount = 64 << 10

  private static let unread = Refusal(.cancelled, "the client does not read", outcome: .done)
  private static let unwanted = Refusal(.cancelled, "the client wants no more", outcome: .done)

  /// A feed that has not begun.
  ///
  /// - Parameter isFetched: whether the network is asked as well, so that the end of what is stored waits for it.
  public init(isFetched: Bool) { network = isFetched ? .wanted : .none }

  // MARK: Asking

  /// The shell runs.
  public mutating func began(at now: Instant) -> [Action] {
    switch state {
    case .new:
      lostAt = now
      return attempt(at: now)
    case .over: return []
    default: impossible(#function)
    }
  }

  /// The client has read enough of what was sent for more.
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

  /// The turn is granted, when the client may have no room any longer.
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

  /// The pause after a refusal is over.
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

  // MARK: What comes

  /// A part of the answer is here: a page of events, or the end of what is stored.
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

  /// The part was the end of what is stored.
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

  /// The network's part is here, or nothing more of it is waited for.
  public mutating func networkEnded() -> [Action] {
    guard network == .awaited else { impossible(#function) }
    network = .none
    // The network may have more: nothing is said about completeness.
    return isDone ? [] : [.tellStoredEnd(isComplete: nil)]
  }

  // MARK: Giving way

  /// The turn has brought its share, and another client waits for one.
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

  /// Another client waits for the turn, which rests.
  public mutating func turnWanted() -> [Action] {
    guard state == .resting else { impossible(#function) }
    state = .unread
    return [.abandonAnswer(Self.unread), .endTurn(byteCount: broughtByteCount)]
  }

  // MARK: The end

  /// The answer has ended, or none has begun.
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

  /// The client wants no more. While the store works on an answer, or one is on its way, the turn lasts: a client that
  /// asks again all the time would have many at once.
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

  /// Whether the client gets nothing more.
  private var isDone: Bool { state == .closing || state == .over }

  private func impossible(_ input: String) -> Never {
    preconditionFailure("a feed has no \(input) in the state \(state)")
  }
}
