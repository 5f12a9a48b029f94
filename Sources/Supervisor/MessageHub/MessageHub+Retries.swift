public import Clocks
internal import Contracts
public import Frames

// Dead letters that a person wants tried again: the only requests that the supervisor makes of workers.
//
// What killed as often as it was allowed to is known for what it is. So it is delivered once, before everything that
// waits and with nothing beside it until it is cleared, and a death with it in flight is charged to it and puts it back
// among the dead letters. It keeps the count of its deliveries, which its `attempt` continues: a handler that knows of
// redelivery sees that it is one.

extension MessageHub {
  /// Delivers a dead letter once more, to whichever worker serves its method now. The end of it comes as
  /// ``HubAction/injectedAnswer(id:header:payload:)``; before that, if it kills again,
  /// ``HubAction/retryKilled(id:worker:deliveries:)``, both with the number returned here. `deaths` is how often it was
  /// delivered before, each time the worker's death.
  ///
  /// - Returns: that number.
  /// - Throws: why no worker can be asked.
  public mutating func redeliver(
    method: UInt16, payload: [UInt8], isRaw: Bool, deaths: UInt16, now: Instant, actions: inout [HubAction]
  ) throws(Refusal) -> UInt64 {
    guard let entry = table[method], entry.kind == .method, entry.server != .supervisor else {
      throw Refusal(.unknownMethod, "\(methodName(method)) is no method that a worker serves", outcome: .notStarted)
    }
    let receiver = try pickMember(of: entry.server.number, for: method)
    seats[.supervisor].lastId += 1
    let header = FrameHeader(
      type: .request, flags: isRaw ? .raw : [], id: seats[.supervisor].lastId, method: method, trace: newTrace(),
      payloadByteCount: payload.count)
    let index = deliveries.insert(
      Delivery(
        state: .queued, header: header, callerSeat: .supervisor, receiverSeat: receiver, attempt: deaths,
        deaths: deaths, receivedAt: now))
    seats[.supervisor].outstanding[header.id] = index
    seats[receiver].inFlight.makeSuspect(index, in: &deliveries)
    enqueue(
      MailboxEntry(header: header, payload: payload.isEmpty ? .none : .stored(payload), delivery: index),
      for: receiver, atFront: true)
    advance(receiver, now: now, actions: &actions)
    return header.id
  }

  /// Gives up what ``redeliver(method:payload:isRaw:deaths:now:actions:)`` began, as a caller's CANCEL would. Its end
  /// comes as ever; nothing happens if it has come.
  public mutating func withdraw(_ id: UInt64, now: Instant, actions: inout [HubAction]) {
    receivedCancel(FrameHeader(type: .cancel, re: id), from: .supervisor, now: now, actions: &actions)
  }
}
