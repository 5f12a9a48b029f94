internal import Storage

// The tables.
//
//   ringKey     keys of the ring under which the file has something: a name, and a mark that identifies the key
//   secret      the ledger's own key, sealed
//   device      the registered devices; the token sealed, and found by `tokenIndex` (HMAC under the ledger's own key)
//   tombstone   when a device was removed that an older message might restore; name '': all unnamed ones
//   challenge   what was sent to a token that another owner has, by hash; one a minute for each token and all claims
//   account     of an owner: the policy, when it and the contacts were signed, until when they are kept, and since when
//               there is a device that can be woken (of Nostr keys)
//   contact     senders that an owner allows or blocks
//   replay      signed messages that were answered, with the answer; not wakes, which are known by their nonce
//   nonce       the nonces of senders' wakes, with the answer
//   wake        the queue: accepted, neither delivered nor expired; `isDropped`: answered alike, and not delivered
//   delivery    devices that no longer need a wake in the queue
//   status      what became of a wake, for its sender
//   credential  what a platform gave this relay (a token of OAuth, a JWT), and by which settings a push went through to
//               one, by hash; sealed
//   limits      how much of the limits is spent, as the limits themselves write it
//   rules       what wakes an owner of a Nostr key, as the owner's request said it; deleted with the account
//   eventSeen   events that already woke their recipient
//   counter     totals of the file's life, by name; `notBefore`, the second up to which messages may be forgotten
//
// Platforms and states are numbers, so that a new name does not need a new schema. Times are Unix seconds; of wakes,
// milliseconds.

enum PushSchema {
  static let migrations = [
    StorageMigration(version: 1, tables + "\n" + indices),
    StorageMigration(version: 2, "ALTER TABLE wake ADD COLUMN isDropped INTEGER NOT NULL DEFAULT 0;"),
    StorageMigration(version: 3, events),
    StorageMigration(version: 4, watching),
    StorageMigration(version: 5, nonces),
  ]

  /// Nonces with a number each. Before, the index of expiry ordered the nonces of one second by sender, which is
  /// random, so each wake changed another page of that index too.
  private static let nonces = """
    ALTER TABLE nonce RENAME TO nonceBefore;
    CREATE TABLE nonce (
      number INTEGER PRIMARY KEY, sender BLOB NOT NULL, nonce BLOB NOT NULL, body BLOB NOT NULL,
      expiresAt INTEGER NOT NULL, answer BLOB NOT NULL, UNIQUE (sender, nonce));
    INSERT INTO nonce (sender, nonce, body, expiresAt, answer)
      SELECT sender, nonce, body, expiresAt, answer FROM nonceBefore ORDER BY expiresAt;
    DROP TABLE nonceBefore;
    CREATE INDEX nonceByExpiry ON nonce (expiresAt);
    """

  /// For what an older version registered, the first known registration counts.
  private static let watching = """
    ALTER TABLE account ADD COLUMN watchedSince INTEGER NOT NULL DEFAULT 0;
    UPDATE account SET watchedSince =
      coalesce((SELECT min(registeredAt) FROM device WHERE device.owner = account.owner), 0);
    """

  private static let events = """
    ALTER TABLE wake ADD COLUMN topic TEXT;
    ALTER TABLE wake ADD COLUMN event BLOB;
    CREATE TABLE rules (owner BLOB PRIMARY KEY, rules BLOB NOT NULL, signedAt INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE eventSeen (
      owner BLOB NOT NULL, event BLOB NOT NULL, expiresAt INTEGER NOT NULL, PRIMARY KEY (owner, event)) WITHOUT ROWID;
    CREATE INDEX eventSeenByExpiry ON eventSeen (expiresAt);
    """

  private static let tables = """
    CREATE TABLE ringKey (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, mark BLOB NOT NULL);
    CREATE TABLE secret (number INTEGER PRIMARY KEY CHECK (number = 1), ringKey INTEGER NOT NULL, sealed BLOB NOT NULL);
    CREATE TABLE device (
      number INTEGER PRIMARY KEY AUTOINCREMENT, owner BLOB NOT NULL, id TEXT NOT NULL, isNamed INTEGER NOT NULL,
      relayID TEXT NOT NULL UNIQUE, platform INTEGER NOT NULL, ringKey INTEGER NOT NULL, sealed BLOB NOT NULL,
      tokenIndex BLOB NOT NULL, capabilities BLOB NOT NULL, signedAt INTEGER NOT NULL, registeredAt INTEGER NOT NULL,
      expiresAt INTEGER NOT NULL, isVerified INTEGER NOT NULL, isQuarantined INTEGER NOT NULL, sealingKey BLOB,
      UNIQUE (owner, id));
    CREATE TABLE tombstone (
      owner BLOB NOT NULL, id TEXT NOT NULL, signedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL,
      PRIMARY KEY (owner, id)) WITHOUT ROWID;
    CREATE TABLE challenge (
      number INTEGER PRIMARY KEY, device INTEGER NOT NULL, tokenIndex BLOB NOT NULL, codeHash BLOB NOT NULL,
      issuedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL, attempts INTEGER NOT NULL);
    CREATE TABLE account (
      owner BLOB PRIMARY KEY, policy TEXT, policySignedAt INTEGER NOT NULL, signedAt INTEGER NOT NULL,
      keepUntil INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE contact (
      owner BLOB NOT NULL, other BLOB NOT NULL, kind INTEGER NOT NULL, PRIMARY KEY (owner, other)) WITHOUT ROWID;
    CREATE TABLE replay (
      owner BLOB NOT NULL, message BLOB NOT NULL, expiresAt INTEGER NOT NULL, answer BLOB NOT NULL,
      PRIMARY KEY (owner, message)) WITHOUT ROWID;
    CREATE TABLE nonce (
      sender BLOB NOT NULL, nonce BLOB NOT NULL, body BLOB NOT NULL, expiresAt INTEGER NOT NULL, answer BLOB NOT NULL,
      PRIMARY KEY (sender, nonce)) WITHOUT ROWID;
    CREATE TABLE wake (
      number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, recipient BLOB NOT NULL, sender BLOB,
      type TEXT NOT NULL, payload BLOB, nonce BLOB NOT NULL, acceptedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL);
    CREATE TABLE delivery (
      wake INTEGER NOT NULL, device INTEGER NOT NULL, PRIMARY KEY (wake, device)) WITHOUT ROWID;
    CREATE TABLE status (
      id BLOB PRIMARY KEY, sender BLOB NOT NULL, state INTEGER NOT NULL, isTold INTEGER NOT NULL,
      keepUntil INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE credential (
      name TEXT PRIMARY KEY, ringKey INTEGER NOT NULL, sealed BLOB NOT NULL, savedAt INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE limits (
      number INTEGER PRIMARY KEY CHECK (number = 1), snapshot BLOB NOT NULL, savedAt INTEGER NOT NULL,
      isClean INTEGER NOT NULL);
    CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    """

  private static let indices = """
    CREATE INDEX deviceByToken ON device (tokenIndex);
    CREATE INDEX deviceByExpiry ON device (expiresAt);
    CREATE INDEX deviceByKey ON device (ringKey);
    CREATE INDEX tombstoneByExpiry ON tombstone (expiresAt);
    CREATE INDEX challengeByToken ON challenge (tokenIndex);
    CREATE INDEX challengeByExpiry ON challenge (expiresAt);
    CREATE INDEX accountByExpiry ON account (keepUntil);
    CREATE INDEX replayByExpiry ON replay (expiresAt);
    CREATE INDEX nonceByExpiry ON nonce (expiresAt);
    CREATE INDEX wakeByExpiry ON wake (expiresAt);
    CREATE INDEX statusByExpiry ON status (keepUntil);
    """
}

/// Tables that strangers can fill. Each has a bound; a command that would exceed it is answered `unavailable`.
/// Exceptions: of events the oldest are forgotten, and without room for a status the wake is accepted without one.
enum BoundedTable: String, CaseIterable {
  case device, tombstone, account, contact, replay, nonce, wake, status, eventSeen

  /// The name of the counter of its rows.
  var counter: String { "rows.\(rawValue)" }
}

/// Most rows of each table. For messages and wakes it is twice the number that a relay at its request limit collects
/// while they are kept: a lower bound would refuse honest senders every hour.
struct TableBounds: Sendable {
  private let messageMaximum: Int64
  private let statusMaximum: Int64

  /// The least and the most that any ledger has room for.
  private static let messageRange: ClosedRange<Int64> = 200_000...20_000_000
  private static let statusRange: ClosedRange<Int64> = 1_000_000...50_000_000
  /// How long a message signed in the future is kept, in minutes; and the state of a wake that lives a minute.
  private static let messageMinutes: Int64 = 15
  private static let statusMinutes: Int64 = 62

  /// - Parameter requestsPerMinute: what the limits admit.
  init(requestsPerMinute: Int) {
    func maximum(_ minutes: Int64, _ range: ClosedRange<Int64>) -> Int64 {
      let (rows, isFar) = Int64(max(0, requestsPerMinute)).multipliedReportingOverflow(by: 2 * minutes)
      return isFar ? range.upperBound : min(max(rows, range.lowerBound), range.upperBound)
    }
    messageMaximum = maximum(Self.messageMinutes, Self.messageRange)
    statusMaximum = maximum(Self.statusMinutes, Self.statusRange)
  }

  func rowMaximum(of table: BoundedTable) -> Int64 {
    switch table {
    case .device, .wake, .account: 1_000_000
    case .contact: 4_000_000
    case .replay, .nonce, .tombstone: messageMaximum
    case .status: statusMaximum
    case .eventSeen: 200_000
    }
  }
}
