internal import Clocks
internal import Frames

// Parts of streamed answers, and the window of each answer.
//
// A part that finds its caller ready passes at once. Any other waits in the caller's mailbox, and some credit pays for
// the wait. Were it always the worker's, one caller that takes nothing would use up the worker's window, and the
// worker's other callers would wait with it. So every answer has a window of its own: within it the mailbox pays, and
// the worker has its credit back at once. Workers that know of it stop there; what others send beyond it holds their
// credit while the mailbox is full.
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
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: SeatIndex,
    now: Instant, actions: inout [HubAction]
  ) {
    let caller = deliveries[index].callerSeat
    deliveries[index].parts.didReceive(byteCount: payload.count)
    // Of its own requests, the supervisor only wants to know how they end.
    guard caller == .supervisor || passesParts(of: index) else {
      keepPart(header, payload, for: index, from: seat, actions: &actions)
      updateBusy(caller, now)
      return
    }
    credits.giveBack(to: seat, byteCount: payload.count)
    if caller != .supervisor {
      usePartCredit(of: index, byteCount: payload.count)
      send(header, payload.isEmpty ? .none : .input, to: caller, actions: &actions)
    }
    announceParts(of: index, actions: &actions)
  }

  private mutating func keepPart(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, for index: DeliveryIndex, from seat: SeatIndex,
    actions: inout [HubAction]
  ) {
    let caller = deliveries[index].callerSeat
    let isPoolFull = isPoolFull
    let isWithin = deliveries[index].parts.hasRoom(in: limits.answerWindow)
    let share = isPoolFull ? limits.clientMailboxBytes : limits.clientShareBytes
    if !seats[caller].isWorker, seats[caller].waitingByteCount >= share {
      credits.giveBack(to: seat, byteCount: payload.count)
      giveUpUntaken(index, actions: &actions)
      return
    }
    let holds = isPoolFull || (!isWithin && isFullOfParts(caller))
    let holder = holder(seat, if: holds, byteCount: payload.count)
    enqueueAnswer(
      MailboxEntry(
        header: header, payload: Self.stored(payload), answers: deliveries.reference(to: index), creditHolder: holder),
      for: caller)
  }

  /// Ends an answer that its caller does not take, where there is no memory to keep it.
  private mutating func giveUpUntaken(_ index: DeliveryIndex, actions: inout [HubAction]) {
    let byteCount = seats[deliveries[index].callerSeat].waitingByteCount
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
    guard seats[deliveries[index].receiverSeat].knowsAnswerCredit, deliveries[index].state == .delivered,
      let credit = deliveries[index].parts.announcement(limits.answerWindow)
    else { return }
    let delivery = deliveries[index]
    var header = header(.credit, about: delivery)
    header.payloadByteCount = 16
    actions.append(.send(seat: delivery.receiverSeat, header: header, payload: .stored(credit.payload)))
  }
}
