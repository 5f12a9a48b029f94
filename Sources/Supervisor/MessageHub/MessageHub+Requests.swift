internal import Clocks
internal import Contracts
internal import Frames

extension MessageHub {
  mutating func receivedRequest(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: SeatIndex, now: Instant,
    actions: inout [HubAction]
  ) throws(FrameViolation) {
    try checkId(header.id, from: seat)
    counters.requests += 1
    let receiver: SeatIndex
    let withholds: Bool
    do throws(Refusal) {
      receiver = try resolveReceiver(header, from: seat)
      try checkUntaken(of: seat)
      withholds = try withholdsCredit(of: seat, byteCount: payload.count)
    } catch {
      refuseAtDoor(error, header, seat, actions: &actions)
      return
    }
    let index = deliveries.insert(
      Delivery(
        state: receiver == .supervisor ? .inService : .queued, header: stamped(header, payload, from: seat),
        callerSeat: seat, receiverSeat: receiver, receivedAt: now, grants: GrantedCredit(limits.answerWindow)))
    seats[seat].outstanding[header.id] = index
    setExpiry(
      afterMilliseconds: header.ttlMilliseconds > 0 ? header.ttlMilliseconds : limits.defaultTTLMilliseconds, of: index)
    if withholds { withholdCredit(for: index) }
    if receiver == .supervisor {
      if !withholds { credits.giveBack(to: seat, byteCount: payload.count) }
      actions.append(.serve(call(of: index)))
      return
    }
    offer(index, payload, to: receiver, now: now, actions: &actions)
  }

  /// Delivers a message at once, or puts it in the receiver's mailbox.
  mutating func offer(
    _ index: DeliveryIndex, _ payload: UnsafeRawBufferPointer, to receiver: SeatIndex, now: Instant,
    actions: inout [HubAction]
  ) {
    let sender = deliveries[index].callerSeat
    if seats[receiver].isOpenHanded {
      if !deliveries[index].holdsCredit { credits.giveBack(to: sender, byteCount: payload.count) }
      if mayNeedPayload(of: index) { keepPayload(Self.stored(payload), of: index) }
      deliver(index, payload: .input, now: now, actions: &actions)
      return
    }
    let holder =
      deliveries[index].holdsCredit ? nil : holder(sender, if: isFull(receiver), byteCount: payload.count)
    enqueue(
      MailboxEntry(
        header: deliveries.header(of: index), payload: Self.stored(payload), delivery: index, creditHolder: holder),
      for: receiver)
    updateBusy(receiver, now)
  }

  /// Finds the seat a REQUEST or a directed EVENT is for.
  func resolveReceiver(_ header: FrameHeader, from seat: SeatIndex) throws(Refusal) -> SeatIndex {
    guard let route = routes[header.method], !route.isTopic else {
      throw Refusal(.unknownMethod, "method \(header.method) is not in the registry", outcome: .notStarted)
    }
    guard route.callers.contains(seats[seat].role) else {
      throw Refusal(
        .denied, "role '\(roleName(seats[seat].role))' may not call \(methodName(header.method))", outcome: .notStarted)
    }
    guard !route.isForOwner || !seats[seat].isOfOtherUser else {
      throw Refusal(
        .denied, "only clients of roostd's own user may call \(methodName(header.method))", outcome: .notStarted)
    }
    let destination = header.destination
    if route.server == Role.supervisor.number {
      guard destination.rawValue == 0 else {
        throw Refusal(
          .unknownMethod, "\(methodName(header.method)) is served by the supervisor (destination 0)",
          outcome: .notStarted)
      }
      return .supervisor
    }
    if route.server == Role.worker.number, destination.rawValue == 0 || destination.role != nil {
      throw Refusal(
        .badRequest, "\(methodName(header.method)) is served by several workers: name one", outcome: .notStarted)
    }
    if destination.rawValue == 0 || destination.role == route.server {
      return try pickMember(of: route.server, for: header.method)
    }
    if let role = destination.role {
      throw Refusal(
        .unknownMethod,
        "\(methodName(header.method)) is served by role '\(roleName(route.server))', not '\(roleName(role))'",
        outcome: .notStarted)
    }
    return try checkMember(destination, of: route.server, for: header.method)
  }

  private func checkMember(_ destination: Endpoint, of role: UInt16, for method: UInt16) throws(Refusal) -> SeatIndex {
    guard let seat = seats.tenant(at: destination) else {
      throw Refusal(.gone, "no worker or client is at endpoint \(destination)", outcome: .notStarted)
    }
    let isServed = !seats[seat].isConnected || seats[seat].serves.contains(method)
    guard seats[seat].role == role || role == Role.worker.number && seats[seat].isWorker, isServed else {
      throw Refusal(.unknownMethod, "\(seats[seat].name) does not serve \(methodName(method))", outcome: .notStarted)
    }
    guard seats[seat].acceptsWork else { throw refusalWhenClosed(seat) }
    return seat
  }

  /// The member of the role with the least to do; one that is away is better than none.
  func pickMember(of role: UInt16, for method: UInt16) throws(Refusal) -> SeatIndex {
    var best: SeatIndex?
    var bestLoad = Int.max
    var closed: SeatIndex?
    var isRefusing = false
    for seat in seats.members(of: role) {
      guard seats[seat].acceptsWork else {
        closed = seat
        continue
      }
      if seats[seat].isConnected && !seats[seat].serves.contains(method) {
        isRefusing = true
        continue
      }
      let penalty = seats[seat].state == .ready ? 0 : 1_000_000
      let load = seats[seat].inFlight.count + seats[seat].mailbox.work.count + penalty
      if load < bestLoad {
        best = seat
        bestLoad = load
      }
    }
    if let best { return best }
    if let closed { throw refusalWhenClosed(closed) }
    if isRefusing {
      throw Refusal(
        .unknownMethod, "no worker of role '\(roleName(role))' serves \(methodName(method))", outcome: .notStarted)
    }
    throw Refusal.notConfigured(methodName(method), of: roleName(role))
  }

  /// `unavailable` promises that nothing was done; what was begun ends as after a death.
  func refusalWhenClosed(_ seat: SeatIndex, outcome: Outcome = .notStarted) -> Refusal {
    Refusal(
      outcome == .notStarted ? .unavailable : .workerDied, "\(seats[seat].name) \(seats[seat].closedReason)",
      outcome: outcome, retryAfterMilliseconds: seats[seat].retryAfterMilliseconds)
  }

  func roleName(_ number: UInt16) -> String { table.roles.values.first { $0.number == number }?.name ?? "\(number)" }

  func methodName(_ number: UInt16) -> String { table[number]?.name ?? "\(number)" }

  /// The terminal answer to a frame that was never taken in; an event that needs no ACK gets none.
  mutating func refuseAtDoor(_ refusal: Refusal, _ header: FrameHeader, _ seat: SeatIndex, actions: inout [HubAction]) {
    credits.giveBack(to: seat, byteCount: header.payloadByteCount)
    if refusal.code == .denied { counters.denied += 1 }
    if header.type == .event, !header.flags.contains(.needsAck) {
      counters.dropped += 1
      return
    }
    counters.refused += 1
    let bytes = JSONPayload.encode(refusal)
    let answer = FrameHeader(
      type: header.type == .event ? .nack : .error, destination: seats[seat].endpoint, re: header.id,
      method: header.method, trace: header.trace, payloadByteCount: bytes.count)
    actions.append(.send(seat: seat, header: answer, payload: .stored(bytes)))
  }

  /// The hub's own terminal answer to the sender of a delivery, which ends with it. The receiver's list must already be
  /// without it.
  mutating func refuse(_ index: DeliveryIndex, _ refusal: Refusal, actions: inout [HubAction]) {
    answer(index, refusal, actions: &actions)
    end(index)
  }

  /// The header of a frame about a delivery, on its way to the sender.
  func header(_ type: FrameType, answering delivery: Delivery) -> FrameHeader {
    FrameHeader(
      type: type, destination: delivery.header.source, source: seats[delivery.receiverSeat].endpoint,
      re: delivery.header.id, attempt: delivery.attempt, method: delivery.header.method, trace: delivery.header.trace)
  }

  /// The header of a frame about a delivery, on its way to the receiver.
  func header(_ type: FrameType, about delivery: Delivery) -> FrameHeader {
    var header = header(type, answering: delivery)
    swap(&header.source, &header.destination)
    return header
  }

  /// The hub's own answer to the sender of a delivery.
  mutating func answer(_ index: DeliveryIndex, _ refusal: Refusal, actions: inout [HubAction]) {
    counters.refused += 1
    let delivery = deliveries[index]
    if let group = delivery.ackGroup {
      // One subscriber less to wait for; the publisher has nothing to repeat.
      acknowledge(group, actions: &actions)
      deliveries[index].ackGroup = nil
      return
    }
    let bytes = JSONPayload.encode(refusal)
    var answer = header(delivery.isRequest ? .error : .nack, answering: delivery)
    answer.payloadByteCount = bytes.count
    sendTerminal(answer, payload: .stored(bytes), for: index, actions: &actions)
  }

  /// Sends the terminal answer of a delivery to its sender, behind parts of the same answer that still wait.
  mutating func sendTerminal(
    _ header: FrameHeader, payload: HubPayload, for index: DeliveryIndex, actions: inout [HubAction]
  ) {
    let seat = deliveries[index].callerSeat
    if seat == .supervisor {
      actions.append(.injectedAnswer(id: deliveries[index].header.id, header: header, payload: payload))
      return
    }
    guard seats[seat].isConnected, seats[seat].endpoint == deliveries[index].header.source else { return }
    var (header, payload) = (header, payload)
    if header.payloadByteCount > seats[seat].payloadMaximum {
      let bytes = JSONPayload.encode(Self.answerTooLong(header.payloadByteCount, seats[seat].payloadMaximum, .done))
      header.type = .error
      header.flags = []
      header.payloadByteCount = bytes.count
      payload = .stored(bytes)
    }
    header.destination = seats[seat].endpoint
    if deliveries[index].parts.waiting.frames > 0 {
      enqueueAnswer(MailboxEntry(header: header, payload: payload), for: seat)
      return
    }
    send(header, payload, to: seat, actions: &actions)
  }

  /// Forgets a delivery: no frame names it again.
  mutating func end(_ index: DeliveryIndex) {
    clearSuspicion(of: index)
    forgetPayload(of: index)
    let caller = deliveries[index].callerSeat
    if seats[caller].endpoint == deliveries[index].header.source {
      // An abandoned request is in its caller's books no longer.
      if deliveries[index].isRequest && deliveries[index].state != .abandoned { close(index) }
      returnWithheld(of: index)
    }
    deliveries.remove(index)
  }

  func call(of index: DeliveryIndex) -> HubCall {
    let header = deliveries.header(of: index)
    return HubCall(caller: header.source, id: header.id, method: header.method, trace: header.trace)
  }
}
