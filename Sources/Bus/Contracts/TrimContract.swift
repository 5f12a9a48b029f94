public import Frames

// What a mirror needs of the store beside reading: to remove what is over a bound, and to know where events came from.

/// `store.trim`: removes stored events that filters match, the oldest of strangers first, until the rest fits. Answered
/// when they are removed. Coverage no longer claims them.
///
/// What the store never removes stays (events of accounts that were published here, those of `keep-authors`, and
/// tombstones), and so do profiles, contact lists, deletions, requests to vanish and lists of relays.
public struct StoreTrim: FilterArguments {
  /// An example of the arguments.
  public static let example =
    ##"{"filters":[{"kinds":[1],"#p":["…"]}],"bytes":1073741824,"spared":["…"],"keep":[{"authors":["…"]}]}"##

  /// NIP-01 filters, whose limits are ignored; at most ``StoreObserve/filterMaximum``.
  public var filters: [JSONValue]
  /// The bytes of JSON that may stay.
  public var bytes: Int64
  /// Authors whose events go only when no other is left: 64 hexadecimal digits each, at most ``sparedMaximum``.
  public var spared: [String]?
  /// Events that one of these filters matches stay, and count; at most ``StoreObserve/filterMaximum``.
  public var keep: [JSONValue]?

  /// The most authors that are spared.
  public static let sparedMaximum = 10_000
  /// The most events that one request removes.
  public static let removalMaximum = 100_000

  /// A request.
  public init(filters: [JSONValue], bytes: Int64, spared: [String]? = nil, keep: [JSONValue]? = nil) {
    (self.filters, self.bytes, self.spared, self.keep) = (filters, bytes, spared, keep)
  }

  /// The bytes are at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("bytes") { $0.bytes }] }

  /// Too many authors or filters.
  public var objection: String? {
    if let spared, spared.count > Self.sparedMaximum {
      return "'spared' has \(spared.count) keys; \(Self.sparedMaximum) are taken at most"
    }
    if let keep, keep.count > StoreObserve.filterMaximum {
      return "'keep' has \(keep.count) filters; \(StoreObserve.filterMaximum) are taken at most"
    }
    return nil
  }
}

/// The answer of `store.trim`.
public struct StoreTrimmed: Codable, Sendable, Hashable {
  /// Events that were removed.
  public var removed: Int
  /// Bytes of events that match and are left. More than was asked for: what is too much may not be removed, or there is
  /// more of it than one request removes.
  public var bytes: Int64
  /// Strangers' events from this second on are within the bound, seconds since 1970; those before are not. Absent: all
  /// are.
  public var since: Int64?
  /// The same for the authors that are spared.
  public var sparedSince: Int64?
  /// Whether no further request with the same arguments would remove anything.
  public var isComplete: Bool

  /// What was removed.
  public init(removed: Int, bytes: Int64, since: Int64? = nil, sparedSince: Int64? = nil, isComplete: Bool) {
    (self.removed, self.bytes, self.since, self.sparedSince) = (removed, bytes, since, sparedSince)
    self.isComplete = isComplete
  }
}

/// `store.sources`: the relays that sent events of some authors.
public struct StoreSources: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"authors":["…"]}"#

  /// The authors, 64 hexadecimal digits each; 1 to ``authorMaximum``.
  public var authors: [String]

  /// The most authors of a request.
  public static let authorMaximum = 64

  /// A request.
  public init(authors: [String]) { self.authors = authors }

  /// No author, or too many.
  public var objection: String? {
    (1...Self.authorMaximum).contains(authors.count)
      ? nil : "'authors' has \(authors.count) keys; 1 to \(Self.authorMaximum) are taken"
  }
}

/// The answer of `store.sources`.
public struct SourceRelays: Codable, Sendable, Hashable {
  /// A relay that sent some of them.
  public struct Relay: Codable, Sendable, Hashable {
    /// Its URL. Its first mention may be a stranger's: it is foreign, unless something else names it too.
    public var relay: String
    /// How many of the events it sent.
    public var events: Int

    /// A relay.
    public init(relay: String, events: Int) { (self.relay, self.events) = (relay, events) }
  }
  /// Those that sent the most first; at most ``relayMaximum``.
  public var relays: [Relay]

  /// The most relays of an answer.
  public static let relayMaximum = 64
  /// The most events that are looked at, the newest.
  public static let eventMaximum = 50_000

  /// Relays.
  public init(relays: [Relay]) { self.relays = relays }
}

/// `store.unseen`: the events of an author that no relay has sent, and that a client handed in (`store.publish`,
/// `store.offer`, the local relay) or another Roost did. Parts are ``EventIDs``, the newest event first; the answer is
/// their number.
public struct StoreUnseen: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"author":"…, 64 hexadecimal digits","besides":["wss://home.example:4869/peer"]}"#

  /// The author, 64 hexadecimal digits.
  public var author: String
  /// Relays that do not count, other Roosts: what only they sent is unseen. At most ``besidesMaximum``.
  public var besides: [String]?

  /// The most relays that do not count.
  public static let besidesMaximum = 16

  /// A request.
  public init(author: String, besides: [String]? = nil) { (self.author, self.besides) = (author, besides) }

  /// Too many relays.
  public var objection: String? {
    (besides?.count ?? 0) <= Self.besidesMaximum
      ? nil : "'besides' has \(besides?.count ?? 0) relays; \(Self.besidesMaximum) are the most"
  }
}
