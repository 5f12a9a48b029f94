/// Postings of the latest events, in memory, as a few sorted runs.
///
/// A posting whose event is gone stays: a reader looks for the event anyway. Each batch of events adds a run.
/// Neighbours of similar length are merged, so there are never more runs than the logarithm of the number of postings,
/// and no posting is moved more often.
public struct PostingMemory: Sendable {
  /// Sorted, the longest first.
  private var runs: [[Posting]] = []
  /// The number of postings.
  public private(set) var count = 0

  /// No postings.
  public init() {}

  /// Whether there are no postings.
  public var isEmpty: Bool { count == 0 }

  /// Adds a batch, in any order.
  public mutating func add(_ postings: [Posting]) {
    guard !postings.isEmpty else { return }
    count += postings.count
    var run = postings.sorted()
    while let last = runs.last, last.count < 2 * run.count {
      runs.removeLast()
      run = Self.merged(last, run)
    }
    runs.append(run)
  }

  private static func merged(_ left: [Posting], _ right: [Posting]) -> [Posting] {
    [Posting](unsafeUninitializedCapacity: left.count + right.count) { buffer, count in
      var (first, second) = (0, 0)
      while first < left.count && second < right.count {
        if right[second] < left[first] {
          buffer.initializeElement(at: count, to: right[second])
          second += 1
        } else {
          buffer.initializeElement(at: count, to: left[first])
          first += 1
        }
        count += 1
      }
      for posting in left[first...] {
        buffer.initializeElement(at: count, to: posting)
        count += 1
      }
      for posting in right[second...] {
        buffer.initializeElement(at: count, to: posting)
        count += 1
      }
    }
  }

  /// All postings as one sorted run, from which a segment is made.
  public func sorted() -> [Posting] { runs.reversed().reduce([]) { Self.merged($0, $1) } }

  /// The postings of a term from `until` back to `since`, newest first.
  public func cursors(term: UInt64, since: Int64, until: Int64) -> [PostingCursor] {
    runs.compactMap { run in
      let end = Self.firstIndex(in: run, after: term, until)
      guard end > 0, run[end - 1].term == term, run[end - 1].time >= since else { return nil }
      return PostingCursor(run: run, position: end, term: term, since: since)
    }
  }

  /// The index after the last posting of this term at or before this time.
  static func firstIndex(in run: [Posting], after term: UInt64, _ time: Int64) -> Int {
    var (low, high) = (0, run.count)
    while low < high {
      let middle = (low + high) / 2
      let posting = run[middle]
      let isBelow = posting.term < term || posting.term == term && posting.time <= time
      if isBelow { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Walks backwards in time through the postings of one term in one run.
public struct PostingCursor: Sendable {
  private let run: [Posting]
  private var position: Int
  private let term: UInt64
  private let since: Int64

  init(run: [Posting], position: Int, term: UInt64, since: Int64) {
    self.run = run
    self.position = position
    self.term = term
    self.since = since
  }

  /// The next posting; nil at the end.
  public mutating func next() -> Posting? {
    while position > 0 {
      position -= 1
      let posting = run[position]
      guard posting.term == term, posting.time >= since else { break }
      return posting
    }
    position = 0
    return nil
  }

  /// Skips what is newer than `time`.
  public mutating func skip(to time: Int64) {
    position = min(position, PostingMemory.firstIndex(in: run, after: term, time))
  }
}
