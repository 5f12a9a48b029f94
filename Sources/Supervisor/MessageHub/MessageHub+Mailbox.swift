internal import Clocks
internal import DequeModule
internal import Frames

extension MessageHub {
  /// Whether a frame for this seat is held on its sender's credit.
  func isFull(_ seat: Int) -> Bool {
    let frames = seats[seat].isWorker ? limits.mailboxFrames : limits.clientMailboxFrames
    let bytes = seats[seat].isWorker ? limits.mailboxBytes : limits.clientMailboxBytes
    return seats[seat].queuedCount >= frames || seats[seat].mailboxBytes >= bytes || poolBytes >= limits.poolBytes
  }

  /// Whether a part beyond its answer's window is held on its sender's credit.
  func isFullOfParts(_ seat: Int) -> Bool {
    guard seats[seat].grantsAnswers else { return isFull(seat) }
    return seats[seat].heldCount >= limits.clientMailboxFrames || seats[seat].heldBytes >= limits.clientMailboxBytes
  }

  /// Whether a frame that spends credit can go to the seat at once.
  @inline(__always)
  func isOpenHanded(_ seat: Int) -> Bool {
    seats[seat].state == .ready && seats[seat].mailbox.isEmpty && seats[seat].hasCredit && seats[seat].suspectCount == 0
  }

  /// Whether a part of an answer can go to the seat at once.
  @inline(__always)
  func takesParts(_ seat: Int) -> Bool {
    seats[seat].isConnected && seats[seat].answers.isEmpty && seats[seat].hasCredit
  }

  mutating func enqueue(_ entry: MailboxEntry, for seat: Int, atFront: Bool = false) {
    seats[seat].mailboxBytes += entry.payloadByteCount
    poolBytes += entry.payload.storedByteCount
    if atFront { seats[seat].mailbox.prepend(entry) } else { seats[seat].mailbox.append(entry) }
  }

  /// Puts a delivery that was with a worker back into its mailbox; its bytes move with it.
  mutating func requeue(_ index: DeliveryIndex, atFront: Bool) {
    let payload = deliveries[index].payload
    forgetPayload(of: index)
    deliveries[index].state = .queued
    enqueue(
      MailboxEntry(
        header: deliveries[index].header, payload: payload, payloadByteCount: deliveries[index].payloadByteCount,
        delivery: index, creditHolder: nil),
      for: deliveries[index].receiverSeat, atFront: atFront)
  }

  /// Keeps a part of an answer, or a terminal answer that must stay behind parts, for the caller.
  mutating func enqueueAnswer(_ entry: MailboxEntry, for seat: Int) {
    poolBytes += entry.payload.storedByteCount
    if entry.answers.isSome { deliveries[entry.answers].parts.didKeep(byteCount: entry.payloadByteCount) }
    if seats[seat].grantsAnswers {
      hold(entry, for: seat)
      return
    }
    seats[seat].mailboxBytes += entry.payloadByteCount
    seats[seat].answers.append(entry)
    if isFullOfAnswers(seat) { seats[seat].isBehind = true }
  }

  /// Forgets what an entry holds besides its delivery: bytes, and its sender's credit.
  mutating func settle(_ entry: MailboxEntry, of seat: Int) {
    seats[seat].mailboxBytes -= entry.payloadByteCount
    forgetBytes(of: entry)
  }

  /// The same without its mailbox's count of bytes.
  mutating func forgetBytes(of entry: MailboxEntry) {
    poolBytes -= entry.payload.storedByteCount
    if let holder = entry.creditHolder {
      returnCredit(to: holder, turn: entry.creditTurn, byteCount: entry.payloadByteCount)
    }
    if entry.answers.isSome, deliveries.holds(entry.answers, serial: entry.answersSerial) {
      deliveries[entry.answers].parts.didRelease(byteCount: entry.payloadByteCount)
    }
  }

  /// The connection has ended: what waits for it means nothing to anybody.
  mutating func dropHeld(of seat: Int) {
    for id in seats[seat].held.keys.sorted() {
      for entry in seats[seat].held[id]?.entries ?? [] { forgetBytes(of: entry) }
    }
    seats[seat].held = [:]
    seats[seat].heldCount = 0
    seats[seat].heldBytes = 0
    seats[seat].heldCreditCount = 0
    seats[seat].untakenSince = nil
  }

  /// Sends what the seat may have now.
  mutating func pump(_ seat: Int, now: Instant, actions: inout [HubAction]) {
    guard seats[seat].isConnected, seats[seat].queuedCount > 0 || !seats[seat].gaps.isEmpty else { return }
    sendAnswers(to: seat, actions: &actions)
    repeat { sendWork(to: seat, now: now, actions: &actions) } while fillGaps(seat)
    noticeRoom(seat, actions: &actions)
    returnOwed(to: seat)
  }

  private mutating func sendAnswers(to seat: Int, actions: inout [HubAction]) {
    while let head = seats[seat].answers.first {
      let spends = head.header.type.spendsCredit(flags: head.header.flags)
      if spends && !seats[seat].hasCredit { return }
      seats[seat].answers.removeFirst()
      settle(head, of: seat)
      if spends { useCredit(towards: seat, byteCount: head.payloadByteCount) }
      counters.framesOut &+= 1
      actions.append(.send(seat: seat, header: head.header, payload: head.payload))
      if head.answers.isSome, deliveries.holds(head.answers, serial: head.answersSerial) {
        announceParts(of: head.answers, actions: &actions)
      }
    }
  }

  /// A suspect is delivered alone: while one is with the worker, nothing else goes to it.
  private mutating func sendWork(to seat: Int, now: Instant, actions: inout [HubAction]) {
    while seats[seat].state == .ready, seats[seat].hasCredit, !seats[seat].suspectInHand.isSome,
      let head = seats[seat].mailbox.popFirst()
    {
      settle(head, of: seat)
      if head.delivery.isSome {
        deliver(head.delivery, payload: head.payload, now: now, actions: &actions)
        continue
      }
      guard head.payloadByteCount <= seats[seat].payloadMaximum else {
        // It came while the worker was away, and its successor takes less.
        counters.dropped += 1
        continue
      }
      var header = addressed(head.header, to: seat)
      if let end = head.expiresAt { header.ttlMilliseconds = Self.millisecondsLeft(until: end, now) }
      useCredit(towards: seat, byteCount: head.payloadByteCount)
      counters.framesOut &+= 1
      actions.append(.send(seat: seat, header: header, payload: head.payload))
    }
  }

  /// What is left of a time to live, in the header's form: at least 1, since 0 means "no limit".
  static func millisecondsLeft(until end: Instant, _ now: Instant) -> UInt32 {
    UInt32(clamping: max(1, end.milliseconds(since: now)))
  }

  /// Hands a delivery to its receiver. Its bytes stay for as long as it may have to be delivered again.
  mutating func deliver(_ index: DeliveryIndex, payload: HubPayload, now: Instant, actions: inout [HubAction]) {
    let seat = deliveries[index].receiverSeat
    if let end = deliveries[index].expiresAt {
      guard end > now else {
        refuse(index, expired(index, deliveries[index].outcomeInQueue), actions: &actions)
        return
      }
      deliveries[index].header.ttlMilliseconds = Self.millisecondsLeft(until: end, now)
    }
    guard deliveries[index].payloadByteCount <= seats[seat].payloadMaximum else {
      refuse(index, tooLong(index), actions: &actions)
      return
    }
    markDelivered(index)
    if deliveries[index].header.flags.contains(.atMostOnce) {
      forgetPayload(of: index)
    } else if case .none = deliveries[index].payload, case .stored(let bytes) = payload {
      deliveries[index].payload = payload
      poolBytes += bytes.count
    }
    let header = addressed(deliveries[index].header, to: seat)
    appendInHand(index, of: seat)
    useCredit(towards: seat, byteCount: header.payloadByteCount)
    counters.framesOut &+= 1
    actions.append(.send(seat: seat, header: header, payload: payload))
    updateBusy(seat, now)
  }

  private mutating func markDelivered(_ index: DeliveryIndex) {
    deliveries[index].state = .delivered
    // A NACK can come any number of times: the number wraps past 0, and past 1, which means "for the first time".
    let attempt = deliveries[index].attempt
    deliveries[index].attempt = attempt == .max ? 2 : attempt + 1
    deliveries[index].header.attempt = deliveries[index].attempt
    guard deliveries[index].deaths > 0 else { return }
    deliveries[index].header.flags.insert(.redelivered)
    counters.redelivered += 1
  }

  /// Frees the bytes kept for a second delivery.
  mutating func forgetPayload(of index: DeliveryIndex) {
    poolBytes -= deliveries[index].payload.storedByteCount
    deliveries[index].payload = .none
  }

  // MARK: What a worker has in hand

  mutating func appendInHand(_ index: DeliveryIndex, of seat: Int) {
    link(index, of: seat, aside: false)
    seats[seat].inHandCount += 1
    seats[seat].unacceptedCount += 1
    deliveries[index].isAccepted = false
    if deliveries[index].isSuspect { seats[seat].suspectInHand = index }
  }

  mutating func removeInHand(_ index: DeliveryIndex, of seat: Int) {
    unlink(index, of: seat)
    seats[seat].inHandCount -= 1
    if !deliveries[index].isAccepted { seats[seat].unacceptedCount -= 1 }
    if deliveries[index].state == .abandoned { seats[seat].abandonedCount -= 1 }
    if seats[seat].suspectInHand == index { seats[seat].suspectInHand = .none }
  }

  mutating func setAside(_ index: DeliveryIndex, of seat: Int) {
    if deliveries[index].isSetAside { return }
    unlink(index, of: seat)
    link(index, of: seat, aside: true)
  }

  private mutating func link(_ index: DeliveryIndex, of seat: Int, aside: Bool) {
    let last = aside ? seats[seat].setAside.last : seats[seat].hand.last
    deliveries[index].isSetAside = aside
    deliveries[index].previous = last
    deliveries[index].next = .none
    if last.isSome { deliveries[last].next = index }
    if aside { seats[seat].setAside.append(index) } else { seats[seat].hand.append(index) }
  }

  private mutating func unlink(_ index: DeliveryIndex, of seat: Int) {
    let previous = deliveries[index].previous
    let next = deliveries[index].next
    if previous.isSome { deliveries[previous].next = next }
    if next.isSome { deliveries[next].previous = previous }
    if deliveries[index].isSetAside {
      seats[seat].setAside.remove(between: previous, and: next)
    } else {
      seats[seat].hand.remove(between: previous, and: next)
    }
  }

  /// The worker has shown that this message does not kill it.
  mutating func accept(_ index: DeliveryIndex, of seat: Int) {
    if !deliveries[index].isAccepted {
      deliveries[index].isAccepted = true
      seats[seat].unacceptedCount -= 1
      setAside(index, of: seat)
    }
    clearSuspicion(of: index)
  }

  mutating func clearSuspicion(of index: DeliveryIndex) {
    guard deliveries[index].isSuspect else { return }
    let seat = deliveries[index].receiverSeat
    deliveries[index].isSuspect = false
    seats[seat].suspectCount -= 1
    if seats[seat].suspectInHand == index { seats[seat].suspectInHand = .none }
  }

  /// Looks among what the worker has in hand for the message with this sender and id. Oldest first: acknowledgements
  /// come mostly in order.
  func findInHand(_ seat: Int, source: Endpoint, id: UInt64) -> DeliveryIndex? {
    for list in [seats[seat].hand, seats[seat].setAside] {
      var index = list.first
      while index.isSome {
        if deliveries[index].header.id == id && deliveries[index].header.source == source { return index }
        index = deliveries[index].next
      }
    }
    return nil
  }

  // MARK: Gaps and room

  /// Tells a slow subscriber what it missed, once there is room to say so. Returns whether there was anything to say.
  private mutating func fillGaps(_ seat: Int) -> Bool {
    guard !seats[seat].gaps.isEmpty, seats[seat].queuedCount * 2 < limits.clientMailboxFrames else { return false }
    let gaps = seats[seat].gaps.sorted { $0.key < $1.key }
    seats[seat].gaps = [:]
    for (topic, dropped) in gaps { enqueueGap(topic, dropped, for: seat) }
    return true
  }

  mutating func enqueueGap(_ topic: UInt16, _ dropped: UInt64, for seat: Int) {
    let bytes = JSONPayload.encode(Gap(dropped: dropped))
    let header = FrameHeader(
      type: .gap, destination: seats[seat].endpoint, method: topic, payloadByteCount: bytes.count)
    enqueue(
      MailboxEntry(
        header: header, payload: .stored(bytes), payloadByteCount: bytes.count, delivery: .none, creditHolder: nil),
      for: seat)
  }

  private mutating func noticeRoom(_ seat: Int, actions: inout [HubAction]) {
    guard seats[seat].wantsRoomNotice, seats[seat].queuedCount * 2 < limits.clientMailboxFrames else { return }
    seats[seat].wantsRoomNotice = false
    actions.append(.serviceMayContinue(seat: seat, id: nil))
  }
}
