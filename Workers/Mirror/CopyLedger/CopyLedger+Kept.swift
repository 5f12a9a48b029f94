public import Cryptography
public import Storage

// What else the mirror writes down: from when on the events of a class that is full are here, and the relays that an
// account's lists have ever named.

extension CopyLedger {
  static let kept = StorageMigration(
    version: 3,
    """
    CREATE TABLE floor (
      class TEXT PRIMARY KEY, since INTEGER NOT NULL, sparedSince INTEGER NOT NULL, at INTEGER NOT NULL,
      byteMaximum INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE listed (
      account BLOB NOT NULL, kind INTEGER NOT NULL, relay TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (account, kind, relay)) WITHOUT ROWID;
    """)

  // MARK: Floors

  /// From when on the events of a full class are here.
  public struct Floor: Sendable, Hashable {
    /// Strangers' events are here from this second on.
    public var since: Int64
    /// Those of followed people are.
    public var sparedSince: Int64
    /// When the class became full, seconds since 1970.
    public var at: Int64
    /// Its bound at that time.
    public var byteMaximum: Int64

    /// A floor.
    public init(since: Int64, sparedSince: Int64, at: Int64, byteMaximum: Int64) {
      (self.since, self.sparedSince, self.at, self.byteMaximum) = (since, sparedSince, at, byteMaximum)
    }
  }

  /// Writes a class's floor down; nil: it has none.
  public func remember(_ floor: Floor?, of kept: String) async throws(StorageFault) {
    try await file.write { session in
      guard let floor else { return try session.run("DELETE FROM floor WHERE class = ?", kept) }
      try session.run(
        "INSERT OR REPLACE INTO floor (class, since, sparedSince, at, byteMaximum) VALUES (?, ?, ?, ?, ?)", kept,
        floor.since, floor.sparedSince, floor.at, floor.byteMaximum)
    }
  }

  /// The floors of all classes.
  public func floors() async throws(StorageFault) -> [String: Floor] {
    try await file.read { session in
      let rows = try session.rows("SELECT class, since, sparedSince, at, byteMaximum FROM floor") {
        ($0.text(0), Floor(since: $0.number(1), sparedSince: $0.number(2), at: $0.number(3), byteMaximum: $0.number(4)))
      }
      return Dictionary(uniqueKeysWithValues: rows)
    }
  }

  // MARK: Lists

  /// The most relays that are remembered of one account's lists of one kind.
  public static let listedMaximum = 64

  /// A list of an account names these relays: they are remembered when a later list does not.
  public func listed(
    _ relays: [String], by account: PublicKey, kind: UInt16, at now: Int64
  ) async throws(StorageFault) {
    try await file.write { session in
      for relay in relays.prefix(Self.listedMaximum) {
        try session.run(
          "INSERT OR REPLACE INTO listed (account, kind, relay, at) VALUES (?, ?, ?, ?)", account.octets, kind, relay,
          now)
      }
      try session.run(
        """
        DELETE FROM listed WHERE account = ?1 AND kind = ?2 AND relay NOT IN (
          SELECT relay FROM listed WHERE account = ?1 AND kind = ?2 ORDER BY at DESC, relay LIMIT ?3)
        """, account.octets, kind, Self.listedMaximum)
    }
  }

  /// The relays that an account's lists of a kind have named, the last named first.
  public func listed(by account: PublicKey, kind: UInt16) async throws(StorageFault) -> [String] {
    try await file.read { session in
      try session.rows(
        "SELECT relay FROM listed WHERE account = ? AND kind = ? ORDER BY at DESC, relay", account.octets, kind
      ) { $0.text(0) }
    }
  }
}
