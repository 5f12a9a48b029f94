internal import Clocks
internal import DequeModule
internal import Frames

/// What waits of one answer for a caller that grants its answers: parts, and the terminal answer behind them.
struct HeldAnswer {
  fileprivate(set) var entries = Deque<MailboxEntry>()
  /// What the caller grants of an answer whose delivery has ended; until then the delivery has it.
  fileprivate(set) var grants: GrantedCredit?
}

/// What waits for one peer of answers that it grants one by one, by the peer's number of the request.
struct HeldAnswers {
  private var answers: [UInt64: HeldAnswer] = [:]
  /// Frames.
  private(set) var count = 0
  /// Their payload bytes.
  private(set) var byteCount = 0
  /// Those that hold their worker's credit.
  private(set) var creditCount = 0
  /// Since when the peer has taken nothing; nil while nothing waits.
  private(set) var untakenSince: Instant?

  /// The answers of which something waits.
  var all: [UInt64: HeldAnswer] { answers }

  /// Whether so many frames or bytes wait.
  func reaches(frames: Int, bytes: Int) -> Bool { count >= frames || byteCount >= bytes }

  mutating func add(_ entry: MailboxEntry) {
    count += 1
    byteCount += entry.payloadByteCount
    if entry.creditHolder != nil { creditCount += 1 }
    answers[entry.header.re, default: HeldAnswer()].entries.append(entry)
  }

  /// Takes an answer out, for ``next(of:_:)``, until it is put back.
  mutating func take(_ id: UInt64) -> HeldAnswer? { answers.removeValue(forKey: id) }

  /// Puts back what still waits.
  mutating func putBack(_ answer: HeldAnswer, _ id: UInt64, grants: GrantedCredit) {
    answers[id] = answer
    keep(grants, of: id)
  }

  /// The delivery of this answer ends, or has ended: what still waits keeps its credit.
  mutating func keep(_ grants: GrantedCredit, of id: UInt64) {
    if count > 0 { answers[id]?.grants = grants }
  }

  /// The next frame of an answer that was taken out; nil when it has no more, or the caller grants no more of it.
  mutating func next(of answer: inout HeldAnswer, _ grants: inout GrantedCredit) -> MailboxEntry? {
    guard let entry = answer.entries.first, !entry.spendsCredit || grants.hasRoom else { return nil }
    answer.entries.removeFirst()
    if entry.spendsCredit { grants.use(byteCount: entry.payloadByteCount) }
    count -= 1
    byteCount -= entry.payloadByteCount
    if entry.creditHolder != nil { creditCount -= 1 }
    // Set again by ``look(at:)`` while something waits.
    untakenSince = nil
    return entry
  }

  /// The moment from which what waits counts as untaken, unless an earlier one counts.
  mutating func look(at now: Instant) {
    if count > 0, untakenSince == nil { untakenSince = now }
  }

  /// Whether something has waited for so long without the peer taking any.
  func isUntaken(forMilliseconds milliseconds: UInt64, at now: Instant) -> Bool {
    untakenSince.map { now.milliseconds(since: $0) > milliseconds } ?? false
  }

  /// The connection has ended: all that waits, answer by answer.
  mutating func removeAll() -> [MailboxEntry] {
    let entries = answers.sorted { $0.key < $1.key }.flatMap(\.value.entries)
    self = HeldAnswers()
    return entries
  }
}
