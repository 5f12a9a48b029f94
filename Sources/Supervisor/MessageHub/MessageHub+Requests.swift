internal import Clocks
internal import Contracts
internal import DequeModule
internal import Frames

extension MessageHub {
  mutating func receivedRequest(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: Int, now: Instant, actions: inout [HubAction]
  ) throws(FrameViolation) {
    try checkId(header.id, from: seat)
    counters.requests += 1
    let receiver: Int
    let withholds: Bool
    do throws(Refusal) {
      receiver = try resolveReceiver(header, from: seat)
      try checkUntaken(of: seat)
      withholds = try withholdsCredit(of: seat, byteCount: payload.count)
    } catch {
      if error.code == .denied { counters.denied += 1 }
      returnCredit(to: seat, turn: seats[seat].turn, byteCount: payload.count)
      refuseAtDoor(error, header, seat, actions: &actions)
      return
    }
    let index = deliveries.insert(
      Delivery(
        state: receiver == 0 ? .inService : .queued, header: stamped(header, payload, from: seat), callerSeat: seat,
        receiverSeat: receiver, receivedAt: now, payload: .none, payloadByteCount: payload.count))
    seats[seat].outstanding[header.id] = index
    setExpiry(
      afterMilliseconds: header.ttlMilliseconds > 0 ? header.ttlMilliseconds : limits.defaultTTLMilliseconds, of: index)
    if withholds { withholdCredit(for: index) }
    if receiver == 0 {
      if !deliveries[index].holdsCredit {
        returnCredit(to: seat, turn: seats[seat].turn, byteCount: payload.count)
      }
      actions.append(.serve(call(of: index)))
      return
    }
    offer(index, payload, to: receiver, now: now, actions: &actions)
  }

  /// Delivers a message at once, or puts it in the receiver's mailbox.
  mutating func offer(
    _ index: DeliveryIndex, _ payload: UnsafeRawBufferPointer, to receiver: Int, now: Instant,
    actions: inout [HubAction]
  ) {
    let sender = deliveries[index].callerSeat
    let turn = seats[sender].turn
    if isOpenHanded(receiver) {
      if !deliveries[index].holdsCredit { returnCredit(to: sender, turn: turn, byteCount: payload.count) }
      if !deliveries[index].header.flags.contains(.atMostOnce) {
        deliveries[index].payload = Self.stored(payload)
        poolBytes += deliveries[index].payload.storedByteCount
      }
      deliver(index, payload: .input, now: now, actions: &actions)
      return
    }
    let holds = isFull(receiver) && !deliveries[index].holdsCredit
    if !holds && !deliveries[index].holdsCredit { returnCredit(to: sender, turn: turn, byteCount: payload.count) }
    enqueue(
      MailboxEntry(
        header: deliveries[index].header, payload: Self.stored(payload), payloadByteCount: payload.count,
        delivery: index, creditHolder: holds ? sender : nil, creditTurn: turn),
      for: receiver)
    updateBusy(receiver, now)
  }

  /// Finds the seat a REQUEST or a directed EVENT is for; 0 is the supervisor.
  func resolveReceiver(_ header: FrameHeader, from seat: Int) throws(Refusal) -> Int {
    guard let route = routes[header.method], !route.isTopic else {
      throw Refusal(.unknownMethod, "method \(header.method) is not in the registry", outcome: .notStarted)
    }
    guard route.callers.contains(seats[seat].role) else {
      throw Refusal(
        .denied, "role '\(roleName(seats[seat].role))' may not call \(methodName(header.method))", outcome: .notStarted)
    }
    let destination = header.destination
    if route.server == Role.supervisor.number {
      guard destination.rawValue == 0 else {
        throw Refusal(
          .unknownMethod, "\(methodName(header.method)) is served by the supervisor (destination 0)",
          outcome: .notStarted)
      }
      return 0
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

  private func checkMember(_ destination: Endpoint, of role: UInt16, for method: UInt16) throws(Refusal) -> Int {
    let seat = destination.seat
    guard seat > 0, seat < seats.count, seats[seat].state != .free, seats[seat].isReached(by: destination) else {
      throw Refusal(.gone, "there is nobody at endpoint \(destination)", outcome: .notStarted)
    }
    guard seats[seat].role == role, !seats[seat].isConnected || seats[seat].serves.contains(method) else {
      throw Refusal(
        .unknownMethod, "\(seats[seat].name) does not serve \(methodName(method))", outcome: .notStarted)
    }
    guard seats[seat].acceptsWork else { throw refusalWhenClosed(seat) }
    return seat
  }

  /// The member of the role with the least to do; one that is away is better than none.
  func pickMember(of role: UInt16, for method: UInt16) throws(Refusal) -> Int {
    var best: Int?
    var bestLoad = Int.max
    var closed: Int?
    var isRefusing = false
    for seat in membersByRole[role] ?? [] {
      guard seats[seat].acceptsWork else {
        closed = seat
        continue
      }
      if seats[seat].isConnected && !seats[seat].serves.contains(method) {
        isRefusing = true
        continue
      }
      let penalty = seats[seat].state == .ready ? 0 : 1_000_000
      let load = seats[seat].inHandCount + seats[seat].mailbox.count + penalty
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
  func refusalWhenClosed(_ seat: Int, outcome: Outcome = .notStarted) -> Refusal {
    Refusal(
      outcome == .notStarted ? .unavailable : .workerDied, "\(seats[seat].name) \(seats[seat].closedReason)",
      outcome: outcome,
      retryAfterMilliseconds: seats[seat].retryAfterMilliseconds)
  }

  func roleName(_ number: UInt16) -> String {
    table.roles.values.first { $0.number == number }?.name ?? "\(number)"
  }

  func methodName(_ number: UInt16) -> String { table[number]?.name ?? "\(number)" }

  /// The terminal answer to a frame that was never taken in.
  mutating func refuseAtDoor(_ refusal: Refusal, _ header: FrameHeader, _ seat: Int, actions: inout [HubAction]) {
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
    counters.refused += 1
    let bytes = JSONPayload.encode(refusal)
    let delivery = deliveries[index]
    var answer = FrameHeader(
      type: delivery.isRequest ? .error : .nack, re: delivery.header.id, attempt: delivery.attempt,
      method: delivery.header.method, trace: delivery.header.trace, payloadByteCount: bytes.count)
    answer.source = seats[delivery.receiverSeat].endpoint
    if let group = delivery.ackGroup {
      // One subscriber less to wait for; the publisher has nothing to repeat.
      acknowledge(group: group, actions: &actions)
    } else {
      sendTerminal(answer, payload: .stored(bytes), for: index, actions: &actions)
    }
    end(index)
  }

  /// Sends the terminal answer of a delivery to its sender, behind parts of the same answer that still wait.
  mutating func sendTerminal(
    _ header: FrameHeader, payload: HubPayload, for index: DeliveryIndex, actions: inout [HubAction]
  ) {
    let seat = deliveries[index].callerSeat
    if seat == 0 {
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
      enqueueAnswer(
        MailboxEntry(
          header: header, payload: payload, payloadByteCount: header.payloadByteCount, delivery: .none,
          creditHolder: nil),
        for: seat)
      return
    }
    counters.framesOut &+= 1
    actions.append(.send(seat: seat, header: header, payload: payload))
  }

  /// Forgets a delivery: nobody will hear of it again.
  mutating func end(_ index: DeliveryIndex) {
    clearSuspicion(of: index)
    forgetPayload(of: index)
    let caller = deliveries[index].callerSeat
    if seats[caller].endpoint == deliveries[index].header.source {
      // An abandoned request is in its caller's books no longer.
      if deliveries[index].isRequest && deliveries[index].state != .abandoned {
        seats[caller].outstanding[deliveries[index].header.id] = nil
        keepGrants(of: index)
      }
      if deliveries[index].holdsCredit { returnWithheld(of: index) }
    }
    deliveries.remove(index)
  }

  func call(of index: DeliveryIndex) -> HubCall {
    let header = deliveries[index].header
    return HubCall(caller: header.source, id: header.id, method: header.method, trace: header.trace)
  }

  // MARK: Giving up

  mutating func receivedCancel(_ header: FrameHeader, from seat: Int, now: Instant, actions: inout [HubAction]) {
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
    let header = FrameHeader(
      type: .cancel, destination: seats[delivery.receiverSeat].endpoint, source: delivery.header.source,
      re: delivery.header.id, attempt: delivery.attempt, method: delivery.header.method, trace: delivery.header.trace)
    actions.append(.send(seat: delivery.receiverSeat, header: header, payload: .none))
  }

  mutating func removeFromMailbox(_ index: DeliveryIndex) {
    let seat = deliveries[index].receiverSeat
    guard let position = seats[seat].mailbox.firstIndex(where: { $0.delivery == index }) else { return }
    settle(seats[seat].mailbox.remove(at: position), of: seat)
  }

  mutating func deadlinePassed(_ index: DeliveryIndex, now: Instant, actions: inout [HubAction]) {
    let receiver = deliveries[index].receiverSeat
    switch deliveries[index].state {
    case .queued:
      removeFromMailbox(index)
      refuse(index, expired(index, deliveries[index].outcomeInQueue), actions: &actions)
      pump(receiver, now: now, actions: &actions)
      updateBusy(receiver, now)
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
      pump(receiver, now: now, actions: &actions)
      updateBusy(receiver, now)
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
  /// then it counts as work in hand.
  mutating func abandon(_ index: DeliveryIndex, _ refusal: Refusal, actions: inout [HubAction]) {
    counters.refused += 1
    let bytes = JSONPayload.encode(refusal)
    let delivery = deliveries[index]
    let answer = FrameHeader(
      type: delivery.isRequest ? .error : .nack, source: seats[delivery.receiverSeat].endpoint, re: delivery.header.id,
      attempt: delivery.attempt, method: delivery.header.method, trace: delivery.header.trace,
      payloadByteCount: bytes.count)
    if let group = delivery.ackGroup {
      acknowledge(group: group, actions: &actions)
      deliveries[index].ackGroup = nil
    } else {
      sendTerminal(answer, payload: .stored(bytes), for: index, actions: &actions)
    }
    forget(index)
  }

  /// Takes a delivery from its caller's books, and leaves it on the worker's.
  mutating func forget(_ index: DeliveryIndex) {
    let delivery = deliveries[index]
    if seats[delivery.callerSeat].endpoint == delivery.header.source {
      seats[delivery.callerSeat].outstanding[delivery.header.id] = nil
      keepGrants(of: index)
      if delivery.holdsCredit { returnWithheld(of: index) }
    }
    deliveries[index].holdsCredit = false
    deliveries[index].state = .abandoned
    seats[delivery.receiverSeat].abandonedCount += 1
    setAside(index, of: delivery.receiverSeat)
    deliveries[index].deadline = nil
    forgetPayload(of: index)
    dropOldAbandoned(of: delivery.receiverSeat)
  }

  /// A worker that takes and never answers must not make this list grow for ever.
  private mutating func dropOldAbandoned(of seat: Int) {
    guard seats[seat].abandonedCount > Self.abandonedMaximum else { return }
    var oldest = seats[seat].setAside.first
    while deliveries[oldest].state != .abandoned { oldest = deliveries[oldest].next }
    removeInHand(oldest, of: seat)
    end(oldest)
  }

  /// Abandoned messages with one worker above which the oldest is forgotten.
  static let abandonedMaximum = 4_096
}
