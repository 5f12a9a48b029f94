public import Contracts
public import Cryptography
public import Nostr

/// What has one bound: a class of all accounts together, or one filter of the configuration.
public struct KeptClass: Hashable, Sendable, CustomStringConvertible {
  /// The class.
  public let kind: MirrorClass
  /// For the class `keep` its name in the configuration.
  public let name: String?
  /// For the class `keep` what tells its filter from another of the same name.
  private let mark: String?

  /// A class of accounts.
  public init(_ kind: MirrorClass) { (self.kind, name, mark) = (kind, nil, nil) }

  /// What a filter of the configuration matches.
  public init(keep name: String, _ filter: Filter) {
    (kind, self.name, mark) = (.keep, name, String(FilterKey([filter]).description.prefix(Self.markCount)))
  }

  /// A class by its ``description``; nil if no class has this name.
  public init?(_ description: String) {
    let words = description.split(separator: " ").map(String.init)
    guard let kind = words.first.flatMap(MirrorClass.init(rawValue:)), words.count == (kind == .keep ? 3 : 1) else {
      return nil
    }
    self.kind = kind
    (name, mark) = kind == .keep ? (words[1], words[2]) : (nil, nil)
  }

  private static let markCount = 16

  /// `named`, or `keep NAME 0123456789abcdef`
  public var description: String { ([kind.rawValue] + [name, mark].compactMap(\.self)).joined(separator: " ") }
}

/// What the mirror asks the store of a class: how much there is, and to remove what is over its bound.
public struct KeptFilters: Hashable, Sendable {
  /// What the class is, over all accounts and without times.
  public var filters: [Filter]
  /// What other classes keep: an event stays while one of them keeps it.
  public var kept: [Filter] = []

  /// The filters of a class.
  ///
  /// - Parameters:
  ///   - kept: the class.
  ///   - interests: all that is kept.
  ///   - bounds: how full each class is.
  ///   - spared: the authors who are not strangers.
  ///   - wall: seconds since 1970.
  public init(
    of kept: KeptClass, _ interests: [MirrorInterest], _ bounds: KeepBounds, spared: [PublicKey], at wall: Int64
  ) {
    filters = Self.together(interests.filter { $0.kept == kept }.flatMap(\.filters))
    for other in Set(interests.map(\.kept)).subtracting([kept]).sorted(by: { $0.description < $1.description }) {
      let some = interests.filter { $0.kept == other }
      let since = some.first?.fetchedSince(bounds.floor(of: other)?.since, at: wall)
      for filter in Self.together(some.flatMap(\.filters)) {
        self.kept.append(filter.since(since))
        // What is left of people whom an account follows, from before strangers' are gone.
        guard let floor = bounds.floor(of: other), filter.authors == nil, !spared.isEmpty else { continue }
        var theirs = filter
        theirs.authors = spared
        self.kept.append(theirs.since(floor.sparedSince).canonical)
      }
    }
  }

  /// The most authors of one filter: the store takes 10,000.
  private static let authorMaximum = 5_000

  /// Filters that differ in their authors alone, or in the people whom they name, as one.
  static func together(_ filters: [Filter]) -> [Filter] {
    var authors: [Filter: Set<PublicKey>] = [:]
    var people: [Filter: Set<TagValue>] = [:]
    var all: [Filter] = []
    for filter in filters {
      var rest = filter
      if let some = filter.authors, filter.tags.isEmpty {
        rest.authors = nil
        authors[rest, default: []].formUnion(some)
      } else if filter.authors == nil, filter.tags.count == 1, let (letter, values) = filter.tags.first,
        letter == MirrorInterest.person
      {
        rest.tags = [:]
        people[rest, default: []].formUnion(values)
      } else {
        all.append(filter)
      }
    }
    for (rest, some) in authors {
      let some = some.sorted()
      for start in stride(from: 0, to: some.count, by: authorMaximum) {
        all.append(Filter(rest, authors: Array(some[start..<min(start + authorMaximum, some.count)])))
      }
    }
    for (rest, some) in people { all.append(Filter(rest, naming: Array(some))) }
    return all.map(\.canonical).sorted { $0.json.lexicographicallyPrecedes($1.json) }
  }
}

extension Filter {
  fileprivate init(_ rest: Filter, authors: [PublicKey]) {
    self = rest
    self.authors = authors
  }

  fileprivate init(_ rest: Filter, naming people: [TagValue]) {
    self = rest
    tags = [MirrorInterest.person: people]
  }

  /// The same from this second on, or from a later one of its own.
  func since(_ time: Int64?) -> Filter {
    var filter = self
    if let time, time > 0 { filter.since = max(time, since ?? 0) }
    return filter
  }
}
