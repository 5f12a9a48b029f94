internal import Clocks
internal import DequeModule
internal import Frames

/// One frame that waits for its receiver.
struct MailboxEntry {
  /// The frame; `destination`, `attempt` and `ttl` are written when it leaves.
  var header: FrameHeader
  var payload: HubPayload
  /// The delivery behind it; ``DeliveryIndex/none`` for frames that no answer follows.
  var delivery = DeliveryIndex.none
  /// For frames without a delivery: the end of their time to live. They are late rather than lost, with `ttl` at 1.
  var expiresAt: Instant?
  /// For a part of an answer: the caller's delivery it belongs to, so that the terminal answer stays behind.
  var answers: DeliveryReference?
  /// The connection whose credit this frame still holds, if any.
  var creditHolder: CreditHolder?

  var payloadByteCount: Int { header.payloadByteCount }
  var spendsCredit: Bool { header.type.spendsCredit(flags: header.flags) }
}

/// What waits for one peer's credit: answers to its requests (parts, and terminal answers behind parts of their own)
/// apart from work and events, because a worker that is not READY, is draining or has a suspect in flight still needs
/// its answers.
struct Mailbox {
  private(set) var answers = Deque<MailboxEntry>()
  private(set) var work = Deque<MailboxEntry>()
  /// Payload bytes of both.
  private(set) var byteCount = 0

  @inline(__always)
  var count: Int { work.count + answers.count }

  /// Whether so many frames or bytes wait.
  func reaches(frames: Int, bytes: Int) -> Bool { count >= frames || byteCount >= bytes }

  mutating func add(_ entry: MailboxEntry, atFront: Bool = false) {
    byteCount += entry.payloadByteCount
    if atFront { work.prepend(entry) } else { work.append(entry) }
  }

  mutating func addAnswer(_ entry: MailboxEntry) {
    byteCount += entry.payloadByteCount
    answers.append(entry)
  }

  mutating func takeWork() -> MailboxEntry? { taken(work.popFirst()) }

  mutating func takeAnswer() -> MailboxEntry? { taken(answers.popFirst()) }

  /// Takes the entry of one delivery, wherever it waits.
  mutating func take(_ delivery: DeliveryIndex) -> MailboxEntry? {
    taken(work.firstIndex { $0.delivery == delivery }.map { work.remove(at: $0) })
  }

  /// Takes all requests of a caller, in one pass.
  mutating func takeRequests(of caller: Endpoint) -> [MailboxEntry] {
    func isMeant(_ entry: MailboxEntry) -> Bool { entry.header.type == .request && entry.header.source == caller }
    let requests = work.filter(isMeant)
    guard !requests.isEmpty else { return [] }
    work.removeAll(where: isMeant)
    for entry in requests { byteCount -= entry.payloadByteCount }
    return Array(requests)
  }

  private mutating func taken(_ entry: MailboxEntry?) -> MailboxEntry? {
    byteCount -= entry?.payloadByteCount ?? 0
    return entry
  }
}
