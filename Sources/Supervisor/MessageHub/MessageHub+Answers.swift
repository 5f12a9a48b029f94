public import Clocks
internal import Contracts
public import Frames

extension MessageHub {
  /// RESPONSE, ERROR or PROGRESS from a worker.
  mutating func receivedAnswer(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: SeatIndex, now: Instant,
    actions: inout [HubAction]
  ) throws(FrameViolation) {
    guard seats[seat].isWorker else { throw .rule(.outOfTurn, "a client is never asked, so it cannot answer") }
    touch(seat, now)
    let spends = header.type.spendsCredit(flags: header.flags)
    guard let index = findAnswered(header, by: seat) else {
      counters.stale += 1
      if spends { credits.giveBack(to: seat, byteCount: payload.count) }
      return
    }
    if spends { seats[seat].inFlight.accept(index, in: &deliveries) }
    if deliveries[index].state == .abandoned {
      // The caller has its answer already. A terminal one ends what the worker had in flight.
      counters.stale += 1
      if spends {
        credits.giveBack(to: seat, byteCount: payload.count)
      } else {
        seats[seat].inFlight.remove(index, in: &deliveries)
        end(index)
      }
    } else {
      var answer = header
      answer.source = seats[seat].endpoint
      answer.destination = seats[deliveries[index].callerSeat].endpoint
      answer.method = deliveries[index].header.method
      answer.trace = deliveries[index].header.trace
      answer.id = 0
      answer.payloadByteCount = payload.count
      if header.type == .progress {
        passProgress(answer, payload, for: index, from: seat, actions: &actions)
      } else if spends {
        receivedPart(answer, payload, for: index, from: seat, now: now, actions: &actions)
      } else {
        receivedEnd(answer, payload, for: index, from: seat, actions: &actions)
      }
    }
    advance(seat, now: now, actions: &actions)
  }

  @inline(__always)
  private mutating func receivedPart(
    _ answer: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: SeatIndex,
    now: Instant, actions: inout [HubAction]
  ) {
    deliveries[index].hasParts = true
    forgetPayload(of: index)
    if deliveries[index].holdsCredit { returnCreditOfBegun(index) }
    guard payload.count <= seats[deliveries[index].callerSeat].payloadMaximum else {
      credits.giveBack(to: seat, byteCount: payload.count)
      refusePart(payload.count, of: index, actions: &actions)
      return
    }
    passPart(answer, payload, for: index, from: seat, now: now, actions: &actions)
  }

  @inline(__always)
  private mutating func receivedEnd(
    _ answer: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: SeatIndex,
    actions: inout [HubAction]
  ) {
    counters.answered += 1
    seats[seat].inFlight.remove(index, in: &deliveries)
    let isBehindParts = deliveries[index].parts.waiting.frames > 0
    sendTerminal(
      answer, payload: isBehindParts ? Self.stored(payload) : payload.isEmpty ? .none : .input, for: index,
      actions: &actions)
    end(index)
  }

  /// The delivery an answer belongs to: same caller, same id, this worker, this attempt.
  private func findAnswered(_ header: FrameHeader, by seat: SeatIndex) -> DeliveryIndex? {
    let caller = header.destination
    let found = seats.holder(of: caller).flatMap { seats[$0].outstanding[header.re] }
    guard let index = found ?? seats[seat].inFlight.find(source: caller, id: header.re, in: deliveries),
      deliveries[index].isRequest, deliveries[index].receiverSeat == seat,
      deliveries[index].attempt == header.attempt
    else { return nil }
    let state = deliveries[index].state
    return state == .delivered || state == .abandoned ? index : nil
  }

  /// Progress is a courtesy: without room for it, it is left out.
  private mutating func passProgress(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: SeatIndex,
    actions: inout [HubAction]
  ) {
    credits.giveBack(to: seat, byteCount: payload.count)
    let caller = deliveries[index].callerSeat
    guard seats[caller].takesParts, payload.count <= seats[caller].payloadMaximum else { return }
    seats[caller].granted.use(byteCount: payload.count)
    send(header, payload.isEmpty ? .none : .input, to: caller, actions: &actions)
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
      send(header, .stored(payload), to: seat, actions: &actions)
      return true
    }
    enqueueAnswer(
      MailboxEntry(header: header, payload: .stored(payload), answers: deliveries.reference(to: index)),
      for: seat)
    updateBusy(seat, now)
    // To a caller that grants this answer more may be sent when all that waits of it has left.
    if seats[seat].grantsAnswers { return false }
    let hasRoom = seats[seat].mailbox.count * 2 < limits.clientMailboxFrames && !isFull(seat)
    if !hasRoom { seats[seat].wantsRoomNotice = true }
    return hasRoom
  }

  /// Refuses a call that the supervisor serves.
  public mutating func refuse(_ call: HubCall, _ refusal: Refusal, actions: inout [HubAction]) {
    guard let index = findService(call) else { return }
    refuse(index, refusal, actions: &actions)
  }

  private func findService(_ call: HubCall) -> DeliveryIndex? {
    guard let seat = seats.holder(of: call.caller), let index = seats[seat].outstanding[call.id],
      deliveries[index].state == .inService
    else { return nil }
    return index
  }
}
