internal import Clocks
internal import Frames

// Frames that are too long for their receiver.
//
// Each peer says in HELLO how long a frame it takes, and the agreed limit holds in both directions. The sender cannot
// know the receiver's: so it is the hub that looks, and the caller hears of it like of any other end. A frame above the
// limit is never sent: the receiver would have to take it for a violation and leave.
extension MessageHub {
  /// The most payload a frame to this seat may have, in bytes.
  public func payloadMaximum(of seat: SeatIndex) -> Int { seats[seat].payloadMaximum }

  /// Why a message was not given to its receiver.
  func tooLong(_ index: DeliveryIndex) -> Refusal {
    let receiver = deliveries[index].receiverSeat
    return Refusal(
      .badRequest,
      "\(methodName(deliveries[index].header.method)): the payload has \(deliveries[index].payloadByteCount) bytes; "
        + "\(seats[receiver].name) takes at most \(seats[receiver].payloadMaximum)",
      outcome: deliveries[index].outcomeInQueue)
  }

  /// The worker's answer is longer than the caller takes: the caller gets an ERROR, and the worker a CANCEL.
  mutating func refusePart(_ byteCount: Int, of index: DeliveryIndex, actions: inout [HubAction]) {
    let caller = deliveries[index].callerSeat
    sendCancel(index, actions: &actions)
    abandon(index, Self.answerTooLong(byteCount, seats[caller].payloadMaximum, .unknown), actions: &actions)
  }

  static func answerTooLong(_ byteCount: Int, _ maximum: Int, _ outcome: Outcome) -> Refusal {
    Refusal(.failed, "the answer has \(byteCount) bytes; this connection takes at most \(maximum)", outcome: outcome)
  }

  /// The topic's event is longer than this subscriber takes: a GAP goes out in its place, to workers for the
  /// supervisor's topics only.
  mutating func leaveOut(
    _ topic: UInt16, for seat: SeatIndex, from publisher: SeatIndex, now: Instant, actions: inout [HubAction]
  ) {
    counters.dropped += 1
    guard !seats[seat].isWorker || publisher == .supervisor else { return }
    seats[seat].gaps[topic, default: 0] += 1
    advance(seat, now: now, actions: &actions)
  }
}
