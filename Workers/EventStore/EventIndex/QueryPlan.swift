internal import Cryptography
public import Nostr

/// Which postings are walked to answer a filter: terms that together cover every event that can match.
///
/// A filter has several lists, and the walk needs one of them. The plan takes the list that promises the fewest events,
/// without reading the database: a few authors with their kinds first, then tags, then authors, then kinds. If another
/// tag is left, its postings are walked too, and only events that are in both walks are read: messages from one author
/// to another are few among all messages of either. Every event found is still matched with the whole filter.
public enum QueryPlan: Hashable, Sendable {
  /// Nothing can match.
  case nothing
  /// These ids are looked up.
  case ids([EventID])
  /// The postings of these terms are merged, newest first. If there are others, an event must also have one of those.
  case terms([UInt64], and: [UInt64])

  /// Up to this many pairs, author and kind are walked as pairs.
  static let pairCountMaximum = 2_000
  /// Up to this many pairs, authors and kinds are preferred to tags.
  static let preferredPairCountMaximum = 16
  /// The most values of a tag that is walked in addition: each costs a search in every segment that the walk reaches.
  static let besideCountMaximum = 16

  /// The plan for a filter.
  public init(_ filter: Filter, _ maker: TermMaker) {
    if filter.matchesNothing {
      self = .nothing
      return
    }
    if let ids = filter.ids {
      self = .ids(Self.unique(ids))
      return
    }
    // By the number of their values, and then by letter, so that a filter always has the same plan.
    var tags = filter.tags.sorted { ($0.value.count, $0.key) < ($1.value.count, $1.key) }[...]
    func terms(_ tag: (key: TagLetter, value: [TagValue])) -> [UInt64] {
      Self.unique(tag.value.map { maker.term(tag.key, $0) })
    }
    let pairCount = (filter.authors?.count ?? 0) * (filter.kinds?.count ?? 1)
    let first: [UInt64]
    if filter.authors != nil, pairCount <= Self.preferredPairCountMaximum || tags.isEmpty {
      first = Self.authorTerms(filter, maker)
    } else if let tag = tags.popFirst() {
      first = terms(tag)
    } else {
      first = Self.unique(filter.kinds?.map { maker.term(kind: $0) } ?? [TermMaker.everything])
    }
    let beside = tags.first.flatMap { $0.value.count <= Self.besideCountMaximum ? terms($0) : nil }
    self = .terms(first, and: beside ?? [])
  }

  private static func authorTerms(_ filter: Filter, _ maker: TermMaker) -> [UInt64] {
    let authors = filter.authors ?? []
    guard let kinds = filter.kinds, authors.count * kinds.count <= pairCountMaximum else {
      return unique(authors.map { maker.term(author: $0) })
    }
    return unique(authors.flatMap { author in kinds.map { maker.term(author: author, kind: $0) } })
  }

  private static func unique<Value: Hashable>(_ values: [Value]) -> [Value] {
    var seen = Set<Value>()
    return values.filter { seen.insert($0).inserted }
  }
}
