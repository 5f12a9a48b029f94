internal import Cryptography
public import Nostr

/// Which postings are walked to answer a filter: terms that together stand over every event that can match.
///
/// A filter names several lists, and the walk needs one of them. The plan takes the one that promises the fewest events, by what
/// is known of the lists without asking the database: a few authors with their kinds first, then tags, then authors, then
/// kinds. Every event found is still held against the whole filter.
public enum QueryPlan: Hashable, Sendable {
  /// Nothing can match.
  case nothing
  /// These ids are looked up.
  case ids([EventID])
  /// The postings under these terms are merged, newest first.
  case terms([UInt64])

  /// Author and kind are walked together up to this many pairs.
  static let pairCountMaximum = 2_000
  /// Authors and kinds are preferred to tags up to this many pairs.
  static let preferredPairCountMaximum = 16

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
    let pairCount = (filter.authors?.count ?? 0) * (filter.kinds?.count ?? 1)
    if filter.authors != nil, pairCount <= Self.preferredPairCountMaximum || filter.tags.isEmpty {
      self = .terms(Self.authorTerms(filter, maker))
      return
    }
    // The letter with the fewest values; among equals the first, so that a plan is always the same.
    if let (letter, values) = filter.tags.min(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) }) {
      self = .terms(Self.unique(values.map { maker.term(letter, $0) }))
    } else if let kinds = filter.kinds {
      self = .terms(Self.unique(kinds.map { maker.term(kind: $0) }))
    } else {
      self = .terms([TermMaker.everything])
    }
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
