internal import Clocks
internal import Frames

extension MessageHub {
  /// Whether the hub keeps as many bytes as it may.
  var isPoolFull: Bool { pool.count >= limits.poolBytes }

  /// Whether a frame for this seat is held on its sender's credit.
  func isFull(_ seat: SeatIndex) -> Bool {
    let isWorker = seats[seat].isWorker
    return isPoolFull
      || seats[seat].mailbox.reaches(
        frames: isWorker ? limits.mailboxFrames : limits.clientMailboxFrames,
        bytes: isWorker ? limits.mailboxBytes : limits.clientMailboxBytes)
  }

  /// Whether a part beyond its answer's window is held on its sender's credit.
  func isFullOfParts(_ seat: SeatIndex) -> Bool {
    guard seats[seat].grantsAnswers else { return isFull(seat) }
    return seats[seat].held.reaches(frames: limits.clientMailboxFrames, bytes: limits.clientMailboxBytes)
  }

  mutating func enqueue(_ entry: MailboxEntry, for seat: SeatIndex, atFront: Bool = false) {
    pool.keep(entry.payload)
    seats[seat].mailbox.add(entry, atFront: atFront)
  }

  /// Whether a frame of this seat holds its credit while it waits; without `holds` the credit comes back at once.
  mutating func holder(_ seat: SeatIndex, if holds: Bool, byteCount: Int) -> CreditHolder? {
    if holds { return credits.holder(seat) }
    credits.giveBack(to: seat, byteCount: byteCount)
    return nil
  }

  /// Puts a delivery that was with a worker back into its mailbox; its bytes move with it.
  mutating func requeue(_ index: DeliveryIndex, atFront: Bool) {
    let payload = deliveries[index].payload
    forgetPayload(of: index)
    deliveries[index].state = .queued
    enqueue(
      MailboxEntry(header: deliveries.header(of: index), payload: payload, delivery: index),
      for: deliveries[index].receiverSeat, atFront: atFront)
  }

  /// The delay of a NACK is over.
  mutating func requeueDeferred(_ index: DeliveryIndex, now: Instant, actions: inout [HubAction]) {
    let seat = deliveries[index].receiverSeat
    deliveries[index].deadline = nil
    if let end = deliveries[index].expiresAt { setDeadline(end, of: index) }
    // Suspects go first and alone: then it waits behind everything.
    requeue(index, atFront: seats[seat].inFlight.suspectCount == 0)
    advance(seat, now: now, actions: &actions)
  }

  /// Keeps a part of an answer, or a terminal answer that must stay behind parts, for the caller.
  mutating func enqueueAnswer(_ entry: MailboxEntry, for seat: SeatIndex) {
    pool.keep(entry.payload)
    if let answer = entry.answers { deliveries[answer.index].parts.didKeep(byteCount: entry.payloadByteCount) }
    if seats[seat].grantsAnswers {
      seats[seat].held.add(entry)
      return
    }
    seats[seat].mailbox.addAnswer(entry)
    if isFullOfAnswers(seat) { credits.fallBehind(seat) }
  }

  /// An entry waits no longer: its bytes and its sender's credit are free.
  mutating func release(_ entry: MailboxEntry) {
    pool.release(entry.payload)
    if let holder = entry.creditHolder { credits.giveBack(to: holder, byteCount: entry.payloadByteCount) }
    if let answer = entry.answers, deliveries.holds(answer) {
      deliveries[answer.index].parts.didRelease(byteCount: entry.payloadByteCount)
    }
  }

  /// Sends what the seat may have now, and looks whether it owes progress.
  mutating func advance(_ seat: SeatIndex, now: Instant, actions: inout [HubAction]) {
    pump(seat, now: now, actions: &actions)
    updateBusy(seat, now)
  }

  private mutating func pump(_ seat: SeatIndex, now: Instant, actions: inout [HubAction]) {
    guard seats[seat].isConnected, seats[seat].mailbox.count > 0 || !seats[seat].gaps.isEmpty else { return }
    sendAnswers(to: seat, actions: &actions)
    repeat { sendWork(to: seat, now: now, actions: &actions) } while fillGaps(seat)
    noticeRoom(seat, actions: &actions)
    returnOwed(to: seat)
  }

  private mutating func sendAnswers(to seat: SeatIndex, actions: inout [HubAction]) {
    while let head = seats[seat].mailbox.answers.first, !head.spendsCredit || seats[seat].granted.hasRoom,
      let entry = seats[seat].mailbox.takeAnswer()
    {
      if entry.spendsCredit { seats[seat].granted.use(byteCount: entry.payloadByteCount) }
      sendAnswer(entry, to: seat, actions: &actions)
    }
  }

  /// Sends a frame of an answer that has waited.
  mutating func sendAnswer(_ entry: MailboxEntry, to seat: SeatIndex, actions: inout [HubAction]) {
    release(entry)
    send(entry.header, entry.payload, to: seat, actions: &actions)
    if let answer = entry.answers, deliveries.holds(answer) { announceParts(of: answer.index, actions: &actions) }
  }

  /// A suspect is delivered alone: while one is with the worker, nothing else goes to it.
  private mutating func sendWork(to seat: SeatIndex, now: Instant, actions: inout [HubAction]) {
    while seats[seat].state == .ready, seats[seat].granted.hasRoom, !seats[seat].inFlight.suspect.isSome,
      let head = seats[seat].mailbox.takeWork()
    {
      release(head)
      if head.delivery.isSome {
        deliver(head.delivery, payload: head.payload, now: now, actions: &actions)
        continue
      }
      guard head.payloadByteCount <= seats[seat].payloadMaximum else {
        // It came while the worker was away, and its successor takes less.
        counters.dropped += 1
        continue
      }
      var header = head.header
      if let end = head.expiresAt { header.ttlMilliseconds = Self.millisecondsLeft(until: end, now) }
      sendMessage(header, head.payload, to: seat, actions: &actions)
    }
  }

  /// Sends a REQUEST or an EVENT on the receiver's credit. It refers to nothing, so a worker that asked for it reads in
  /// `re` which role its sender has.
  @inline(__always)
  mutating func sendMessage(
    _ header: FrameHeader, _ payload: HubPayload, to seat: SeatIndex, actions: inout [HubAction]
  ) {
    var header = header
    header.destination = seats[seat].endpoint
    if !seats[seat].knowsCallerRole { header.re = 0 }
    seats[seat].granted.use(byteCount: header.payloadByteCount)
    send(header, payload, to: seat, actions: &actions)
  }

  /// Sends a frame that counts.
  @inline(__always)
  mutating func send(_ header: FrameHeader, _ payload: HubPayload, to seat: SeatIndex, actions: inout [HubAction]) {
    counters.framesOut &+= 1
    actions.append(.send(seat: seat, header: header, payload: payload))
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
    if !mayNeedPayload(of: index) {
      forgetPayload(of: index)
    } else if case .none = deliveries[index].payload, case .stored = payload {
      keepPayload(payload, of: index)
    }
    seats[seat].inFlight.add(index, in: &deliveries)
    sendMessage(deliveries.header(of: index), payload, to: seat, actions: &actions)
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

  /// Keeps the bytes for a second delivery.
  mutating func keepPayload(_ payload: HubPayload, of index: DeliveryIndex) {
    pool.keep(payload)
    deliveries[index].payload = payload
  }

  /// Frees the bytes kept for a second delivery.
  mutating func forgetPayload(of index: DeliveryIndex) {
    pool.release(deliveries[index].payload)
    deliveries[index].payload = .none
  }

  mutating func clearSuspicion(of index: DeliveryIndex) {
    seats[deliveries[index].receiverSeat].inFlight.clearSuspicion(of: index, in: &deliveries)
  }

  // MARK: Gaps and room

  /// Says to a slow subscriber what it missed, once there is room. Returns whether there was anything to say.
  private mutating func fillGaps(_ seat: SeatIndex) -> Bool {
    guard !seats[seat].gaps.isEmpty, seats[seat].mailbox.count * 2 < limits.clientMailboxFrames else { return false }
    let gaps = seats[seat].gaps.sorted { $0.key < $1.key }
    seats[seat].gaps = [:]
    for (topic, dropped) in gaps { enqueueGap(topic, dropped, for: seat) }
    return true
  }

  mutating func enqueueGap(_ topic: UInt16, _ dropped: UInt64, for seat: SeatIndex) {
    let bytes = JSONPayload.encode(Gap(dropped: dropped))
    let header = FrameHeader(
      type: .gap, destination: seats[seat].endpoint, method: topic, payloadByteCount: bytes.count)
    enqueue(MailboxEntry(header: header, payload: .stored(bytes)), for: seat)
  }

  private mutating func noticeRoom(_ seat: SeatIndex, actions: inout [HubAction]) {
    guard seats[seat].wantsRoomNotice, seats[seat].mailbox.count * 2 < limits.clientMailboxFrames else { return }
    seats[seat].wantsRoomNotice = false
    actions.append(.serviceMayContinue(seat: seat, id: nil))
  }
}
