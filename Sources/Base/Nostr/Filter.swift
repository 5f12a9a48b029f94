public import Cryptography

// What a REQ asks for (NIP-01, NIP-50).
//
// A field that is nil is no condition; an empty list is a condition that no event can meet. Several libraries once
// turned "authors: none" into "authors: all", and fetched everything. So here an empty list matches nothing, is never
// sent (`matchesNothing`), and never results from merging.

/// A filter: the conditions that an event must meet, all of them.
public struct Filter: Hashable, Sendable {
  /// Ids, any of which matches; whole ids only.
  public var ids: [EventID]?
  /// Authors, any of whom matches.
  public var authors: [PublicKey]?
  /// Kinds, any of which matches.
  public var kinds: [UInt16]?
  /// For each letter, the values of which a tag with that name must have one as its first value (`#e`, `#p`, …).
  public var tags: [TagLetter: [TagValue]]
  /// Not before this second.
  public var since: Int64?
  /// Not after this second.
  public var until: Int64?
  /// The most stored events wanted, the newest first; 0: none, only events from now on.
  public var limit: Int?
  /// Words to search for (NIP-50).
  public var search: String?

  /// The most values in one list of a filter.
  public static let valueCountMaximum = 10_000
  /// Longest text of a search, in bytes.
  public static let searchByteCountMaximum = 512

  /// A filter; without arguments, one that matches everything.
  public init(
    ids: [EventID]? = nil, authors: [PublicKey]? = nil, kinds: [UInt16]? = nil, tags: [TagLetter: [TagValue]] = [:],
    since: Int64? = nil, until: Int64? = nil, limit: Int? = nil, search: String? = nil
  ) {
    self.ids = ids
    self.authors = authors
    self.kinds = kinds
    self.tags = tags
    self.since = since
    self.until = until
    self.limit = limit
    self.search = search
  }

  /// Whether no event can match: a list without values, or an end before the beginning.
  public var matchesNothing: Bool {
    if ids?.isEmpty == true || authors?.isEmpty == true || kinds?.isEmpty == true { return true }
    if tags.values.contains(where: \.isEmpty) { return true }
    if let since, let until, until < since { return true }
    return false
  }
}
