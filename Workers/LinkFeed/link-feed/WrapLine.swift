// A wrap says for whom it is, and not from whom: only its opening shows whether a contact sent it. So all have one
// line, and what can be chosen is the order. By seq alone, a contact's post waits behind all that strangers have sent.
//
//     the store, by seq ─▶ backlog ──┐
//                                    ├─ by turns ─▶ runs, each opened and filed in this order
//     what comes now ────▶ arrivals ─┘
//
// Of the arrivals the newest go first, and the oldest are dropped when there are too many: they are in the store, and
// their turn comes by seq. Only a run of the backlog moves the seq up to which the store was read. So an arrival is a
// wrap that is opened earlier, and nothing depends on it.

/// Gift wraps that wait to be opened.
struct WrapLine {
  /// A wrap that waits to be opened.
  struct Waiting {
    let seq: Int64
    let kind: UInt16
    let json: [UInt8]
  }

  /// Wraps that are opened together.
  struct Run {
    let wraps: [Waiting]
    /// All wraps up to this seq are done when this run is; nil: nothing is known of those before it.
    let seq: Int64?
  }

  private struct Part {
    private(set) var wraps: [Waiting] = []
    private(set) var byteCount = 0

    mutating func append(_ wrap: Waiting) {
      wraps.append(wrap)
      byteCount += wrap.json.count
    }

    mutating func removeFirst(_ count: Int) -> [Waiting] {
      let removed = Array(wraps.prefix(count))
      wraps.removeFirst(removed.count)
      for wrap in removed { byteCount -= wrap.json.count }
      return removed
    }

    mutating func removeLast(_ count: Int) -> [Waiting] {
      let removed = Array(wraps.suffix(count))
      wraps.removeLast(removed.count)
      for wrap in removed { byteCount -= wrap.json.count }
      return removed
    }
  }

  private var backlog = Part()
  private var arrivals = Part()
  /// The highest seq of an arrival.
  private var arrivalSeq: Int64 = 0
  /// Runs of arrivals since the last one of the backlog.
  private var arrivalRunCount = 0

  /// Wraps of the backlog that wait; the store is not read on when there are more.
  static let backlogMaximum = 4_096
  /// Bytes of them: a gift wrap of a link has about 2,500.
  static let backlogByteMaximum = 12 << 20
  /// Arrivals that wait at most.
  static let arrivalMaximum = 512
  /// Bytes of them.
  static let arrivalByteMaximum = 2 << 20
  /// Runs of arrivals for one of the backlog, while both wait.
  static let arrivalRunMaximum = 3

  /// Whether no wrap waits.
  var isEmpty: Bool { backlog.wraps.isEmpty && arrivals.wraps.isEmpty }
  /// Whether the store is not to be read on.
  var isFull: Bool { isOver(1) }
  /// Whether the store is not yet to be read on, after the line was full.
  var isHalfFull: Bool { isOver(2) }

  private func isOver(_ divisor: Int) -> Bool {
    backlog.wraps.count > Self.backlogMaximum / divisor || backlog.byteCount > Self.backlogByteMaximum / divisor
  }

  /// The next wrap of the store.
  mutating func append(_ wrap: Waiting) { backlog.append(wrap) }

  /// Wraps that have come just now.
  mutating func arrived(_ wraps: [Waiting]) {
    for wrap in wraps { arrivals.append(wrap) }
    if let last = wraps.last { arrivalSeq = max(arrivalSeq, last.seq) }
    _ = arrivals.removeFirst(max(0, arrivals.wraps.count - Self.arrivalMaximum))
    while arrivals.wraps.count > 1, arrivals.byteCount > Self.arrivalByteMaximum { _ = arrivals.removeFirst(1) }
  }

  /// Whether nothing waits that the store was not read to, when it was read up to this seq.
  func isLevel(at seq: Int64) -> Bool { isEmpty && seq >= arrivalSeq }

  /// Takes wraps out that are opened next: at most so many, and so many bytes, but at least one; nil: none waits.
  mutating func nextRun(count: Int, byteCount: Int) -> Run? {
    let isArrivalsTurn = arrivalRunCount < Self.arrivalRunMaximum || backlog.wraps.isEmpty
    guard !arrivals.wraps.isEmpty, isArrivalsTurn else {
      arrivalRunCount = 0
      let wraps = backlog.removeFirst(Self.fitting(backlog.wraps, count, byteCount))
      return wraps.last.map { Run(wraps: wraps, seq: $0.seq) }
    }
    arrivalRunCount += 1
    return Run(wraps: arrivals.removeLast(Self.fitting(arrivals.wraps.reversed(), count, byteCount)), seq: nil)
  }

  private static func fitting(_ wraps: some Collection<Waiting>, _ countMaximum: Int, _ byteMaximum: Int) -> Int {
    var (count, byteCount) = (0, 0)
    for wrap in wraps {
      byteCount += wrap.json.count
      guard count < countMaximum, byteCount <= byteMaximum || count == 0 else { break }
      count += 1
    }
    return count
  }
}
