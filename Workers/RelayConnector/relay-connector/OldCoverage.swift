import Contracts
import Nostr
import RelaySubscriptions

/// A window of time in which everything of a filter was here when the relay was last asked, which is long ago.
struct OldCoverage: Hashable {
  let filter: Filter
  let times: ClosedRange<Int64>
  let checkedAt: Int64

  /// Compared after so many seconds: a day.
  private static let compareSeconds: Int64 = 86_400
  /// Asked for in pages again, if it cannot be compared, after so many seconds: a week.
  private static let pageSeconds: Int64 = 604_800

  /// The intervals of a part that are old.
  static func found(
    in intervals: [CoveredFilter.Interval], of part: Filter, within filter: Filter, at wall: Int64
  ) -> [OldCoverage] {
    // Of a limit only the newest are wanted.
    guard filter.limit == nil else { return [] }
    return intervals.filter { $0.checkedAt < wall - compareSeconds }.compactMap { interval in
      let (since, until) = (max(interval.since, filter.since ?? .min), min(interval.until, filter.until ?? .max))
      return since <= until ? OldCoverage(filter: part, times: since...until, checkedAt: interval.checkedAt) : nil
    }
  }

  /// Whether the store may be compared: of a filter without bounds the store has much that the relay never had, and the
  /// ids of direct messages from other relays are no relay's business.
  var isComparable: Bool {
    guard filter.authors != nil || !filter.tags.isEmpty, let kinds = filter.kinds else { return false }
    return !kinds.contains { $0 == EventKind.encryptedDirectMessage || EventKind.giftWraps.contains($0) }
  }

  func isPagedAgain(at wall: Int64) -> Bool { checkedAt < wall - Self.pageSeconds }

  /// Takes the window out of what is covered.
  func remove(from known: inout CoverageReader.Known) {
    for filter in known.parts.indices {
      for (index, part) in known.parts[filter].enumerated() where self.filter.covers(part.filter) {
        known.parts[filter][index] = Drain.Known(
          filter: part.filter, covered: part.covered.flatMap { $0.without(times) })
      }
    }
  }
}

extension ClosedRange<Int64> {
  /// The parts outside the other range.
  fileprivate func without(_ other: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
    guard overlaps(other) else { return [self] }
    var parts: [ClosedRange<Int64>] = []
    if lowerBound < other.lowerBound { parts.append(lowerBound...other.lowerBound - 1) }
    if upperBound > other.upperBound { parts.append(other.upperBound + 1...upperBound) }
    return parts
  }
}
