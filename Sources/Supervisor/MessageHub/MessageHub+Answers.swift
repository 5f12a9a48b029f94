public import Clocks
internal import Contracts
public import Frames

extension MessageHub {
  /// RESPONSE, ERROR or PROGRESS from a worker.
  mutating func receivedAnswer(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: Int, now: Instant, actions: inout [HubAction]
  ) throws(FrameViolation) {
    guard seats[seat].isWorker else { throw .rule(.outOfTurn, "a client is never asked, so it cannot answer") }
    touch(seat, now)
    let spends = header.type.spendsCredit(flags: header.flags)
    guard let index = findAnswered(header, by: seat) else {
      counters.stale += 1
      if spends { returnCredit(to: seat, turn: seats[seat].turn, byteCount: payload.count) }
      return
    }
    if deliveries[index].state == .abandoned {
      discard(index, isTerminal: !spends, byteCount: payload.count, from: seat)
    } else {
      var answer = header
      answer.source = seats[seat].endpoint
      answer.method = deliveries[index].header.method
      answer.trace = deliveries[index].header.trace
      answer.id = 0
      answer.payloadByteCount = payload.count
      if header.type == .progress {
        accept(index, of: seat)
        passProgress(answer, payload, for: index, from: seat, actions: &actions)
      } else if spends {
        receivedPart(answer, payload, for: index, from: seat, now: now, actions: &actions)
      } else {
        receivedEnd(answer, payload, for: index, from: seat, actions: &actions)
      }
    }
    pump(seat, now: now, actions: &actions)
    updateBusy(seat, now)
  }

  /// The caller has its answer already. A terminal one ends what the worker had in hand.
  private mutating func discard(_ index: DeliveryIndex, isTerminal: Bool, byteCount: Int, from seat: Int) {
    counters.stale += 1
    if isTerminal {
      removeInHand(index, of: seat)
      end(index)
    } else {
      returnCredit(to: seat, turn: seats[seat].turn, byteCount: byteCount)
      accept(index, of: seat)
    }
  }

  @inline(__always)
  private mutating func receivedPart(
    _ answer: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: Int, now: Instant,
    actions: inout [HubAction]
  ) {
    accept(index, of: seat)
    deliveries[index].hasParts = true
    forgetPayload(of: index)
    if deliveries[index].holdsCredit { returnCreditOfBegun(index) }
    guard payload.count <= seats[deliveries[index].callerSeat].payloadMaximum else {
      returnCredit(to: seat, turn: seats[seat].turn, byteCount: payload.count)
      refusePart(payload.count, of: index, actions: &actions)
      return
    }
    passPart(answer, payload, for: index, from: seat, now: now, actions: &actions)
  }

  @inline(__always)
  private mutating func receivedEnd(
    _ answer: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: Int,
    actions: inout [HubAction]
  ) {
    counters.answered += 1
    removeInHand(index, of: seat)
    let isBehindParts = deliveries[index].parts.waiting.frames > 0
    sendTerminal(
      answer, payload: isBehindParts ? Self.stored(payload) : payload.isEmpty ? .none : .input, for: index,
      actions: &actions)
    end(index)
  }

  /// The delivery an answer belongs to: same caller, same id, this worker, this attempt.
  private func findAnswered(_ header: FrameHeader, by seat: Int) -> DeliveryIndex? {
    let caller = header.destination
    guard caller.role == nil, caller.seat < seats.count else { return nil }
    var found: DeliveryIndex?
    if seats[caller.seat].endpoint == caller { found = seats[caller.seat].outstanding[header.re] }
    guard let index = found ?? findInHand(seat, source: caller, id: header.re), deliveries[index].isRequest,
      deliveries[index].receiverSeat == seat, deliveries[index].attempt == header.attempt
    else { return nil }
    let state = deliveries[index].state
    return state == .delivered || state == .abandoned ? index : nil
  }

  /// Progress is a courtesy: without room for it, it is left out.
  private mutating func passProgress(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: Int,
    actions: inout [HubAction]
  ) {
    returnCredit(to: seat, turn: seats[seat].turn, byteCount: payload.count)
    let caller = deliveries[index].callerSeat
    guard takesParts(caller), payload.count <= seats[caller].payloadMaximum else { return }
    var header = header
    header.destination = seats[caller].endpoint
    useCredit(towards: caller, byteCount: payload.count)
    counters.framesOut &+= 1
    actions.append(.send(seat: caller, header: header, payload: payload.isEmpty ? .none : .input))
  }

  // MARK: The supervisor's own answers

  /// Answers a call that the supervisor serves.
  ///
  /// - Returns: whether the caller is still there and waiting. With `more`, also whether it may have another part now;
  ///   if not, ``HubAction/serviceMayContinue(seat:id:)`` follows when it may.
  @discardableResult
  public mutating func answer(
    _ call: HubCall, payload: [UInt8], more: Bool = false, now: Instant, actions: inout [HubAction]
  ) -> Bool {
    guard let index = findService(call) else { return false }
    let seat = deliveries[index].callerSeat
    let header = FrameHeader(
      type: .response, flags: more ? .more : [], destination: call.caller, re: call.id, attempt: 1, method: call.method,
      trace: call.trace, payloadByteCount: payload.count)
    guard more else {
      counters.answered += 1
      sendTerminal(header, payload: .stored(payload), for: index, actions: &actions)
      end(index)
      return true
    }
    if passesParts(of: index) {
      usePartCredit(of: index, byteCount: payload.count)
      counters.framesOut &+= 1
      actions.append(.send(seat: seat, header: header, payload: .stored(payload)))
      return true
    }
    enqueueAnswer(
      MailboxEntry(
        header: header, payload: .stored(payload), payloadByteCount: payload.count, delivery: .none, answers: index,
        answersSerial: deliveries[index].serial, creditHolder: nil),
      for: seat)
    updateBusy(seat, now)
    // A caller that grants this answer is told when all that waits of it has left.
    if seats[seat].grantsAnswers { return false }
    let hasRoom = seats[seat].queuedCount * 2 < limits.clientMailboxFrames && !isFull(seat)
    if !hasRoom { seats[seat].wantsRoomNotice = true }
    return hasRoom
  }

  /// Refuses a call that the supervisor serves.
  public mutating func refuse(_ call: HubCall, _ refusal: Refusal, actions: inout [HubAction]) {
    guard let index = findService(call) else { return }
    refuse(index, refusal, actions: &actions)
  }

  private func findService(_ call: HubCall) -> DeliveryIndex? {
    let seat = call.caller.seat
    guard seat < seats.count, seats[seat].endpoint == call.caller, let index = seats[seat].outstanding[call.id],
      deliveries[index].state == .inService
    else { return nil }
    return index
  }
}
