// One form for each question. What was fetched for a filter is kept under it, and two observers share one entry when
// they ask the same; so the order of values, and saying one twice, must not count. Two filters that mean the same in
// other words (one author of two filters, two authors of one) stay two: that costs a question, never an event.

extension Filter {
  /// The same filter, each list sorted and each value once.
  public var canonical: Filter {
    var filter = self
    filter.ids = ids.map(Self.sorted)
    filter.authors = authors.map(Self.sorted)
    filter.kinds = kinds.map(Self.sorted)
    filter.tags = tags.mapValues(Self.sorted)
    return filter
  }

  /// What the filter is about, whenever it was made: its canonical form without `since`, `until` and `limit`.
  public var subject: Filter {
    var filter = canonical
    (filter.since, filter.until, filter.limit) = (nil, nil, nil)
    return filter
  }

  private static func sorted<Value: Comparable>(_ values: [Value]) -> [Value] {
    var sorted = values.sorted()
    sorted = sorted.indices.filter { $0 == 0 || sorted[$0] != sorted[$0 - 1] }.map { sorted[$0] }
    return sorted
  }
}
