public import Frames

// Coverage: for which filters and relays everything is stored. `store.coverage` reads it; the topic `store.covered`
// announces each addition; `store.delivery` says what relays had of it.

/// `store.coverage`: the coverage of some filters. Each part is a ``CoveredFilter``, for each filter and relay with
/// known coverage; the terminal answer is a ``StoreCount`` of the parts.
public struct StoreCoverage: FilterArguments {
  /// An example of the arguments.
  public static let example = #"{"filters":[{"kinds":[1]}],"relays":["wss://relay.example"],"inParts":false}"#

  /// The filters; at most ``StoreObserve/filterMaximum``. Intervals ignore their times and limits.
  public var filters: [JSONValue]
  /// Only these relays; all relays when absent.
  public var relays: [String]?
  /// Whether each filter is answered in parts of which the same is covered, by author or tag value and kind; together
  /// they are the filter, and some may have no coverage. It needs exactly one relay. Absent: false.
  public var inParts: Bool?

  /// A request.
  public init(filters: [JSONValue], relays: [String]? = nil, inParts: Bool? = nil) {
    self.filters = filters
    self.relays = relays
    self.inParts = inParts
  }

  /// The list has too many relays, or not exactly one with `inParts`.
  public var objection: String? {
    if inParts == true, relays?.count != 1 { return "'inParts' needs exactly one relay in 'relays'" }
    return tooMany(relays)
  }
}

/// The coverage of a filter at a relay.
public struct CoveredFilter: Codable, Sendable, Hashable {
  /// A span of time for which every event that the relay had is stored.
  public struct Interval: Codable, Sendable, Hashable {
    /// The first second (of `created_at`).
    public var since: Int64
    /// The last second.
    public var until: Int64
    /// When the relay was queried, seconds since 1970.
    public var checkedAt: Int64

    /// A span of time.
    public init(since: Int64, until: Int64, checkedAt: Int64) {
      self.since = since
      self.until = until
      self.checkedAt = checkedAt
    }
  }

  /// The index, from 0, of the filter in the request.
  public var filter: Int
  /// The relay's URL.
  public var relay: String
  /// When the relay last sent all it had for exactly this filter, including its times and limit; seconds since 1970.
  public var fetchedAt: Int64?
  /// In ascending order; they do not overlap.
  public var intervals: [Interval]
  /// With `inParts`: the part of the filter that this is about, without times and limit.
  public var part: JSONValue?

  /// The coverage of a filter at a relay.
  public init(filter: Int, relay: String, fetchedAt: Int64?, intervals: [Interval], part: JSONValue? = nil) {
    self.part = part
    self.filter = filter
    self.relay = relay
    self.fetchedAt = fetchedAt
    self.intervals = intervals
  }
}

/// An event of the topic `store.covered`: a relay has sent an end (of stored events or of a page), and all events
/// before it are committed.
///
/// It is a hint: while subscribers do not keep up, the oldest are dropped. `store.coverage` returns everything that
/// they said.
public struct CoverageAdded: Codable, Sendable, Hashable {
  /// One more than in the event before; 1 is the first of each life of the store. After a gap, call `store.coverage`.
  public var number: Int64
  /// The relay's URL.
  public var relay: String
  /// The filter; absent when it is too long to repeat.
  public var filter: JSONValue?
  /// The filter's key, SHA-256 of its canonical form: 64 hexadecimal digits.
  public var key: String
  /// True after all that the relay had for the filter, false after a page of it.
  public var isStoredEnd: Bool
  /// The first second (of `created_at`) of the span in which nothing is missing, if the end names a span.
  public var since: Int64?
  /// The last second.
  public var until: Int64?
  /// When the end arrived, seconds since 1970.
  public var at: Int64

  /// An end.
  public init(
    number: Int64 = 0, relay: String, filter: JSONValue?, key: String, isStoredEnd: Bool, since: Int64?, until: Int64?,
    at: Int64
  ) {
    self.number = number
    self.relay = relay
    self.filter = filter
    self.key = key
    self.isStoredEnd = isStoredEnd
    self.since = since
    self.until = until
    self.at = at
  }
}

/// `store.delivery`: what relays had of some authors' events, counted from where each event was seen. Only times count
/// for which a relay has sent all it had (coverage), so what is missing was missing there. Each part is an
/// ``AuthorDelivery``, for each author in the order of the request; the terminal answer is a ``StoreCount`` of the
/// parts.
public struct StoreDelivery: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"authors":["…"],"kinds":[1],"since":1700000000,"until":1700604799}"#

  /// The authors, 64 hexadecimal digits each; 1 to ``authorMaximum``.
  public var authors: [String]
  /// Only events of these kinds, at most ``kindMaximum``; all when absent. A relay counts for a kind if it was asked
  /// for this kind alone, or for all kinds.
  public var kinds: [UInt16]?
  /// Only events created since this second.
  public var since: Int64
  /// Only events created up to this second.
  public var until: Int64

  /// The most authors of a request.
  public static let authorMaximum = 1_000
  /// The most kinds of a request.
  public static let kindMaximum = 32

  /// A request.
  public init(authors: [String], kinds: [UInt16]? = nil, since: Int64, until: Int64) {
    (self.authors, self.kinds, self.since, self.until) = (authors, kinds, since, until)
  }

  /// No author or too many, too many kinds, or times in the wrong order.
  public var objection: String? {
    guard (1...Self.authorMaximum).contains(authors.count) else {
      return "'authors' has \(authors.count) keys; 1 to \(Self.authorMaximum) are taken"
    }
    if let kinds, !(1...Self.kindMaximum).contains(kinds.count) {
      return "'kinds' has \(kinds.count) numbers; 1 to \(Self.kindMaximum) are taken"
    }
    return since > until ? "'since' \(since) is after 'until' \(until)" : nil
  }
}

/// What relays had of one author's events.
public struct AuthorDelivery: Codable, Sendable, Hashable {
  /// What one relay had.
  public struct Relay: Codable, Sendable, Hashable {
    /// The relay's URL.
    public var relay: String
    /// For how many seconds of the time asked for it has sent all it had, of the kind for which these are most.
    public var seconds: Int64
    /// Events of that time that other relays had.
    public var known: Int
    /// Those of them that this relay had too.
    public var had: Int
    /// All events of that time that this relay had, also those that no other one had. Absent: not counted.
    public var held: Int?

    /// What one relay had.
    public init(relay: String, seconds: Int64, known: Int, had: Int, held: Int? = nil) {
      (self.relay, self.seconds, self.known, self.had, self.held) = (relay, seconds, known, had, held)
    }
  }

  /// The author, 64 hexadecimal digits.
  public var author: String
  /// The author's events of that time that came from any relay; at most ``eventMaximum`` are looked at, the newest.
  public var events: Int
  /// The relays that have sent all they had for some of the time, in the order of their URLs.
  public var relays: [Relay]

  /// The most events of one author that are looked at.
  public static let eventMaximum = 2_000

  /// What relays had of one author's events.
  public init(author: String, events: Int, relays: [Relay]) {
    (self.author, self.events, self.relays) = (author, events, relays)
  }
}
