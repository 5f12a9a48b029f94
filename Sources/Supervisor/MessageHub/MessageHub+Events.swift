public import Clocks
internal import Contracts
internal import Frames

extension MessageHub {
  /// EVENT from a peer: to a topic's subscribers (destination 0 and a topic's number), or to a worker.
  mutating func receivedEvent(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: SeatIndex, now: Instant,
    actions: inout [HubAction]
  ) throws(FrameViolation) {
    if header.flags.contains(.needsAck) || header.id != 0 { try checkId(header.id, from: seat) }
    let header = stamped(header, payload, from: seat)
    do throws(Refusal) {
      if let route = routes[header.method], route.isTopic, header.destination.rawValue == 0 {
        guard route.server == seats[seat].role else {
          throw Refusal(
            .denied, "role '\(roleName(seats[seat].role))' may not publish \(methodName(header.method))",
            outcome: .notStarted)
        }
        var copies = EventCopies(publisher: seat)
        publish(header, payload, &copies, now: now, actions: &actions)
      } else {
        let receiver = try resolveReceiver(header, from: seat)
        guard receiver != .supervisor else {
          throw Refusal(.unknownMethod, "the supervisor takes requests, not events", outcome: .notStarted)
        }
        pass(header, payload, to: receiver, from: seat, now: now, actions: &actions)
      }
    } catch {
      refuseAtDoor(error, header, seat, actions: &actions)
    }
  }

  /// A directed EVENT.
  private mutating func pass(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, to receiver: SeatIndex, from seat: SeatIndex,
    now: Instant, actions: inout [HubAction]
  ) {
    if header.flags.contains(.needsAck) {
      let index = insertEvent(header, from: seat, to: receiver, now: now)
      if isPoolFull { withholdCredit(for: index) }
      offer(index, payload, to: receiver, now: now, actions: &actions)
      return
    }
    guard !seats[receiver].isConnected || payload.count <= seats[receiver].payloadMaximum else {
      credits.giveBack(to: seat, byteCount: payload.count)
      counters.dropped += 1
      return
    }
    if seats[receiver].isOpenHanded {
      credits.giveBack(to: seat, byteCount: payload.count)
      sendMessage(header, payload.isEmpty ? .none : .input, to: receiver, actions: &actions)
      return
    }
    let holder = holder(seat, if: isFull(receiver), byteCount: payload.count)
    enqueue(
      MailboxEntry(
        header: header, payload: Self.stored(payload), expiresAt: Self.end(of: header, now), creditHolder: holder),
      for: receiver)
    updateBusy(receiver, now)
  }

  private mutating func insertEvent(
    _ header: FrameHeader, from seat: SeatIndex, to receiver: SeatIndex, now: Instant
  ) -> DeliveryIndex {
    let index = deliveries.insert(
      Delivery(state: .queued, header: header, callerSeat: seat, receiverSeat: receiver, receivedAt: now))
    setExpiry(afterMilliseconds: header.ttlMilliseconds, of: index)
    return index
  }

  private static func end(of header: FrameHeader, _ now: Instant) -> Instant? {
    header.ttlMilliseconds > 0 ? now.advanced(milliseconds: UInt64(header.ttlMilliseconds)) : nil
  }

  // MARK: Topics

  /// Copies an event to all subscribers. Workers lose none: a full mailbox holds the publisher's credit. Clients that
  /// do not keep up lose events, and a GAP says how many.
  private mutating func publish(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ copies: inout EventCopies, now: Instant,
    actions: inout [HubAction]
  ) {
    let needsAck = header.flags.contains(.needsAck)
    let group = needsAck ? ackGroups.open(publisher: header.source, id: header.id) : nil
    var header = header
    header.flags.remove(.needsAck)
    for receiver in subscribers[header.method] where seats[receiver].acceptsWork {
      if let group, seats[receiver].isWorker {
        var header = header
        header.flags.insert(.needsAck)
        ackGroups.addCopy(to: group)
        let index = insertEvent(header, from: copies.publisher, to: receiver, now: now)
        deliveries[index].ackGroup = group
        offerCopy(index, payload, &copies, now: now, actions: &actions)
        continue
      }
      guard !seats[receiver].isConnected || payload.count <= seats[receiver].payloadMaximum else {
        leaveOut(header.method, for: receiver, from: copies.publisher, now: now, actions: &actions)
        continue
      }
      if seats[receiver].isOpenHanded {
        sendMessage(header, copies.payload ?? (payload.isEmpty ? .none : .input), to: receiver, actions: &actions)
        continue
      }
      enqueueCopy(header, payload, for: receiver, &copies, now: now)
      updateBusy(receiver, now)
    }
    if !copies.isHeld { credits.giveBack(to: copies.publisher, byteCount: payload.count) }
    if let group { acknowledge(group, actions: &actions) }
  }

  /// The copies of one event.
  private struct EventCopies {
    let publisher: SeatIndex
    /// The bytes, once a copy had to wait.
    var payload: HubPayload?
    /// Whether a copy holds the publisher's credit. Credit for the one frame received must come back once: the first
    /// copy that is held holds it. The supervisor has none.
    var isHeld: Bool

    init(publisher: SeatIndex) {
      self.publisher = publisher
      isHeld = publisher == .supervisor
    }

    mutating func stored(_ bytes: UnsafeRawBufferPointer) -> HubPayload {
      let stored = payload ?? MessageHub.stored(bytes)
      payload = stored
      return stored
    }
  }

  /// The connection whose credit one more copy holds, if it must wait in a full mailbox and none holds it already.
  private func holder(for copies: inout EventCopies, isFull: Bool) -> CreditHolder? {
    guard isFull, !copies.isHeld else { return nil }
    copies.isHeld = true
    return credits.holder(copies.publisher)
  }

  private mutating func enqueueCopy(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, for receiver: SeatIndex, _ copies: inout EventCopies,
    now: Instant
  ) {
    let isFull = isFull(receiver)
    // The supervisor has no credit that could be held: of its own topics, workers too lose what is above their bound.
    if isFull && (!seats[receiver].isWorker || copies.publisher == .supervisor) {
      seats[receiver].gaps[header.method, default: 0] += 1
      counters.dropped += 1
      return
    }
    if let dropped = seats[receiver].gaps.removeValue(forKey: header.method) {
      enqueueGap(header.method, dropped, for: receiver)
    }
    enqueue(
      MailboxEntry(
        header: header, payload: copies.stored(payload), expiresAt: Self.end(of: header, now),
        creditHolder: holder(for: &copies, isFull: isFull)),
      for: receiver)
  }

  private mutating func offerCopy(
    _ index: DeliveryIndex, _ payload: UnsafeRawBufferPointer, _ copies: inout EventCopies, now: Instant,
    actions: inout [HubAction]
  ) {
    let receiver = deliveries[index].receiverSeat
    let bytes = copies.stored(payload)
    if seats[receiver].isOpenHanded {
      deliver(index, payload: bytes, now: now, actions: &actions)
      return
    }
    enqueue(
      MailboxEntry(
        header: deliveries.header(of: index), payload: bytes, delivery: index,
        creditHolder: holder(for: &copies, isFull: isFull(receiver))),
      for: receiver)
    updateBusy(receiver, now)
  }

  /// One of those a publisher waits for is done; the last one sends the publisher its ACK.
  mutating func acknowledge(_ number: AckGroups.Number, actions: inout [HubAction]) {
    guard let group = ackGroups.acknowledge(number), let seat = seats.holder(of: group.publisher),
      seats[seat].isConnected
    else { return }
    let header = FrameHeader(type: .ack, destination: group.publisher, re: group.id)
    actions.append(.send(seat: seat, header: header, payload: .none))
  }

  /// Publishes an event of the supervisor's own topics.
  public mutating func publish(topic: UInt16, payload: [UInt8], now: Instant, actions: inout [HubAction]) {
    let header = FrameHeader(type: .event, method: topic, trace: newTrace(), payloadByteCount: payload.count)
    var copies = EventCopies(publisher: .supervisor)
    copies.payload = .stored(payload)
    payload.withUnsafeBytes { publish(header, $0, &copies, now: now, actions: &actions) }
  }

  mutating func receivedSubscription(
    _ header: FrameHeader, from seat: SeatIndex, actions: inout [HubAction]
  ) throws(FrameViolation) {
    try checkId(header.id, from: seat)
    do throws(Refusal) {
      try checkSubscription(to: header.method, of: seats[seat].role)
    } catch {
      refuseAtDoor(error, header, seat, actions: &actions)
      return
    }
    credits.giveBack(to: seat, byteCount: header.payloadByteCount)
    if header.type == .unsubscribe {
      subscribers.remove(seat, from: header.method)
      seats[seat].gaps[header.method] = nil
    } else {
      subscribers.add(seat, to: header.method)
    }
    let answer = FrameHeader(
      type: .response, destination: seats[seat].endpoint, re: header.id, method: header.method, payloadByteCount: 2)
    actions.append(.send(seat: seat, header: answer, payload: .stored(Array("{}".utf8))))
  }

  private func checkSubscription(to topic: UInt16, of role: UInt16) throws(Refusal) {
    guard let entry = table[topic], entry.kind == .topic else {
      throw Refusal(.unknownMethod, "topic \(topic) is not in the registry", outcome: .notStarted)
    }
    guard entry.callers.contains(role) else {
      throw Refusal(.denied, "role '\(roleName(role))' may not subscribe to \(entry.name)", outcome: .notStarted)
    }
  }

  // MARK: Acknowledgements

  /// The delivery that an ACK or a NACK is about: of this worker, in this attempt.
  private func find(_ header: FrameHeader, at seat: SeatIndex) -> DeliveryIndex? {
    let index = seats[seat].inFlight.find(source: header.destination, id: header.re, in: deliveries)
    return index.flatMap { deliveries[$0].attempt == header.attempt ? $0 : nil }
  }

  /// ACK: an event is done with, or a request is accepted and will take its time.
  mutating func receivedAck(_ header: FrameHeader, from seat: SeatIndex, now: Instant, actions: inout [HubAction]) {
    touch(seat, now)
    guard let index = find(header, at: seat) else {
      counters.stale += 1
      return
    }
    if deliveries[index].isRequest {
      seats[seat].inFlight.accept(index, in: &deliveries)
      if deliveries[index].state == .delivered { passAck(.ack, index, actions: &actions) }
    } else {
      finishEvent(index, .ack, of: seat, actions: &actions)
    }
    advance(seat, now: now, actions: &actions)
  }

  /// The receiver is done with an event; its sender learns it, unless it has a refusal because the time had run out.
  private mutating func finishEvent(
    _ index: DeliveryIndex, _ type: FrameType, of seat: SeatIndex, actions: inout [HubAction]
  ) {
    seats[seat].inFlight.remove(index, in: &deliveries)
    if let group = deliveries[index].ackGroup {
      acknowledge(group, actions: &actions)
    } else if deliveries[index].state == .delivered {
      passAck(type, index, actions: &actions)
    }
    end(index)
  }

  private mutating func passAck(_ type: FrameType, _ index: DeliveryIndex, actions: inout [HubAction]) {
    let delivery = deliveries[index]
    let caller = delivery.callerSeat
    guard seats[caller].isConnected, seats[caller].endpoint == delivery.header.source else { return }
    actions.append(.send(seat: caller, header: header(type, answering: delivery), payload: .none))
  }

  /// NACK of an event: again after `ttl` milliseconds (an hour at most), or never. NACK of a request: another worker is
  /// the one to ask.
  mutating func receivedNack(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: SeatIndex, now: Instant,
    actions: inout [HubAction]
  ) {
    touch(seat, now)
    guard let index = find(header, at: seat) else {
      counters.stale += 1
      return
    }
    guard !deliveries[index].isRequest else {
      receivedHandOver(of: index, payload, from: seat, now: now, actions: &actions)
      return
    }
    let mayRepeat = deliveries[index].state == .delivered && !deliveries[index].header.flags.contains(.atMostOnce)
    if header.ttlMilliseconds > 0 && mayRepeat {
      seats[seat].inFlight.remove(index, in: &deliveries)
      clearSuspicion(of: index)
      deliveries[index].state = .deferred
      let again = now.advanced(milliseconds: min(UInt64(header.ttlMilliseconds), 3_600_000))
      setDeadline(deliveries[index].expiresAt.map { min($0, again) } ?? again, of: index)
    } else {
      finishEvent(index, .nack, of: seat, actions: &actions)
    }
    advance(seat, now: now, actions: &actions)
  }
}
