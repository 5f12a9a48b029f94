// Filters in parts. A relay takes messages of a certain length, so a long list is asked for in several filters. What is
// here of a relay is remembered for each author (or tag value) and kind: a list with one author more is no new
// question.

extension Filter {
  /// Filters that together match what this one matches, each with at most so many values in its longest list, and so
  /// many bytes of JSON. Lists are cut in sorted order, so the same filter always gives the same parts.
  ///
  /// - Returns: nil if that is not possible: one value is too long, or too many lists are.
  public func parts(valueMaximum: Int, byteMaximum: Int) -> [Filter]? {
    let canonical = canonical
    let (list, count) = canonical.longestList
    if count <= valueMaximum, canonical.json.count <= byteMaximum { return [canonical] }
    guard let list, count > 1 else { return nil }
    // Whole parts of the greatest length that is allowed, so that an added value moves few of the others.
    if count > valueMaximum {
      var parts: [Filter] = []
      for start in stride(from: 0, to: count, by: valueMaximum) {
        let slice = canonical.with(list, from: start, to: min(start + valueMaximum, count))
        guard let smaller = slice.parts(valueMaximum: valueMaximum, byteMaximum: byteMaximum) else { return nil }
        parts += smaller
      }
      return parts
    }
    return canonical.halves(of: list, count).reduce([Filter]?([])) { parts, half in
      guard let parts, let more = half.parts(valueMaximum: valueMaximum, byteMaximum: byteMaximum) else { return nil }
      return parts + more
    }
  }

  /// The filter in two, by its authors or else its kinds; nil if it has only one of each, or names none.
  public var halvesByAuthorOrKind: [Filter]? {
    let canonical = canonical
    if let count = canonical.authors?.count, count > 1 { return canonical.halves(of: .authors, count) }
    if let count = canonical.kinds?.count, count > 1 { return canonical.halves(of: .kinds, count) }
    return nil
  }

  /// What is remembered of this filter at a relay, without times: a filter for each author and kind, or for each tag
  /// value and kind; other filters whole. ``subjectMaximum`` at most, otherwise the filter whole.
  public var coverageSubjects: [Filter] {
    let subject = subject
    guard ids == nil, search == nil, tags.count <= 1, (authors == nil) != tags.isEmpty else { return [subject] }
    let kinds: [[UInt16]?] = subject.kinds.map { $0.map { [$0] } } ?? [nil]
    let count = subject.authors?.count ?? subject.tags.values.first?.count ?? 0
    guard count * kinds.count <= Self.subjectMaximum else { return [subject] }
    if let authors = subject.authors {
      return authors.flatMap { author in kinds.map { Filter(authors: [author], kinds: $0) } }
    }
    return subject.tags.flatMap { letter, values in
      values.flatMap { value in kinds.map { Filter(kinds: $0, tags: [letter: [value]]) } }
    }
  }

  /// The most filters of ``coverageSubjects``.
  public static let subjectMaximum = 16_384

  // MARK: Lists

  private enum List: Hashable {
    case ids, authors, kinds
    case tag(TagLetter)
  }

  /// The longest list and the number of its values.
  private var longestList: (list: List?, count: Int) {
    var lists: [(List, Int)] = [(.ids, ids?.count ?? 0), (.authors, authors?.count ?? 0)]
    lists += tags.sorted { $0.key < $1.key }.map { (.tag($0.key), $0.value.count) }
    lists.append((.kinds, kinds?.count ?? 0))
    var longest: (list: List?, count: Int) = (nil, 0)
    for (list, count) in lists where count > longest.count { longest = (list, count) }
    return longest
  }

  private func halves(of list: List, _ count: Int) -> [Filter] {
    [with(list, from: 0, to: count / 2), with(list, from: count / 2, to: count)]
  }

  private func with(_ list: List, from start: Int, to end: Int) -> Filter {
    var part = self
    switch list {
    case .ids: part.ids = ids.map { Array($0[start..<end]) }
    case .authors: part.authors = authors.map { Array($0[start..<end]) }
    case .kinds: part.kinds = kinds.map { Array($0[start..<end]) }
    case .tag(let letter): part.tags[letter] = tags[letter].map { Array($0[start..<end]) }
    }
    return part
  }
}
