internal import Clocks
internal import Contracts
internal import Frames

extension MessageHub {
  // MARK: A client that does not take its answers

  /// The mailbox of a client is at its bound, and its frames are not all events.
  func isFullOfAnswers(_ seat: SeatIndex) -> Bool {
    !seats[seat].isWorker && !seats[seat].mailbox.answers.isEmpty
      && seats[seat].mailbox.reaches(frames: limits.clientMailboxFrames, bytes: limits.clientMailboxBytes)
  }

  /// The client has taken some: what was kept back is its own again when that makes room.
  mutating func returnOwed(to seat: SeatIndex) {
    if credits[seat].isBehind, !isFullOfAnswers(seat) { credits.catchUp(seat) }
  }

  // MARK: Too much unanswered

  /// Whether the credit of a new request stays away until its answer: because the peer has too many open, because the
  /// hub keeps too many bytes, or because the request is large. A peer that sends a backfill then has no more of it
  /// under way than its window, and a receiver's mailbox is not full of it when another peer has a small question.
  ///
  /// Not the last quarter of a worker's window. With it the worker asks others while it serves a request; were it
  /// withheld too, workers that ask each other in a circle could each wait for an answer that needs another's credit.
  /// So that nothing grows without an end all the same, what comes over this quarter is refused at the next bound: the
  /// asker hears it at once and can say so to its own caller, which is not waiting.
  func withholdsCredit(of seat: SeatIndex, byteCount: Int) throws(Refusal) -> Bool {
    let openCount = seats[seat].outstanding.count
    let maximum = requestMaximum(of: seat)
    let isLarge = UInt64(byteCount) * Self.largeShare >= credits[seat].window.bytes
    guard openCount >= maximum || isPoolFull || isLarge else { return false }
    guard seats[seat].isWorker, credits[seat].overdraws(byteCount: byteCount) else { return true }
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
    credits.withhold(from: deliveries[index].callerSeat, byteCount: deliveries[index].payloadByteCount)
  }

  /// The message is answered, if its sender is there still.
  mutating func returnWithheld(of index: DeliveryIndex) {
    guard deliveries[index].holdsCredit else { return }
    deliveries[index].holdsCredit = false
    credits.giveBackWithheld(to: deliveries[index].callerSeat, byteCount: deliveries[index].payloadByteCount)
  }

  /// The answer to a request has begun, and may last for days: the hub keeps nothing of the request, and however large
  /// it was, it is in no other request's way. Only a peer that has too many open waits for their ends.
  mutating func returnCreditOfBegun(_ index: DeliveryIndex) {
    let caller = deliveries[index].callerSeat
    if seats[caller].outstanding.count < requestMaximum(of: caller) { returnWithheld(of: index) }
  }

  /// Unanswered requests of a peer from which credit comes back only with the answers.
  private func requestMaximum(of seat: SeatIndex) -> Int {
    let isRelay = seats[seat].role == Role.localRelay.number
    return isRelay ? max(limits.relayedRequests, limits.outstandingRequests) : limits.outstandingRequests
  }

  // MARK: What the peer grants

  /// The peer says how much it takes in all, or of one answer.
  mutating func receivedCredit(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: SeatIndex, now: Instant,
    actions: inout [HubAction]
  ) throws(FrameViolation) {
    guard let credit = Credit(payload) else {
      throw .rule(.badPayload, "CREDIT has 16 bytes of payload, not \(payload.count)")
    }
    if header.re != 0, seats[seat].grantsAnswers {
      receivedGrant(credit, of: header.re, from: seat, now: now, actions: &actions)
      return
    }
    guard seats[seat].granted.raise(to: credit) else { return }
    touch(seat, now)
    advance(seat, now: now, actions: &actions)
  }
}
