public import Cryptography
public import Storage

// How far the exchange with other Roosts of the same owner is.

extension CopyLedger {
  /// Of each other Roost of the same owner: the last change that it has learned, the last of its own that was learned
  /// here, when all of them last were, and since when events have come from there whose publications are not known.
  static let peers = StorageMigration(
    version: 2,
    """
    CREATE TABLE peer (
      account BLOB NOT NULL, peer TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0, learned INTEGER NOT NULL DEFAULT 0,
      wholeAt INTEGER NOT NULL DEFAULT 0, openSince INTEGER, PRIMARY KEY (account, peer)) WITHOUT ROWID;
    """)

  /// What is known of one account at another Roost.
  public struct Peer: Sendable, Hashable {
    /// The last change of a publication here that the other has learned.
    public var told: Int64 = 0
    /// The last change of a publication there that was learned here.
    public var learned: Int64 = 0
    /// When all publications were last exchanged, seconds since 1970; 0: never.
    public var wholeAt: Int64 = 0
    /// Since when events may have come from there whose publications are not known here; nil: all are known.
    public var openSince: Int64?

    /// Nothing is known.
    public init() {}
  }

  /// What is known of an account at another Roost.
  public func peer(_ account: PublicKey, _ peer: String) async throws(StorageFault) -> Peer {
    try await file.read { session in
      try session.first(
        "SELECT told, learned, wholeAt, openSince FROM peer WHERE account = ? AND peer = ?", account.octets,
        peer
      ) {
        var known = Peer()
        (known.told, known.learned, known.wholeAt) = ($0.number(0), $0.number(1), $0.number(2))
        known.openSince = $0.isNull(3) ? nil : $0.number(3)
        return known
      } ?? Peer()
    }
  }

  /// Writes down how far the exchange with another Roost is.
  public func advance(_ account: PublicKey, _ peer: String, to known: Peer) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        """
        INSERT INTO peer (account, peer, told, learned, wholeAt) VALUES (?, ?, ?, ?, ?) ON CONFLICT (account, peer)
        DO UPDATE SET told = excluded.told, learned = excluded.learned, wholeAt = excluded.wholeAt
        """, account.octets, peer, known.told, known.learned, known.wholeAt)
    }
  }

  /// From now on events may come from another Roost whose publications are not known.
  ///
  /// - Parameters:
  ///   - account: the account.
  ///   - peer: the other Roost.
  ///   - now: seconds since 1970.
  /// - Returns: what ``Peer/openSince`` is now; never the same twice.
  public func open(_ account: PublicKey, _ peer: String, at now: Int64) async throws(StorageFault) -> Int64 {
    let known = try await self.peer(account, peer)
    let since = max(now, (known.openSince ?? 0) + 1)
    try await file.write { session in
      try session.run(
        """
        INSERT INTO peer (account, peer, openSince) VALUES (?, ?, ?) ON CONFLICT (account, peer)
        DO UPDATE SET openSince = excluded.openSince
        """, account.octets, peer, since)
    }
    return since
  }

  /// The publications of all events that came before are known, if no others may have come since.
  public func close(_ account: PublicKey, _ peer: String, since: Int64) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        "UPDATE peer SET openSince = NULL WHERE account = ? AND peer = ? AND openSince = ?", account.octets, peer, since
      )
    }
  }
}
