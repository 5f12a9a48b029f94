internal import Clocks
internal import Frames

// Parts of streamed answers, and the window of each answer.
//
// A part that finds its caller ready passes at once. Any other waits in the caller's mailbox, and the question is whose
// credit pays for the wait. Were it always the worker's, one caller that takes nothing would use up the worker's
// window, and the worker's other callers would wait with it. So every answer has a window of its own: as far as that
// reaches, the mailbox pays, and the worker has its credit back at once. Workers that know of it stop there; what
// others send beyond it holds their credit while the mailbox is full.
//
// What bounds the memory. A caller's mailbox grows by a window and one payload for each answer it has begun, and the
// client whose mailbox is full of parts gets no credit back, so it begins no more of them. A client that has begun very
// many at once has its share (`clientShareBytes`): beyond it an answer is given up, so that no client alone stops the
// hub. All mailboxes together are bounded by `poolBytes`: there every part holds credit, and an answer to a client that
// is part of the reason, with a mailbox's worth of bytes untaken, is given up instead, because the worker whose credit
// it would hold has other callers. What is in the mailboxes by then leaves them when the clients take it, or when the
// supervisor cuts those that do not (`mostUntaken`).

extension MessageHub {
  /// A part of a streamed answer: sent at once, or kept for the caller.
  mutating func passPart(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: Int, now: Instant,
    actions: inout [HubAction]
  ) {
    let caller = deliveries[index].callerSeat
    deliveries[index].parts.didReceive(byteCount: payload.count)
    // The supervisor's own requests are seat 0's: it only wants to know how they end.
    guard caller == 0 || passesParts(of: index) else {
      keepPart(header, payload, for: index, from: seat, actions: &actions)
      updateBusy(caller, now)
      return
    }
    returnCredit(to: seat, turn: seats[seat].turn, byteCount: payload.count)
    if caller != 0 {
      var header = header
      header.destination = seats[caller].endpoint
      usePartCredit(of: index, byteCount: payload.count)
      counters.framesOut &+= 1
      actions.append(.send(seat: caller, header: header, payload: payload.isEmpty ? .none : .input))
    }
    announceParts(of: index, actions: &actions)
  }

  private mutating func keepPart(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: Int,
    actions: inout [HubAction]
  ) {
    let caller = deliveries[index].callerSeat
    let turn = seats[seat].turn
    let isPoolFull = poolBytes >= limits.poolBytes
    let isWithin = deliveries[index].parts.hasRoom(in: limits.answerWindow)
    let share = isPoolFull ? limits.clientMailboxBytes : limits.clientShareBytes
    if !seats[caller].isWorker, seats[caller].waitingBytes >= share {
      returnCredit(to: seat, turn: turn, byteCount: payload.count)
      giveUpUntaken(index, actions: &actions)
      return
    }
    let holds = isPoolFull || (!isWithin && isFullOfParts(caller))
    if !holds { returnCredit(to: seat, turn: turn, byteCount: payload.count) }
    var header = header
    header.destination = seats[caller].endpoint
    enqueueAnswer(
      MailboxEntry(
        header: header, payload: Self.stored(payload), payloadByteCount: payload.count, delivery: .none, answers: index,
        answersSerial: deliveries[index].serial, creditHolder: holds ? seat : nil, creditTurn: turn),
      for: caller)
  }

  /// Ends an answer that its caller does not take, where there is no memory to keep it.
  private mutating func giveUpUntaken(_ index: DeliveryIndex, actions: inout [HubAction]) {
    let byteCount = seats[deliveries[index].callerSeat].waitingBytes
    if !deliveries[index].isCancelled { sendCancel(index, actions: &actions) }
    abandon(
      index,
      Refusal(
        .notReading, "\(byteCount) bytes wait for you already, and the hub keeps as many as it may", outcome: .unknown),
      actions: &actions)
  }

  /// Tells the worker how much more of an answer it may send, when enough of it was taken to be worth a frame.
  @inline(__always)
  mutating func announceParts(of index: DeliveryIndex, actions: inout [HubAction]) {
    let seat = deliveries[index].receiverSeat
    guard seats[seat].knowsAnswerCredit, deliveries[index].state == .delivered,
      let credit = deliveries[index].parts.announcement(limits.answerWindow)
    else { return }
    sendCredit(credit, for: index, actions: &actions)
  }

  private mutating func sendCredit(_ credit: Credit, for index: DeliveryIndex, actions: inout [HubAction]) {
    // All of it, not its header alone: of that, Swift 6.3.1 reads fields after the access is over if the subscript is
    // not inlined, as in the fuzz build, where they are freed by then.
    let delivery = deliveries[index]
    let seat = delivery.receiverSeat
    let header = FrameHeader(
      type: .credit, destination: seats[seat].endpoint, source: delivery.header.source, re: delivery.header.id,
      attempt: delivery.attempt, method: delivery.header.method, trace: delivery.header.trace, payloadByteCount: 16)
    actions.append(.send(seat: seat, header: header, payload: .stored(credit.payload)))
  }
}
