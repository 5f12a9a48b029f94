public import Clocks
internal import Contracts
internal import Frames

extension MessageHub {
  /// EVENT from a peer: to a topic's subscribers (destination 0 and a topic's number), or to a worker.
  mutating func receivedEvent(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: Int, now: Instant, actions: inout [HubAction]
  ) throws(FrameViolation) {
    let needsAck = header.flags.contains(.needsAck)
    if needsAck || header.id != 0 { try checkId(header.id, from: seat) }
    let header = stamped(header, payload, from: seat)
    do throws(Refusal) {
      if let route = routes[header.method], route.isTopic, header.destination.rawValue == 0 {
        guard route.server == seats[seat].role else {
          throw Refusal(
            .denied, "role '\(roleName(seats[seat].role))' may not publish \(methodName(header.method))",
            outcome: .notStarted)
        }
        publish(header, payload, from: seat, now: now, actions: &actions)
      } else {
        let receiver = try resolveReceiver(header, from: seat)
        guard receiver > 0 else {
          throw Refusal(.unknownMethod, "the supervisor takes requests, not events", outcome: .notStarted)
        }
        send(header, payload, to: receiver, from: seat, now: now, actions: &actions)
      }
    } catch {
      if error.code == .denied { counters.denied += 1 }
      returnCredit(to: seat, turn: seats[seat].turn, byteCount: payload.count)
      if needsAck { refuseAtDoor(error, header, seat, actions: &actions) } else { counters.dropped += 1 }
    }
  }

  /// A directed EVENT.
  private mutating func send(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, to receiver: Int, from seat: Int, now: Instant,
    actions: inout [HubAction]
  ) {
    if header.flags.contains(.needsAck) {
      let index = insertEvent(header, from: seat, to: receiver, now: now, byteCount: payload.count)
      if poolBytes >= limits.poolBytes { withholdCredit(for: index) }
      offer(index, payload, to: receiver, now: now, actions: &actions)
      return
    }
    let turn = seats[seat].turn
    guard !seats[receiver].isConnected || payload.count <= seats[receiver].payloadMaximum else {
      returnCredit(to: seat, turn: turn, byteCount: payload.count)
      counters.dropped += 1
      return
    }
    if isOpenHanded(receiver) {
      returnCredit(to: seat, turn: turn, byteCount: payload.count)
      sendNow(header, to: receiver, payload: payload.isEmpty ? .none : .input, actions: &actions)
      return
    }
    let holds = isFull(receiver)
    if !holds { returnCredit(to: seat, turn: turn, byteCount: payload.count) }
    enqueue(
      MailboxEntry(
        header: header, payload: Self.stored(payload), payloadByteCount: payload.count, delivery: .none,
        expiresAt: Self.end(of: header, now), creditHolder: holds ? seat : nil, creditTurn: turn),
      for: receiver)
    updateBusy(receiver, now)
  }

  private mutating func insertEvent(
    _ header: FrameHeader, from seat: Int, to receiver: Int, now: Instant, byteCount: Int
  ) -> DeliveryIndex {
    let index = deliveries.insert(
      Delivery(
        state: .queued, header: header, callerSeat: seat, receiverSeat: receiver, receivedAt: now, payload: .none,
        payloadByteCount: byteCount))
    setExpiry(afterMilliseconds: header.ttlMilliseconds, of: index)
    return index
  }

  private static func end(of header: FrameHeader, _ now: Instant) -> Instant? {
    header.ttlMilliseconds > 0 ? now.advanced(milliseconds: UInt64(header.ttlMilliseconds)) : nil
  }

  @inline(__always)
  private mutating func sendNow(
    _ header: FrameHeader, to seat: Int, payload: HubPayload, actions: inout [HubAction]
  ) {
    let header = addressed(header, to: seat)
    useCredit(towards: seat, byteCount: header.payloadByteCount)
    counters.framesOut &+= 1
    actions.append(.send(seat: seat, header: header, payload: payload))
  }

  // MARK: Topics

  /// Copies an event to all subscribers. Workers lose none: a full mailbox holds the publisher's credit. Clients that
  /// do not keep up lose events and are told how many.
  private mutating func publish(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: Int, now: Instant, actions: inout [HubAction]
  ) {
    var creditHolder: Int?
    var kept: HubPayload?
    let group = header.flags.contains(.needsAck) ? openGroup(header) : nil
    for receiver in subscribers[header.method] ?? [] where seats[receiver].acceptsWork {
      if let group, seats[receiver].isWorker {
        ackGroups[group]?.remaining += 1
        let index = insertEvent(header, from: seat, to: receiver, now: now, byteCount: payload.count)
        deliveries[index].ackGroup = group
        // Credit for the one frame received must come back once: the first copy that is held holds it.
        offerCopy(index, payload, kept: &kept, creditHolder: &creditHolder, now: now, actions: &actions)
        continue
      }
      guard !seats[receiver].isConnected || payload.count <= seats[receiver].payloadMaximum else {
        leaveOut(header.method, for: receiver)
        continue
      }
      var header = header
      header.flags.remove(.needsAck)
      if isOpenHanded(receiver) {
        sendNow(header, to: receiver, payload: payload.isEmpty ? .none : .input, actions: &actions)
        continue
      }
      enqueueCopy(header, payload, for: receiver, from: seat, kept: &kept, creditHolder: &creditHolder, now: now)
      updateBusy(receiver, now)
    }
    if creditHolder == nil { returnCredit(to: seat, turn: seats[seat].turn, byteCount: payload.count) }
    if let group {
      ackGroups[group]?.remaining += 1
      acknowledge(group: group, actions: &actions)
    }
  }

  private mutating func enqueueCopy(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, for receiver: Int, from seat: Int,
    kept: inout HubPayload?, creditHolder: inout Int?, now: Instant
  ) {
    let full = isFull(receiver)
    // The supervisor has no credit that could be held: of its own topics, workers too lose what is above their bound.
    if full && (!seats[receiver].isWorker || seat == 0) {
      seats[receiver].gaps[header.method, default: 0] += 1
      counters.dropped += 1
      return
    }
    if let dropped = seats[receiver].gaps.removeValue(forKey: header.method) {
      enqueueGap(header.method, dropped, for: receiver)
    }
    let bytes = kept ?? Self.stored(payload)
    kept = bytes
    let holds = full && creditHolder == nil
    if holds { creditHolder = receiver }
    enqueue(
      MailboxEntry(
        header: header, payload: bytes, payloadByteCount: payload.count, delivery: .none,
        expiresAt: Self.end(of: header, now), creditHolder: holds ? seat : nil, creditTurn: seats[seat].turn),
      for: receiver)
  }

  private mutating func offerCopy(
    _ index: DeliveryIndex, _ payload: UnsafeRawBufferPointer, kept: inout HubPayload?, creditHolder: inout Int?,
    now: Instant,
    actions: inout [HubAction]
  ) {
    let receiver = deliveries[index].receiverSeat
    let sender = deliveries[index].callerSeat
    let bytes = kept ?? Self.stored(payload)
    kept = bytes
    if isOpenHanded(receiver) {
      deliver(index, payload: bytes, now: now, actions: &actions)
      return
    }
    let holds = isFull(receiver) && creditHolder == nil
    if holds { creditHolder = receiver }
    enqueue(
      MailboxEntry(
        header: deliveries[index].header, payload: bytes, payloadByteCount: payload.count, delivery: index,
        creditHolder: holds ? sender : nil, creditTurn: seats[sender].turn),
      for: receiver)
    updateBusy(receiver, now)
  }

  private mutating func openGroup(_ header: FrameHeader) -> Int {
    nextAckGroup += 1
    ackGroups[nextAckGroup] = AckGroup(publisher: header.source, id: header.id, remaining: 0)
    return nextAckGroup
  }

  /// One of those a publisher waits for is done; the last one sends the publisher its ACK.
  mutating func acknowledge(group: Int, actions: inout [HubAction]) {
    guard var waiting = ackGroups[group] else { return }
    waiting.remaining -= 1
    ackGroups[group] = waiting
    guard waiting.remaining == 0 else { return }
    ackGroups[group] = nil
    let seat = waiting.publisher.seat
    guard seat < seats.count, seats[seat].isConnected, seats[seat].endpoint == waiting.publisher else { return }
    let header = FrameHeader(type: .ack, destination: waiting.publisher, re: waiting.id)
    actions.append(.send(seat: seat, header: header, payload: .none))
  }

  /// Publishes an event of the supervisor's own topics.
  public mutating func publish(topic: UInt16, payload: [UInt8], now: Instant, actions: inout [HubAction]) {
    guard let receivers = subscribers[topic], !receivers.isEmpty else { return }
    let header = FrameHeader(
      type: .event, method: topic, trace: newTrace(), payloadByteCount: payload.count)
    var holder: Int? = 0
    var kept: HubPayload? = .stored(payload)
    payload.withUnsafeBytes { bytes in
      for receiver in receivers where seats[receiver].acceptsWork {
        if isOpenHanded(receiver) {
          sendNow(header, to: receiver, payload: .stored(payload), actions: &actions)
        } else {
          enqueueCopy(header, bytes, for: receiver, from: 0, kept: &kept, creditHolder: &holder, now: now)
          updateBusy(receiver, now)
        }
      }
    }
  }

  mutating func receivedSubscription(
    _ header: FrameHeader, from seat: Int, actions: inout [HubAction]
  ) throws(FrameViolation) {
    try checkId(header.id, from: seat)
    returnCredit(to: seat, turn: seats[seat].turn, byteCount: header.payloadByteCount)
    guard let entry = table[header.method], entry.kind == .topic else {
      let refusal = Refusal(.unknownMethod, "topic \(header.method) is not in the registry", outcome: .notStarted)
      refuseAtDoor(refusal, header, seat, actions: &actions)
      return
    }
    guard entry.callers.contains(seats[seat].role) else {
      counters.denied += 1
      let role = roleName(seats[seat].role)
      let refusal = Refusal(.denied, "role '\(role)' may not subscribe to \(entry.name)", outcome: .notStarted)
      refuseAtDoor(refusal, header, seat, actions: &actions)
      return
    }
    if header.type == .unsubscribe {
      unsubscribe(seat, from: header.method)
    } else if seats[seat].subscriptions.insert(header.method).inserted {
      subscribers[header.method, default: []].append(seat)
    }
    let answer = FrameHeader(
      type: .response, destination: seats[seat].endpoint, re: header.id, method: header.method, payloadByteCount: 2)
    actions.append(.send(seat: seat, header: answer, payload: .stored(Array("{}".utf8))))
  }

  mutating func unsubscribe(_ seat: Int, from topic: UInt16) {
    seats[seat].subscriptions.remove(topic)
    seats[seat].gaps[topic] = nil
    subscribers[topic]?.removeAll { $0 == seat }
  }

  // MARK: Acknowledgements

  /// ACK: an event is done with, or a request is accepted and will take its time.
  mutating func receivedAck(_ header: FrameHeader, from seat: Int, now: Instant, actions: inout [HubAction]) {
    touch(seat, now)
    guard let index = findInHand(seat, source: header.destination, id: header.re),
      deliveries[index].attempt == header.attempt
    else {
      counters.stale += 1
      return
    }
    if deliveries[index].isRequest {
      accept(index, of: seat)
      if deliveries[index].state == .delivered { passAck(.ack, index, actions: &actions) }
    } else {
      finishEvent(index, .ack, of: seat, actions: &actions)
    }
    pump(seat, now: now, actions: &actions)
    updateBusy(seat, now)
  }

  /// The receiver is done with an event; its sender is told, unless it was told before that the time had run out.
  private mutating func finishEvent(_ index: DeliveryIndex, _ type: FrameType, of seat: Int, actions: inout [HubAction])
  {
    removeInHand(index, of: seat)
    if let group = deliveries[index].ackGroup {
      acknowledge(group: group, actions: &actions)
    } else if deliveries[index].state == .delivered {
      passAck(type, index, actions: &actions)
    }
    end(index)
  }

  private mutating func passAck(_ type: FrameType, _ index: DeliveryIndex, actions: inout [HubAction]) {
    let delivery = deliveries[index]
    let caller = delivery.callerSeat
    guard seats[caller].isConnected, seats[caller].endpoint == delivery.header.source else { return }
    let header = FrameHeader(
      type: type, destination: seats[caller].endpoint, source: seats[delivery.receiverSeat].endpoint,
      re: delivery.header.id, attempt: delivery.attempt, method: delivery.header.method, trace: delivery.header.trace)
    actions.append(.send(seat: caller, header: header, payload: .none))
  }

  /// NACK: again after `ttl` milliseconds (an hour at most), or never.
  mutating func receivedNack(_ header: FrameHeader, from seat: Int, now: Instant, actions: inout [HubAction]) {
    touch(seat, now)
    guard let index = findInHand(seat, source: header.destination, id: header.re), !deliveries[index].isRequest,
      deliveries[index].attempt == header.attempt
    else {
      counters.stale += 1
      return
    }
    let mayRepeat = deliveries[index].state == .delivered && !deliveries[index].header.flags.contains(.atMostOnce)
    if header.ttlMilliseconds > 0 && mayRepeat {
      removeInHand(index, of: seat)
      clearSuspicion(of: index)
      deliveries[index].state = .deferred
      let again = now.advanced(milliseconds: min(UInt64(header.ttlMilliseconds), 3_600_000))
      setDeadline(deliveries[index].expiresAt.map { min($0, again) } ?? again, of: index)
    } else {
      finishEvent(index, .nack, of: seat, actions: &actions)
    }
    pump(seat, now: now, actions: &actions)
    updateBusy(seat, now)
  }

  mutating func requeueDeferred(_ index: DeliveryIndex, now: Instant, actions: inout [HubAction]) {
    let seat = deliveries[index].receiverSeat
    deliveries[index].deadline = nil
    if let end = deliveries[index].expiresAt { setDeadline(end, of: index) }
    // Suspects go first and alone: then it waits behind everything.
    requeue(index, atFront: seats[seat].suspectCount == 0)
    pump(seat, now: now, actions: &actions)
    updateBusy(seat, now)
  }
}
