// Fewer queries for the same events.
//
// Merging is exact: the merged filter matches what one of the two matches, and nothing else. That is possible only if
// the two differ in one condition. Two that differ in two (this author's notes, that author's reactions) would, merged,
// also match events that no client wanted, so they stay separate. Filters with a limit or a search stay unchanged: the
// newest 10 of two authors are not the newest 10 of each.

extension Filter {
  /// One filter that matches what this one or the other matches, and nothing else; nil if that is not possible.
  public func union(_ other: Filter) -> Filter? {
    if matchesNothing { return other }
    if other.matchesNothing { return self }
    if covers(other) { return self }
    if other.covers(self) { return other }
    guard limit == nil, other.limit == nil, search == nil, other.search == nil else { return nil }
    return differingCondition(other).flatMap { joined(other, in: $0) }
  }

  /// The fewest filters that exact merging gives, for the same events. Filters that match nothing are left out.
  public static func merge(_ filters: [Filter]) -> [Filter] {
    var merged: [Filter] = []
    for filter in filters where !filter.matchesNothing {
      var next = filter
      // The merged filter may now merge with one that was kept separate before.
      while let index = merged.firstIndex(where: { $0.union(next) != nil }), let union = merged[index].union(next) {
        merged.remove(at: index)
        next = union
      }
      merged.append(next)
    }
    return merged
  }

  /// Whether this filter matches everything that the other matches.
  public func covers(_ other: Filter) -> Bool {
    if other.matchesNothing { return true }
    guard !matchesNothing, search == other.search, limit == nil || limit == other.limit && equalsApartFromLimit(other)
    else { return false }
    guard Self.covers(ids, other.ids), Self.covers(authors, other.authors), Self.covers(kinds, other.kinds) else {
      return false
    }
    guard tags.allSatisfy({ letter, values in other.tags[letter].map { Self.covers(values, $0) } ?? false }) else {
      return false
    }
    return (since ?? .min) <= (other.since ?? .min) && (until ?? .max) >= (other.until ?? .max)
  }

  /// What this filter matches and the other does not, as one filter; a filter that matches nothing if there is no
  /// difference, and this filter itself if one filter cannot express the difference.
  public func subtracting(_ other: Filter) -> Filter {
    if other.covers(self) { return Filter(ids: []) }
    guard other.limit == nil, limit == nil, search == other.search else { return self }
    switch differingCondition(other) {
    case .ids: return rest(\.ids, other)
    case .authors: return rest(\.authors, other)
    case .kinds: return rest(\.kinds, other)
    case .tag(let letter):
      guard let mine = tags[letter], let theirs = other.tags[letter] else { return self }
      var rest = self
      let taken = Set(theirs)
      rest.tags[letter] = mine.filter { !taken.contains($0) }
      return rest
    case .time, nil: return self
    }
  }

  // MARK: Conditions

  private enum Condition: Hashable {
    case ids, authors, kinds, time
    case tag(TagLetter)
  }

  /// The one condition in which the two differ; nil if they differ in more, or in none.
  private func differingCondition(_ other: Filter) -> Condition? {
    var differing: [Condition] = []
    if !Self.areSame(ids, other.ids) { differing.append(.ids) }
    if !Self.areSame(authors, other.authors) { differing.append(.authors) }
    if !Self.areSame(kinds, other.kinds) { differing.append(.kinds) }
    if since != other.since || until != other.until { differing.append(.time) }
    for letter in Set(tags.keys).union(other.tags.keys) where !Self.areSame(tags[letter], other.tags[letter]) {
      differing.append(.tag(letter))
    }
    return differing.count == 1 ? differing[0] : nil
  }

  private func joined(_ other: Filter, in condition: Condition) -> Filter? {
    var union = self
    switch condition {
    case .ids: union.ids = Self.joined(ids, other.ids)
    case .authors: union.authors = Self.joined(authors, other.authors)
    case .kinds: union.kinds = Self.joined(kinds, other.kinds)
    case .tag(let letter):
      union.tags[letter] = Self.joined(tags[letter], other.tags[letter])
    case .time:
      guard touches(other) else { return nil }
      union.since = since.flatMap { mine in other.since.map { min(mine, $0) } }
      union.until = until.flatMap { mine in other.until.map { max(mine, $0) } }
    }
    return union.isTooLong ? nil : union
  }

  /// Whether no second lies between the two time spans.
  private func touches(_ other: Filter) -> Bool {
    let (from, to) = (since ?? .min, until ?? .max)
    let (otherFrom, otherTo) = (other.since ?? .min, other.until ?? .max)
    return (to == .max || otherFrom <= to + 1) && (otherTo == .max || from <= otherTo + 1)
  }

  private var isTooLong: Bool {
    let counts = [ids?.count, authors?.count, kinds?.count].compactMap { $0 } + tags.values.map(\.count)
    return counts.contains { $0 > Self.valueCountMaximum }
  }

  private func equalsApartFromLimit(_ other: Filter) -> Bool {
    var mine = self
    mine.limit = other.limit
    return mine == other
  }

  private func rest<Value: Hashable>(_ field: WritableKeyPath<Filter, [Value]?>, _ other: Filter) -> Filter {
    guard let mine = self[keyPath: field], let theirs = other[keyPath: field] else { return self }
    var rest = self
    let taken = Set(theirs)
    rest[keyPath: field] = mine.filter { !taken.contains($0) }
    return rest
  }

  private static func covers<Value: Hashable>(_ wide: [Value]?, _ narrow: [Value]?) -> Bool {
    guard let wide else { return true }
    guard let narrow else { return false }
    return Set(wide).isSuperset(of: narrow)
  }

  /// Whether two lists have the same values, in any order.
  private static func areSame<Value: Hashable>(_ left: [Value]?, _ right: [Value]?) -> Bool {
    left == right || left.flatMap { left in right.map { Set(left) == Set($0) } } ?? false
  }

  /// The values of both lists, each once; nil if one of them is missing, which is no condition.
  private static func joined<Value: Hashable>(_ left: [Value]?, _ right: [Value]?) -> [Value]? {
    guard let left, let right else { return nil }
    let known = Set(left)
    var seen = Set<Value>()
    return left + right.filter { !known.contains($0) && seen.insert($0).inserted }
  }
}
