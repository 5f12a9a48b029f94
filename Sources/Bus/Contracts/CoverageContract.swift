public import Frames

// What of which relay is here: `store.coverage` asks, and the topic `store.covered` tells when something is added.

/// `store.coverage`: what is known of some filters. Parts are a ``CoveredFilter`` for each filter and relay of which
/// something is known; the terminal answer is a ``StoreCount`` of them.
public struct StoreCoverage: FilterArguments {
  /// How it is asked.
  public static let example = #"{"filters":[{"kinds":[1]}],"relays":["wss://relay.example"]}"#

  /// The filters; at most ``StoreObserve/filterMaximum``. Their times and limits do not count for intervals.
  public var filters: [JSONValue]
  /// Of these relays; of all when absent.
  public var relays: [String]?

  /// A question.
  public init(filters: [JSONValue], relays: [String]? = nil) {
    self.filters = filters
    self.relays = relays
  }

  /// Too many relays.
  public var objection: String? { tooMany(relays) }
}

/// What is known of a filter at a relay.
public struct CoveredFilter: Codable, Sendable, Hashable {
  /// A stretch of time of which nothing is missing that the relay had.
  public struct Interval: Codable, Sendable, Hashable {
    /// The first second of creation.
    public var since: Int64
    /// The last.
    public var until: Int64
    /// When the relay was asked, seconds since 1970.
    public var checkedAt: Int64

    /// A stretch of time.
    public init(since: Int64, until: Int64, checkedAt: Int64) {
      self.since = since
      self.until = until
      self.checkedAt = checkedAt
    }
  }

  /// Which of the filters asked about, from 0.
  public var filter: Int
  /// The relay's URL.
  public var relay: String
  /// When the relay last sent all it had for this very filter, its times and limit included; seconds since 1970.
  public var fetchedAt: Int64?
  /// The earliest first; they do not overlap.
  public var intervals: [Interval]

  /// What is known of a filter at a relay.
  public init(filter: Int, relay: String, fetchedAt: Int64?, intervals: [Interval]) {
    self.filter = filter
    self.relay = relay
    self.fetchedAt = fetchedAt
    self.intervals = intervals
  }
}

/// An event of the topic `store.covered`: an end that a relay has sent, told when all before it is committed.
///
/// It is a hint: while subscribers do not keep up, the oldest are left out, and all that they say can be asked for.
public struct CoverageAdded: Codable, Sendable, Hashable {
  /// One more than the event before, from 1 in each life of the store; when some are missing here, ask
  /// `store.coverage`.
  public var number: Int64
  /// The relay's URL.
  public var relay: String
  /// The filter; absent when it is too long to be repeated.
  public var filter: JSONValue?
  /// The filter's name, SHA-256 of its canonical form: 64 hexadecimal digits.
  public var key: String
  /// Whether the relay has sent all it had for it: else a page of it.
  public var isStoredEnd: Bool
  /// The first second of creation since which nothing is missing, if the end says so.
  public var since: Int64?
  /// The last.
  public var until: Int64?
  /// When the end came, seconds since 1970.
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
