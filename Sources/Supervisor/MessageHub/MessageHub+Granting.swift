public import Clocks
internal import DequeModule
internal import Frames

// Callers that grant each of their answers apart.
//
// With one window for all that a client is sent, the parts of a stream that its program has not taken yet keep the
// answer to its next question away: a loop over a stream that asks something inside waits for itself. So a client may
// say `answerGrants` in HELLO. Parts for it spend nothing of its connection's credit; each answer has a window of its
// own, `answerWindow` of WELCOME, and the client tells more by CREDIT with `re`, the number of its request. What lies
// beyond waits here, apart from the parts of every other answer (decision 0006).
//
// What bounds the memory. Of each answer a window and one payload waits here, and as much at the client. A client that
// leaves `untakenFrames` or `untakenBytes` here is refused every further request (`full`) until it takes some: it is
// told, where one without such windows gets no credit back and waits. All mailboxes together are bounded as ever.

/// How much of one answer its caller lets the hub send, and how much was sent.
struct AnswerCredit {
  private var granted = Credit(frames: 0, bytes: 0)
  private var sent = Credit(frames: 0, bytes: 0)

  /// Whether one more part may be sent; what WELCOME grants every answer counts until the caller grants more.
  func hasRoom(in window: Window) -> Bool {
    sent.frames < max(granted.frames, window.frames) && sent.bytes < max(granted.bytes, window.bytes)
  }

  mutating func didSend(byteCount: Int) {
    sent.frames += 1
    sent.bytes += UInt64(byteCount)
  }

  mutating func receivedGrant(_ credit: Credit) {
    granted.frames = max(granted.frames, credit.frames)
    granted.bytes = max(granted.bytes, credit.bytes)
  }
}

/// What waits of one answer for a caller that grants its answers: parts, and the terminal answer behind them.
struct HeldAnswer {
  var entries = Deque<MailboxEntry>()
  /// The books of an answer whose delivery has ended; until then they are the delivery's.
  var books: AnswerCredit?
}

extension MessageHub {
  /// Whether a part of this answer can go to its caller at once.
  @inline(__always)
  func passesParts(of index: DeliveryIndex) -> Bool {
    let caller = deliveries[index].callerSeat
    guard seats[caller].grantsAnswers else { return takesParts(caller) }
    return deliveries[index].parts.waiting.frames == 0 && deliveries[index].grants.hasRoom(in: limits.answerWindow)
  }

  /// A part of this answer goes to its caller: on the connection's credit, or on the answer's own.
  @inline(__always)
  mutating func usePartCredit(of index: DeliveryIndex, byteCount: Int) {
    let caller = deliveries[index].callerSeat
    if seats[caller].grantsAnswers {
      deliveries[index].grants.didSend(byteCount: byteCount)
    } else {
      useCredit(towards: caller, byteCount: byteCount)
    }
  }

  /// Keeps a part, or a terminal answer that must stay behind parts, until its caller grants more of this answer.
  mutating func hold(_ entry: MailboxEntry, for seat: Int) {
    seats[seat].heldCount += 1
    seats[seat].heldBytes += entry.payloadByteCount
    if entry.creditHolder != nil { seats[seat].heldCreditCount += 1 }
    seats[seat].held[entry.header.re, default: HeldAnswer()].entries.append(entry)
  }

  /// A delivery leaves its caller's books: what still waits of its answer continues without it.
  mutating func keepGrants(of index: DeliveryIndex) {
    let caller = deliveries[index].callerSeat
    guard seats[caller].heldCount > 0 else { return }
    let (id, books) = (deliveries[index].header.id, deliveries[index].grants)
    seats[caller].held[id]?.books = books
  }

  /// The caller lets the hub send more of one answer.
  mutating func receivedGrant(
    _ credit: Credit, of id: UInt64, from seat: Int, now: Instant, actions: inout [HubAction]
  ) {
    touch(seat, now)
    defer { updateBusy(seat, now) }
    if let index = seats[seat].outstanding[id] { deliveries[index].grants.receivedGrant(credit) }
    guard var answer = seats[seat].held.removeValue(forKey: id) else { return }
    answer.books?.receivedGrant(credit)
    let heldCount = seats[seat].heldCount
    sendHeld(&answer, of: id, to: seat, actions: &actions)
    // Set again by `updateBusy` while something waits.
    if seats[seat].heldCount < heldCount { seats[seat].untakenSince = nil }
    if !answer.entries.isEmpty {
      seats[seat].held[id] = answer
    } else if let index = seats[seat].outstanding[id], deliveries[index].state == .inService {
      actions.append(.serviceMayContinue(seat: seat, id: id))
    }
  }

  private mutating func sendHeld(
    _ answer: inout HeldAnswer, of id: UInt64, to seat: Int, actions: inout [HubAction]
  ) {
    let index = seats[seat].outstanding[id]
    var books = index.map { deliveries[$0].grants } ?? answer.books ?? AnswerCredit()
    while let head = answer.entries.first {
      let spends = head.header.type.spendsCredit(flags: head.header.flags)
      if spends, !books.hasRoom(in: limits.answerWindow) { break }
      answer.entries.removeFirst()
      seats[seat].heldCount -= 1
      seats[seat].heldBytes -= head.payloadByteCount
      if head.creditHolder != nil { seats[seat].heldCreditCount -= 1 }
      forgetBytes(of: head)
      if spends { books.didSend(byteCount: head.payloadByteCount) }
      counters.framesOut &+= 1
      actions.append(.send(seat: seat, header: head.header, payload: head.payload))
      if head.answers.isSome, deliveries.holds(head.answers, serial: head.answersSerial) {
        announceParts(of: head.answers, actions: &actions)
      }
    }
    if let index { deliveries[index].grants = books } else { answer.books = books }
  }

  /// The client to cut while there is no memory left (``HubLimits/poolBytes``): of those that have taken nothing of
  /// what is held for them for this long, the one with the most bytes.
  ///
  /// What lies within the windows of answers holds nobody's credit, so such a client does not count as busy, and slow
  /// is not wrong while there is room. Without room all others wait for it. One at a time: its bytes may be enough.
  /// - Returns: its seat; nil while there is memory, or when no client has left its answers for so long.
  public func mostUntaken(forMilliseconds milliseconds: UInt64, now: Instant) -> Int? {
    guard poolBytes >= limits.poolBytes else { return nil }
    let idle = seats.indices.filter { seat in
      seats[seat].untakenSince.map { now.milliseconds(since: $0) > milliseconds } ?? false
    }
    return idle.max { seats[$0].heldBytes < seats[$1].heldBytes }
  }

  /// Whether the client may ask for more while so much of its answers waits here.
  func checkUntaken(of seat: Int) throws(Refusal) {
    guard seats[seat].heldCount >= limits.untakenFrames || seats[seat].heldBytes >= limits.untakenBytes else { return }
    throw Refusal(
      .full,
      "\(seats[seat].heldCount) parts of answers with \(seats[seat].heldBytes) bytes wait until \(seats[seat].name) "
        + "takes them; read those answers, or give them up",
      outcome: .notStarted, retryAfterMilliseconds: Self.fullRetryMilliseconds)
  }
}
