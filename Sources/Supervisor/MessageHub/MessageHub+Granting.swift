public import Clocks
internal import Frames

// Callers that grant each of their answers apart.
//
// With one window for all that a client is sent, the parts of a stream that its program has not taken yet keep the
// answer to its next question away: a loop over a stream that asks something inside waits for itself. So a client may
// say `answerGrants` in HELLO. Parts for it spend nothing of its connection's credit; each answer has a window of its
// own, `answerWindow` of WELCOME, and the client tells more by CREDIT with `re`, the number of its request. What lies
// beyond waits here, apart from the parts of every other answer (decision 0006).
//
// What bounds the memory. Of each answer a window and one payload waits here, and as much at the client. A client that
// leaves `untakenFrames` or `untakenBytes` here is refused every further request (`full`) until it takes some; one
// without such windows gets no credit back and waits. All mailboxes together are bounded as ever.

extension MessageHub {
  /// Whether a part of this answer can go to its caller at once.
  @inline(__always)
  func passesParts(of index: DeliveryIndex) -> Bool {
    let caller = deliveries[index].callerSeat
    guard seats[caller].grantsAnswers else { return seats[caller].takesParts }
    return deliveries[index].parts.waiting.frames == 0 && deliveries[index].grants.hasRoom
  }

  /// A part of this answer goes to its caller: on the connection's credit, or on the answer's own.
  @inline(__always)
  mutating func usePartCredit(of index: DeliveryIndex, byteCount: Int) {
    let caller = deliveries[index].callerSeat
    if seats[caller].grantsAnswers {
      deliveries[index].grants.use(byteCount: byteCount)
    } else {
      seats[caller].granted.use(byteCount: byteCount)
    }
  }

  /// A request leaves its caller's books: what still waits of its answer continues without the delivery.
  mutating func close(_ index: DeliveryIndex) {
    let (caller, id) = (deliveries[index].callerSeat, deliveries[index].header.id)
    seats[caller].outstanding[id] = nil
    seats[caller].held.keep(deliveries[index].grants, of: id)
  }

  /// The caller lets the hub send more of one answer.
  mutating func receivedGrant(
    _ credit: Credit, of id: UInt64, from seat: SeatIndex, now: Instant, actions: inout [HubAction]
  ) {
    touch(seat, now)
    defer { updateBusy(seat, now) }
    let index = seats[seat].outstanding[id]
    if let index { deliveries[index].grants.raise(to: credit) }
    guard var answer = seats[seat].held.take(id) else { return }
    guard var grants = index.map({ deliveries[$0].grants }) ?? answer.grants else {
      preconditionFailure("what waits of an answer keeps the credit of its delivery")
    }
    grants.raise(to: credit)
    while let entry = seats[seat].held.next(of: &answer, &grants) { sendAnswer(entry, to: seat, actions: &actions) }
    if let index { deliveries[index].grants = grants }
    if !answer.entries.isEmpty {
      seats[seat].held.putBack(answer, id, grants: grants)
    } else if let index, deliveries[index].state == .inService {
      actions.append(.serviceMayContinue(seat: seat, id: id))
    }
  }

  /// The client to cut while there is no memory left (``HubLimits/poolBytes``): of those that have taken nothing of
  /// what is held for them for this long, the one with the most bytes.
  ///
  /// What lies within the windows of answers holds no worker's credit, so such a client does not count as busy, and
  /// slow is not wrong while there is room. Without room all others wait for it. One at a time: its bytes may be
  /// enough.
  ///
  /// - Returns: its seat; nil while there is memory, or when no client has left its answers for so long.
  public func mostUntaken(forMilliseconds milliseconds: UInt64, now: Instant) -> SeatIndex? {
    guard isPoolFull else { return nil }
    let idle = seats.all.lazy.filter { $0.held.isUntaken(forMilliseconds: milliseconds, at: now) }
    return idle.max { $0.held.byteCount < $1.held.byteCount }?.index
  }

  /// Whether the client may ask for more while so much of its answers waits here.
  func checkUntaken(of seat: SeatIndex) throws(Refusal) {
    let held = (frames: seats[seat].held.count, bytes: seats[seat].held.byteCount)
    guard held.frames >= limits.untakenFrames || held.bytes >= limits.untakenBytes else { return }
    throw Refusal(
      .full,
      "\(held.frames) parts of answers with \(held.bytes) bytes wait until \(seats[seat].name) takes them; read those "
        + "answers, or give them up",
      outcome: .notStarted, retryAfterMilliseconds: Self.fullRetryMilliseconds)
  }
}
