internal import Clocks
internal import Contracts
internal import Frames

extension MessageHub {
  /// The peer uses credit for one frame.
  @inline(__always)
  mutating func spendCredit(of seat: Int, byteCount: Int) throws(FrameViolation) {
    switch seats[seat].spend(byteCount: byteCount) {
    case .goesOn: break
    case .isDue: laggingSeats.append(seat)
    case .hasNone:
      let (received, announced) = (seats[seat].received, seats[seat].announced)
      throw .rule(
        .noCredit,
        "sent \(received.frames) frames and \(received.bytes) bytes, allowed \(announced.frames) and \(announced.bytes)"
      )
    }
  }

  /// A frame of the peer has left the hub's care.
  @inline(__always)
  mutating func returnCredit(to seat: Int, turn: UInt32, byteCount: Int) {
    if seats[seat].isBehind {
      owe(seat, turn: turn, byteCount: byteCount)
      return
    }
    if seats[seat].giveBack(frameCount: 1, byteCount: UInt64(byteCount), turn: turn) == .isDue {
      laggingSeats.append(seat)
    }
  }

  // MARK: A client that does not take its answers

  private mutating func owe(_ seat: Int, turn: UInt32, byteCount: Int) {
    guard seats[seat].turn == turn else { return }
    seats[seat].owed.frames += 1
    seats[seat].owed.bytes += UInt64(byteCount)
  }

  /// The mailbox of a client is at its bound, and its frames are not all events.
  func isFullOfAnswers(_ seat: Int) -> Bool {
    !seats[seat].isWorker && !seats[seat].answers.isEmpty
      && (seats[seat].queuedCount >= limits.clientMailboxFrames
        || seats[seat].mailboxBytes >= limits.clientMailboxBytes)
  }

  /// The client has taken some: what was kept back is its own again when that makes room.
  mutating func returnOwed(to seat: Int) {
    guard seats[seat].isBehind, !isFullOfAnswers(seat) else { return }
    let owed = seats[seat].owed
    seats[seat].isBehind = false
    seats[seat].owed = Credit(frames: 0, bytes: 0)
    if seats[seat].giveBack(frameCount: owed.frames, byteCount: owed.bytes, turn: seats[seat].turn) == .isDue {
      laggingSeats.append(seat)
    }
  }

  // MARK: Too much unanswered

  /// Whether the credit of a new request stays away until its answer: because the peer has too many open, because the
  /// hub keeps too many bytes, or because the request is large. Whoever sends a backfill has no more of it under way
  /// than his window then, and a receiver's mailbox is not full of it when somebody else has a small question.
  ///
  /// Not the last quarter of a worker's window. With it the worker asks others while it serves a request; were it
  /// withheld too, workers that ask each other in a circle could each wait for an answer that needs another's credit.
  /// So that nothing grows without an end all the same, what comes over this quarter is refused at the next bound: the
  /// asker hears it at once and can say so to its own caller, which is not waiting.
  func withholdsCredit(of seat: Int, byteCount: Int) throws(Refusal) -> Bool {
    let openCount = seats[seat].outstanding.count
    let maximum = requestMaximum(of: seat)
    let isPoolFull = poolBytes >= limits.poolBytes
    let isLarge = UInt64(byteCount) * Self.largeShare >= seats[seat].window.bytes
    guard openCount >= maximum || isPoolFull || isLarge else { return false }
    let (window, withheld) = (seats[seat].window, seats[seat].withheld)
    guard seats[seat].isWorker,
      (withheld.frames + 1) * 4 > window.frames * 3 || (withheld.bytes + UInt64(byteCount)) * 4 > window.bytes * 3
    else { return true }
    if openCount < maximum, !isPoolFull { return false }
    guard openCount < Self.nestedFactor * maximum, !isPoolFull else {
      let why = isPoolFull ? "the hub keeps as many bytes as it may" : "\(openCount) requests are unanswered"
      throw Refusal(
        .full, "\(why), and \(seats[seat].name) has used the window that its requests share", outcome: .notStarted,
        retryAfterMilliseconds: Self.fullRetryMilliseconds)
    }
    return false
  }

  /// A request is large from this part of its sender's window on: 64 KiB of 1 MiB.
  static let largeShare: UInt64 = 16
  /// A worker's unanswered requests, as a multiple of `outstandingRequests`, from which one more is refused.
  static let nestedFactor = 4
  /// When it makes sense to ask again what was refused as one request too many.
  static let fullRetryMilliseconds: UInt32 = 1_000

  /// The credit of this message comes back when it is answered, or when the answer begins.
  mutating func withholdCredit(for index: DeliveryIndex) {
    deliveries[index].holdsCredit = true
    let caller = deliveries[index].callerSeat
    seats[caller].withheld.frames += 1
    seats[caller].withheld.bytes += UInt64(deliveries[index].payloadByteCount)
  }

  /// The message is answered. Of a connection that is over, the books were closed with it.
  mutating func returnWithheld(of index: DeliveryIndex) {
    let caller = deliveries[index].callerSeat
    guard seats[caller].isConnected else { return }
    let byteCount = deliveries[index].payloadByteCount
    seats[caller].withheld.frames -= 1
    seats[caller].withheld.bytes -= UInt64(byteCount)
    returnCredit(to: caller, turn: seats[caller].turn, byteCount: byteCount)
  }

  /// The answer to a request has begun, which may stand for days: nothing is kept of the request any more, and however
  /// large it was, it is in nobody's way. Only who has too many open waits for their ends.
  mutating func returnCreditOfBegun(_ index: DeliveryIndex) {
    let caller = deliveries[index].callerSeat
    guard seats[caller].outstanding.count < requestMaximum(of: caller) else { return }
    deliveries[index].holdsCredit = false
    returnWithheld(of: index)
  }

  /// Unanswered requests of a peer from which credit comes back only with the answers.
  private func requestMaximum(of seat: Int) -> Int {
    let isRelay = seats[seat].role == Role.localRelay.number
    return isRelay ? max(limits.relayedRequests, limits.outstandingRequests) : limits.outstandingRequests
  }

  // MARK: What the peer grants

  /// The peer says how much it takes in all, or of one answer.
  mutating func receivedCredit(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: Int, now: Instant, actions: inout [HubAction]
  ) throws(FrameViolation) {
    guard let credit = Credit(payload) else {
      throw .rule(.badPayload, "CREDIT has 16 bytes of payload, not \(payload.count)")
    }
    if header.re != 0, seats[seat].grantsAnswers {
      receivedGrant(credit, of: header.re, from: seat, now: now, actions: &actions)
      return
    }
    guard credit.frames > seats[seat].granted.frames || credit.bytes > seats[seat].granted.bytes else { return }
    seats[seat].granted.frames = max(seats[seat].granted.frames, credit.frames)
    seats[seat].granted.bytes = max(seats[seat].granted.bytes, credit.bytes)
    touch(seat, now)
    pump(seat, now: now, actions: &actions)
    updateBusy(seat, now)
  }

  @inline(__always)
  mutating func useCredit(towards seat: Int, byteCount: Int) { seats[seat].use(byteCount: byteCount) }
}

extension Seat {
  /// What follows from a change of the peer's credit.
  enum CreditStep {
    /// Nothing.
    case goesOn
    /// The peer is to be told its total at the end of the turn.
    case isDue
    /// It has sent what it may not.
    case hasNone
  }

  @inline(__always)
  mutating func spend(byteCount: Int) -> CreditStep {
    guard received.frames < announced.frames, received.bytes < announced.bytes else { return .hasNone }
    received.frames += 1
    received.bytes += UInt64(byteCount)
    return step()
  }

  /// Credit of an earlier connection is gone with it.
  @inline(__always)
  mutating func giveBack(frameCount: UInt64, byteCount: UInt64, turn: UInt32) -> CreditStep {
    guard self.turn == turn else { return .goesOn }
    allowed.frames += frameCount
    allowed.bytes += byteCount
    return step()
  }

  /// A quarter of the window may lag behind, so that a single question does not cost a CREDIT of its own; who sends
  /// large frames hears at once, and so does a peer that could otherwise send nothing at all.
  @inline(__always)
  private mutating func step() -> CreditStep {
    let lagFrames = allowed.frames - announced.frames
    if isLagging || lagFrames == 0 { return .goesOn }
    let lagBytes = allowed.bytes - announced.bytes
    guard
      lagFrames * 4 >= window.frames || lagBytes * 16 >= window.bytes || received.frames >= announced.frames
        || received.bytes >= announced.bytes
    else { return .goesOn }
    isLagging = true
    return .isDue
  }

  @inline(__always)
  mutating func use(byteCount: Int) {
    sent.frames += 1
    sent.bytes += UInt64(byteCount)
  }
}
