public import Nostr

// What to ask a relay for, given what is covered already.
//
//     wanted      ├───────────────────────────────────────────────▶ now
//     covered             ├──────────┤       ├──────────┤
//     asked for   ├───────▒          ├───────▒          ├─────────▶      ▒ the overlap: events arrive late

extension Drain {
  /// A piece of work: one filter, one span of time.
  public struct Part: Hashable, Sendable {
    /// The filter, without times and limit.
    public internal(set) var filter: Filter
    /// Not before this second.
    public let since: Int64?
    /// Not after this second; nil: up to now, and what is dated ahead.
    public let until: Int64?
    /// How many events are wanted, the newest first; nil: all.
    public let wanted: Int?
    /// How many pages are asked for; nil: all that there are.
    public let pageMaximum: Int?
    /// Whether the relay decides how many events it sends: the page has no limit.
    public let isDefaultPage: Bool
    /// Whether it is one second that has more events than a page.
    public let isSecond: Bool
    /// The index of the interest's filter that this is a part of.
    public let filterIndex: Int

    /// Whether it can be asked for in pages: ids are asked for at once, and a search is in the order of relevance.
    var isPaged: Bool { filter.ids == nil && filter.search == nil }

    init(
      _ filter: Filter, since: Int64?, until: Int64?, wanted: Int? = nil, pageMaximum: Int? = nil,
      isDefaultPage: Bool = false, filterIndex: Int
    ) {
      self.filter = filter
      self.since = since
      self.until = until
      self.wanted = wanted
      self.pageMaximum = pageMaximum
      self.isDefaultPage = isDefaultPage
      isSecond = false
      self.filterIndex = filterIndex
    }

    init(_ filter: Filter, second: Int64, filterIndex: Int) {
      self.filter = filter
      (since, until) = (second, second)
      (wanted, pageMaximum, isDefaultPage) = (nil, nil, false)
      isSecond = true
      self.filterIndex = filterIndex
    }
  }

  /// How deep the stored events of an interest are asked for.
  public enum Depth: Sendable, Hashable {
    /// As each filter says: the newest of its limit, or all since its `since`. A filter without limit that names
    /// neither ids, authors nor tag values gets what the relay sends in one page.
    case asFiltersSay
    /// All since its `since`, whatever its limit.
    case all
    /// None.
    case none
  }

  /// A part of a filter, with what is covered of it.
  public struct Known: Hashable, Sendable {
    /// The part, without times and limit.
    public let filter: Filter
    /// Seconds of which everything is here, ascending.
    public let covered: [ClosedRange<Int64>]

    /// A part.
    public init(filter: Filter, covered: [ClosedRange<Int64>] = []) {
      self.filter = filter
      self.covered = covered
    }
  }

  /// Seconds below the present that are asked for again: clocks differ, and events take time to arrive.
  public static let overlapSeconds: Int64 = 300
  /// The same for gift wraps, whose times are drawn from the two days before they are sent (NIP-59).
  public static let backdatedOverlapSeconds: Int64 = 259_200

  /// The parts of a filter, each small enough for one REQ; nil if it cannot be cut so.
  public static func parts(of filter: Filter, byteMaximum: Int, limits: Limits = Limits()) -> [Filter]? {
    filter.subject.parts(valueMaximum: limits.valueMaximum, byteMaximum: byteMaximum)
  }

  /// What to ask for.
  ///
  /// - Parameters:
  ///   - filter: a filter of the interest.
  ///   - index: its index there.
  ///   - depth: how deep.
  ///   - known: what is covered, by parts that together are the filter.
  ///   - fetchedAt: when the relay last sent all that was wanted of exactly this filter, seconds since 1970.
  ///   - byteMaximum: bytes of a filter that the relay takes.
  ///   - wall: now, seconds since 1970.
  ///   - limits: the bounds.
  public static func plan(
    _ filter: Filter, index: Int, depth: Depth, known: [Known], fetchedAt: Int64?, byteMaximum: Int, wall: Int64,
    limits: Limits = Limits()
  ) -> [Part] {
    if filter.matchesNothing || depth == .none { return [] }
    if filter.limit == 0, depth != .all { return [] }
    let wanted = depth == .all ? nil : filter.limit
    if filter.ids != nil || filter.search != nil {
      return known.map { Part($0.filter, since: filter.since, until: filter.until, filterIndex: index) }
    }
    let isShallow = depth != .all && wanted == nil && filter.authors == nil && filter.tags.isEmpty
    var gaps: [Gap: [Filter]] = [:]
    for known in known {
      // Only what continues an earlier answer to this filter is known to hold as many events as are wanted.
      let covered =
        wanted == nil ? known.covered : known.covered.filter { span in fetchedAt.map(span.contains) ?? false }
      var spans = uncovered(covered, of: filter, wall: wall)
      if wanted != nil || isShallow { spans = Array(spans.suffix(1).filter { $0.isNewest || covered.isEmpty }) }
      for span in spans {
        gaps[span.widened(from: wall, notBefore: filter.since ?? 0), default: []].append(known.filter)
      }
    }
    return gaps.sorted { ($1.key.until ?? .max, $1.key.since ?? 0) < ($0.key.until ?? .max, $0.key.since ?? 0) }
      .flatMap { gap, filters in
        let isFirst = isShallow && !gap.isAboveCovered
        return Filter.merge(filters).flatMap { parts(of: $0, byteMaximum: byteMaximum, limits: limits) ?? [$0] }
          .map {
            Part(
              $0, since: gap.since, until: gap.until, wanted: wanted,
              pageMaximum: isShallow ? (isFirst ? 1 : limits.gapPageMaximum) : nil, isDefaultPage: isFirst,
              filterIndex: index)
          }
      }
  }

  /// A span that is not covered.
  private struct Gap: Hashable {
    var since: Int64?
    let until: Int64?
    /// Whether it reaches up to the filter's own end.
    let isNewest: Bool
    /// Whether what lies below it is covered.
    let isAboveCovered: Bool

    /// Parts of which nearly the same is missing are asked for together: the newest spans that begin within the same
    /// power of two before now. At most twice the seconds are asked for.
    func widened(from wall: Int64, notBefore low: Int64) -> Gap {
      guard isNewest, isAboveCovered, let since, since < wall else { return self }
      var widened = self
      let age = wall - since
      var power: Int64 = 512
      while power < age { power *= 2 }
      widened.since = max(low, wall - power)
      return widened
    }
  }

  private static func uncovered(_ covered: [ClosedRange<Int64>], of filter: Filter, wall: Int64) -> [Gap] {
    let isBackdated = filter.kinds?.contains(where: EventKind.giftWraps.contains) ?? true
    let overlap = isBackdated ? backdatedOverlapSeconds : overlapSeconds
    let low = filter.since ?? 0
    let high = filter.until ?? .max
    var gaps: [Gap] = []
    var next = low
    var isAboveCovered = false
    for span in covered where span.upperBound >= low && span.lowerBound <= high {
      if span.lowerBound > next {
        gaps.append(gap(from: next, to: span.lowerBound - 1, isAboveCovered, overlap, low, isNewest: false))
      }
      next = max(next, span.upperBound == .max ? .max : span.upperBound + 1)
      isAboveCovered = true
    }
    if next <= high {
      gaps.append(
        gap(from: next, to: filter.until, isAboveCovered, overlap, low, isNewest: true))
    }
    return gaps
  }

  private static func gap(
    from next: Int64, to until: Int64?, _ isAboveCovered: Bool, _ overlap: Int64, _ low: Int64, isNewest: Bool
  ) -> Gap {
    let since = isAboveCovered ? max(low, next - overlap) : next
    return Gap(since: since > 0 ? since : nil, until: until, isNewest: isNewest, isAboveCovered: isAboveCovered)
  }
}
