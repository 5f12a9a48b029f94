internal import Clocks
internal import Contracts
internal import Frames

// A message ends before its answer: its caller cancels it, or its time to live runs out.

extension MessageHub {
  mutating func receivedCancel(_ header: FrameHeader, from seat: SeatIndex, now: Instant, actions: inout [HubAction]) {
    // An answer may have crossed the CANCEL: then there is nothing left to give up.
    guard let index = seats[seat].outstanding[header.re], !deliveries[index].isCancelled else { return }
    switch deliveries[index].state {
    case .queued:
      let receiver = deliveries[index].receiverSeat
      let refusal = Refusal(.cancelled, "cancelled by the caller", outcome: deliveries[index].outcomeInQueue)
      removeFromMailbox(index)
      refuse(index, refusal, actions: &actions)
      updateBusy(receiver, now)
    case .delivered:
      deliveries[index].isCancelled = true
      sendCancel(index, actions: &actions)
      let grace = now.advanced(milliseconds: limits.cancelGraceMilliseconds)
      setDeadline(deliveries[index].expiresAt.map { min($0, grace) } ?? grace, of: index)
    case .inService:
      actions.append(.serviceCancelled(call(of: index)))
      refuse(index, Refusal(.cancelled, "cancelled by the caller", outcome: .unknown), actions: &actions)
    case .deferred, .abandoned: break  // Only events are deferred, and only requests are outstanding.
    }
  }

  func sendCancel(_ index: DeliveryIndex, actions: inout [HubAction]) {
    let delivery = deliveries[index]
    guard delivery.isRequest, seats[delivery.receiverSeat].isConnected else { return }
    actions.append(.send(seat: delivery.receiverSeat, header: header(.cancel, about: delivery), payload: .none))
  }

  mutating func removeFromMailbox(_ index: DeliveryIndex) {
    if let entry = seats[deliveries[index].receiverSeat].mailbox.take(index) { release(entry) }
  }

  mutating func deadlinePassed(_ index: DeliveryIndex, now: Instant, actions: inout [HubAction]) {
    let receiver = deliveries[index].receiverSeat
    switch deliveries[index].state {
    case .queued:
      removeFromMailbox(index)
      refuse(index, expired(index, deliveries[index].outcomeInQueue), actions: &actions)
      advance(receiver, now: now, actions: &actions)
    case .deferred:
      if let end = deliveries[index].expiresAt, end <= now {
        refuse(index, expired(index, .unknown), actions: &actions)
      } else {
        requeueDeferred(index, now: now, actions: &actions)
      }
    case .delivered:
      let isCancelled = deliveries[index].isCancelled
      if !isCancelled { sendCancel(index, actions: &actions) }
      let refusal =
        isCancelled
        ? Refusal(.cancelled, "cancelled; \(seats[receiver].name) did not say how far it was", outcome: .unknown)
        : expired(index, .unknown)
      abandon(index, refusal, actions: &actions)
      advance(receiver, now: now, actions: &actions)
    case .inService:
      actions.append(.serviceCancelled(call(of: index)))
      refuse(index, expired(index, .unknown), actions: &actions)
    case .abandoned: break
    }
  }

  func expired(_ index: DeliveryIndex, _ outcome: Outcome) -> Refusal {
    let name = seats[deliveries[index].receiverSeat].name
    let method = methodName(deliveries[index].header.method)
    let state = outcome == .notStarted ? "it was still waiting for \(name)" : "\(name) has not answered"
    return Refusal(.expired, "\(method): the time to live ran out; \(state)", outcome: outcome)
  }

  /// Answers the caller although the worker still has the message; the worker's own answer will be discarded, but until
  /// then it counts as work in flight.
  mutating func abandon(_ index: DeliveryIndex, _ refusal: Refusal, actions: inout [HubAction]) {
    answer(index, refusal, actions: &actions)
    forget(index)
  }

  /// Takes a delivery from its caller's books, and leaves it on the worker's.
  mutating func forget(_ index: DeliveryIndex) {
    let receiver = deliveries[index].receiverSeat
    if seats[deliveries[index].callerSeat].endpoint == deliveries[index].header.source {
      close(index)
      returnWithheld(of: index)
    }
    deliveries[index].holdsCredit = false
    deliveries[index].deadline = nil
    forgetPayload(of: index)
    seats[receiver].inFlight.abandon(index, in: &deliveries)
    // A worker that takes and never answers must not make this list grow for ever.
    if let oldest = seats[receiver].inFlight.oldestAbandoned(above: Self.abandonedMaximum, in: deliveries) {
      seats[receiver].inFlight.remove(oldest, in: &deliveries)
      end(oldest)
    }
  }

  /// Abandoned messages with one worker above which the oldest is forgotten.
  static let abandonedMaximum = 4_096
}
