// How pushes ended, from the moment they did until the ledger has it. Till then the ledger still shows a wake that has
// left the board, and whoever reads the queue must not hand it in again:
//
//     on the board ──▶ waiting ──▶ writing ──▶ written     the row is gone; a page that was read before still has it
//                         ▲           │
//                         └─ a pause ─┘ failed
//
// While nothing can be written nothing is lost here, and nothing piles up without end either: whoever hands wakes to
// the board looks at `isFull` first. So there are never more than `roomMaximum` wakes here, those that were on the
// board when it was full, and those of a page or a refill that was being read.

/// Ends that are to be written.
public struct PendingSettlements: Sendable {
  /// Most wakes of one transaction; so many are written without waiting for company.
  public static let batchMaximum = 500
  /// Wakes with something to be written from which no other is handed to the board: two of its platforms full.
  public static let roomMaximum = 16_384

  private var waiting: [Int64: WakeSettlement] = [:]
  /// The keys of `waiting`, the oldest first.
  private var order: [Int64] = []
  private var writing: [Int64: WakeSettlement] = [:]
  /// Ends that were written while somebody read: what he reads may be from before.
  private var lately: Set<Int64> = []
  private var readingCount = 0
  private var isPausing = false

  /// An empty one.
  public init() {}

  /// Wakes with something to be written, or being written.
  public var count: Int { waiting.count + writing.count }
  /// Whether all is written.
  public var isEmpty: Bool { waiting.isEmpty && writing.isEmpty }
  /// Whether no other wake may be handed to the board until something is written.
  public var isFull: Bool { count >= Self.roomMaximum }
  /// Whether there is enough for a transaction: never in the pause after a failure.
  public var isDue: Bool { !isPausing && waiting.count >= Self.batchMaximum }

  /// Something has ended. What is said of one wake becomes one entry; its end is the last word about it.
  public mutating func add(_ settlement: WakeSettlement) {
    guard let known = waiting[settlement.wake] else {
      order.append(settlement.wake)
      waiting[settlement.wake] = settlement
      return
    }
    waiting[settlement.wake] = known.joined(with: settlement)
  }

  /// The oldest, to be written now; how that went is told next. In the pause after a failure none.
  public mutating func take() -> [WakeSettlement] {
    precondition(writing.isEmpty, "one transaction at a time")
    guard !isPausing else { return [] }
    let batch = order.prefix(Self.batchMaximum).compactMap { waiting.removeValue(forKey: $0) }
    order.removeFirst(batch.count)
    for settlement in batch { writing[settlement.wake] = settlement }
    return batch
  }

  /// A transaction was written, with what was taken for it. Ends the pause.
  public mutating func written() {
    if readingCount > 0 { lately.formUnion(writing.lazy.filter { $0.value.end != nil }.map(\.key)) }
    writing = [:]
    isPausing = false
  }

  /// A transaction could not be written: what was taken for it waits again, and the pause begins.
  public mutating func failed() {
    order.insert(contentsOf: writing.keys.filter { waiting[$0] == nil }.sorted(), at: 0)
    waiting.merge(writing) { newer, older in older.joined(with: newer) }
    writing = [:]
    isPausing = true
  }

  /// The pause is over.
  public mutating func pauseEnded() { isPausing = false }

  /// All that is not known to be written, for an end: once more what is being written, which changes nothing.
  public var all: [WakeSettlement] { Array(writing.values) + order.compactMap { waiting[$0] } }

  // MARK: Reading

  /// Somebody begins to read the queue; tells when he has handed in what he found.
  public mutating func readingBegan() { readingCount += 1 }

  /// Somebody has read.
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
  /// The two as one, this one being the older.
  fileprivate func joined(with newer: WakeSettlement) -> WakeSettlement {
    if let end = end ?? newer.end { return WakeSettlement(wake: wake, devices: [], end: end) }
    return WakeSettlement(wake: wake, devices: devices + newer.devices)
  }
}
