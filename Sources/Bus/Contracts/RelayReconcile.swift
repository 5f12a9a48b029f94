public import Frames

/// `relay.reconcile`: finds the events of a relay that the store lacks, by NIP-77, and fetches them into the store.
/// What both have is recorded as seen at the relay.
///
/// Each part is a ``ReconcileCounts``, so far; the answer comes when the fetched events are committed. A relay that
/// does not reconcile is not an error: the answer's `end` says so, and the caller pages instead (`relay.request`). For
/// an hour such a relay is not asked again; `relay.retry` ends that.
///
/// `relay.compare` does the same, and has the other side of the difference as its parts: ``EventIDs`` of stored events
/// that the relay lacks, each once, when the comparison has ended. If it ended otherwise than `complete`, the relay may
/// lack more.
///
/// Refused: `no-such-relay`, `own-relay`, and `full` beyond ``countMaximum``.
public struct RelayReconcile: OneFilterArguments {
  /// An example of the arguments.
  public static let example =
    #"{"relay":"wss://relay.example","filter":{"kinds":[1]},"since":1700000000,"until":1700086400,"account":"…","#
    + #""countsOnly":false,"isForeign":false}"#

  /// The relay; may be left out when the connector has exactly one.
  public var relay: String?
  /// A NIP-01 filter, without `limit` and `search`.
  public var filter: JSONValue
  /// The first second of the window, since 1970; default: 0.
  public var since: Int64?
  /// The last second of the window, not before the first; default: now.
  public var until: Int64?
  /// The account that authenticates if the relay requires it, 64 hexadecimal digits; default: none.
  public var account: String?
  /// Whether nothing is fetched: the counts say how much the store lacks. Absent: it is fetched.
  public var countsOnly: Bool?
  /// Whether only others name the relay: it is then not dialled at a private address. Absent: no.
  public var isForeign: Bool?

  /// The most reconciliations of one connector.
  public static let countMaximum = ReconcileBegin.callerMaximum

  /// The window has no negative seconds.
  public static var ranges: [FieldRange<Self>] { [FieldRange("since") { $0.since }, FieldRange("until") { $0.until }] }

  /// A window that ends before it begins.
  public var objection: String? {
    guard let since, let until, since > until else { return nil }
    return "'until' is before 'since'"
  }

  /// A request.
  public init(
    relay: String? = nil, filter: JSONValue, since: Int64? = nil, until: Int64? = nil, account: String? = nil
  ) {
    self.relay = relay
    self.filter = filter
    self.since = since
    self.until = until
    self.account = account
  }
}

/// What a reconciliation has counted.
public struct ReconcileCounts: Codable, Sendable, Hashable {
  /// Windows of time that were compared to their end.
  public var windows: Int
  /// Events that the store and the relay have.
  public var common: Int
  /// Events that the relay has named and the store lacked.
  public var needed: Int
  /// Of them, those that came.
  public var fetched: Int
  /// Of them, those that were asked for and did not come.
  public var unavailable: Int
  /// Bytes to the relay: messages in hexadecimal digits, and filters.
  public var sentBytes: Int
  /// Bytes of the relay: messages in hexadecimal digits, and events.
  public var receivedBytes: Int

  /// Counts.
  public init(
    windows: Int = 0, common: Int = 0, needed: Int = 0, fetched: Int = 0, unavailable: Int = 0, sentBytes: Int = 0,
    receivedBytes: Int = 0
  ) {
    self.windows = windows
    self.common = common
    self.needed = needed
    self.fetched = fetched
    self.unavailable = unavailable
    self.sentBytes = sentBytes
    self.receivedBytes = receivedBytes
  }
}

/// The answer of `relay.reconcile`.
public struct RelayReconcileResult: Codable, Sendable, Hashable {
  /// How a reconciliation ended.
  public enum End: String, Codable, Sendable, Hashable, CaseIterable {
    /// The store has everything that the relay sent of the window.
    case complete
    /// The relay does not reconcile.
    case unsupported
    /// It was not brought to its end.
    case failed
  }

  /// Canonical URL.
  public var relay: String
  /// How it ended.
  public var end: End
  /// Why it did not end with `complete`.
  public var reason: String?
  /// What was counted. Events that came are in the store, however it ended.
  public var counts: ReconcileCounts

  /// A result.
  public init(relay: String, end: End, reason: String? = nil, counts: ReconcileCounts) {
    self.relay = relay
    self.end = end
    self.reason = reason
    self.counts = counts
  }
}
