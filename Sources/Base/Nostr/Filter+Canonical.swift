// One form for each query. What was fetched for a filter is stored under the filter, and two observers with the same
// query share one entry. So the order and repetition of values must make no difference. Two groups of filters that
// match the same in different forms (two filters with one author each, one filter with two authors) stay different:
// that costs a query, never an event.

extension Filter {
  /// The same filter, with each list sorted and each value once.
  public var canonical: Filter {
    var filter = self
    filter.ids = ids.map(Self.sorted)
    filter.authors = authors.map(Self.sorted)
    filter.kinds = kinds.map(Self.sorted)
    filter.tags = tags.mapValues(Self.sorted)
    return filter
  }

  /// The filter without times: its canonical form without `since`, `until` and `limit`.
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
