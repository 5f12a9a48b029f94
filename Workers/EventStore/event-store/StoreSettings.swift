/// The settings of the event-store in `supervisor.conf`.
struct StoreSettings: Decodable, Sendable {
  /// Bytes in use above which events are removed; 0: none.
  var sizeLimitBytes: Int64?
  /// Bytes that foreign events may have together.
  var foreignLimitBytes: Int64?
  /// Authors whose events are never removed.
  var keepAuthors: [String]?
  /// Bytes of recent events kept in memory.
  var recentEventsBytes: Int?
  /// `always` or `sample`.
  var verification: String?
  /// The relays of which a sample will do.
  var sampleRelays: [String]?
  /// Percent of their events that are checked to begin with.
  var sampleRate: Int?
  /// Percent that are checked at least.
  var sampleFloor: Int?
}
