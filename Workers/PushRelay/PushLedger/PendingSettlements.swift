// How pushes ended, from that moment until it is in the ledger. Until then the ledger still shows a wake that has left
// the delivery queue, and a reader of the stored queue must not hand it in again:
//
//     in delivery  ──▶ waiting ──▶ writing ──▶ written     the row is gone; a page that was read before still has it
//                         ▲           │
//                         └─ a pause ─┘ failed
//
// While the ledger cannot be written nothing is lost here, and the number of entries is bounded: before code hands
// wakes to the delivery queue it checks `isFull`. So the wakes here are at most `roomMaximum`, plus those that were in
// the delivery queue when that number was reached, plus those of a page or a refill that was being read.

/// Results that must be written.
public struct PendingSettlements: Sendable {
  /// Most wakes of one transaction; this many are written without waiting for more.
  public static let batchMaximum = 500
  /// From this number of wakes on, no further wake is handed to the delivery queue: as many as two
  /// full platforms have there.
  public static let roomMaximum = 16_384

  private var waiting: [Int64: WakeSettlement] = [:]
  /// The keys of `waiting`, the oldest first.
  private var order: [Int64] = []
  private var writing: [Int64: WakeSettlement] = [:]
  /// Wakes whose end was written during a reading: the pages read may be older.
  private var lately: Set<Int64> = []
  private var readingCount = 0
  private var isPausing = false

  /// No results.
  public init() {}

  /// Wakes with results that are to be written, or being written.
  public var count: Int { waiting.count + writing.count }
  /// Whether everything is written.
  public var isEmpty: Bool { waiting.isEmpty && writing.isEmpty }
  /// Whether no further wake may be handed to the delivery queue until something is written.
  public var isFull: Bool { count >= Self.roomMaximum }
  /// Whether there is enough for a transaction; never in the pause after a failure.
  public var isDue: Bool { !isPausing && waiting.count >= Self.batchMaximum }

  /// Something has ended. The results of one wake become one entry; the end of the wake replaces the rest.
  public mutating func add(_ settlement: WakeSettlement) {
    guard let known = waiting[settlement.wake] else {
      order.append(settlement.wake)
      waiting[settlement.wake] = settlement
      return
    }
    waiting[settlement.wake] = known.joined(with: settlement)
  }

  /// The oldest results, to be written now; the caller reports the outcome next. Empty in the pause after a failure.
  public mutating func take() -> [WakeSettlement] {
    precondition(writing.isEmpty, "one transaction at a time")
    guard !isPausing else { return [] }
    let batch = order.prefix(Self.batchMaximum).compactMap { waiting.removeValue(forKey: $0) }
    order.removeFirst(batch.count)
    for settlement in batch { writing[settlement.wake] = settlement }
    return batch
  }

  /// The transaction with the results taken was written. Ends the pause.
  public mutating func written() {
    if readingCount > 0 { lately.formUnion(writing.lazy.filter { $0.value.end != nil }.map(\.key)) }
    writing = [:]
    isPausing = false
  }

  /// The transaction failed: the results taken wait again, and the pause begins.
  public mutating func failed() {
    order.insert(contentsOf: writing.keys.filter { waiting[$0] == nil }.sorted(), at: 0)
    waiting.merge(writing) { newer, older in older.joined(with: newer) }
    writing = [:]
    isPausing = true
  }

  /// The pause is over.
  public mutating func pauseEnded() { isPausing = false }

  /// Everything that is not known to be written, for a stop: also what is being written, since writing it twice changes
  /// nothing.
  public var all: [WakeSettlement] { Array(writing.values) + order.compactMap { waiting[$0] } }

  // MARK: Reading

  /// A reading of the stored queue begins; it ends with `readingEnded()`, when what it found is handed in.
  public mutating func readingBegan() { readingCount += 1 }

  /// A reading has ended.
  public mutating func readingEnded() {
    readingCount -= 1
    if readingCount == 0 { lately = [] }
  }

  /// Whether a wake has ended that the ledger, or a page that is being read, may still show.
  public func hasEnded(_ wake: Int64) -> Bool {
    waiting[wake]?.end != nil || writing[wake]?.end != nil || lately.contains(wake)
  }
}

extension WakeSettlement {
  /// Both as one; this one is the older.
  fileprivate func joined(with newer: WakeSettlement) -> WakeSettlement {
    if let end = end ?? newer.end { return WakeSettlement(wake: wake, devices: [], end: end) }
    return WakeSettlement(wake: wake, devices: devices + newer.devices)
  }
}
