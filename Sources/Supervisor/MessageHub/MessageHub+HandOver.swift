internal import Clocks
internal import Contracts
internal import Frames

// A worker hands a request over to another worker of its role.
//
// The hub gives a request for a role to the worker with the least to do. Where workers of one role differ in what they
// have, such as connectors in their relays, that may be the wrong one. The hub reads no payloads, so only the worker
// can tell; it answers with NACK, and the hub delivers the request to the other one as if it had come for it. Nothing
// was done yet: the other worker gets it with the first attempt, and it waits there for a restart like any other one.
//
// A request is handed over once. Two workers that each take the other for the right one, because one of them has newer
// settings, would otherwise keep it going for ever.

extension MessageHub {
  mutating func receivedHandOver(
    of index: DeliveryIndex, _ payload: UnsafeRawBufferPointer, from seat: SeatIndex, now: Instant,
    actions: inout [HubAction]
  ) {
    // `try?`: what cannot be read is no hand-over, and the worker still owes its answer.
    guard let wanted = try? JSONPayload.decode(HandOver.self, from: Array(payload)), !deliveries[index].hasParts else {
      counters.stale += 1
      return
    }
    seats[seat].inFlight.remove(index, in: &deliveries)
    clearSuspicion(of: index)
    if deliveries[index].state == .abandoned {
      end(index)
    } else if deliveries[index].isCancelled {
      refuse(index, Refusal(.cancelled, "cancelled by the caller", outcome: .notStarted), actions: &actions)
    } else {
      do throws(Refusal) {
        let receiver = try heir(to: index, wanted, from: seat)
        handOver(index, to: receiver)
        advance(receiver, now: now, actions: &actions)
      } catch {
        refuse(index, error, actions: &actions)
      }
    }
    advance(seat, now: now, actions: &actions)
  }

  /// The worker that gets the request next.
  private func heir(to index: DeliveryIndex, _ wanted: HandOver, from seat: SeatIndex) throws(Refusal) -> SeatIndex {
    let delivery = deliveries[index]
    let isForRole = delivery.header.destination.rawValue == 0 || delivery.header.destination.role != nil
    let named = seats.members(of: seats[seat].role).first { seats[$0].name == wanted.worker && $0 != seat }
    guard isForRole, !delivery.isHandedOver, let named else { throw wanted.refusal }
    guard seats[named].acceptsWork else { throw refusalWhenClosed(named) }
    guard !seats[named].isConnected || seats[named].serves.contains(delivery.header.method) else {
      throw wanted.refusal
    }
    guard !isFull(named) else {
      throw Refusal(
        .full, "\(seats[named].name), which has what is asked for, has too much to do", outcome: .notStarted)
    }
    return named
  }

  private mutating func handOver(_ index: DeliveryIndex, to receiver: SeatIndex) {
    deliveries[index].isHandedOver = true
    deliveries[index].receiverSeat = receiver
    deliveries[index].attempt = deliveries[index].deaths
    requeue(index, atFront: false)
  }

  /// Whether the bytes of a delivery are kept while a worker has it: for another delivery after a death, or to another
  /// worker of the role.
  func mayNeedPayload(of index: DeliveryIndex) -> Bool {
    let delivery = deliveries[index]
    guard delivery.header.flags.contains(.atMostOnce) else { return true }
    guard delivery.isRequest, !delivery.isHandedOver else { return false }
    return seats.members(of: seats[delivery.receiverSeat].role).count > 1
  }
}
