internal import Storage

// The tables.
//
//   ringKey     keys of the ring that something in the file stands under: a name, and a mark to know the key by
//   secret      the ledger's own key, sealed
//   device      what is registered; the token sealed, and found by `tokenIndex` (HMAC under the ledger's own key)
//   tombstone   when a device was taken away that an older message might put back; name '': all nameless
//   challenge   what was sent to a token that is another's, by hash; one a minute for each token, whoever asks
//   account     of an owner: the policy, when it and the contacts were signed, until when they are kept, and since when
//               there is a device that can be woken (of Nostr keys)
//   contact     whom an owner allows or blocks
//   replay      signed messages that were answered, with the answer; not wakes, which are known by their nonce
//   nonce       what senders called their wakes, with the answer
//   wake        the queue: accepted, neither brought nor worthless; `isDropped`: answered alike, and brought nowhere
//   delivery    devices that a wake in the queue needs to be brought to no more
//   status      what became of a wake, for its sender
//   credential  what a platform gave this relay (a token of OAuth, a JWT), and by which settings a push went through to
//               one, by hash; sealed
//   limits      how much of the limits is spent, as the limits themselves write it
//   rules       what an owner of a Nostr key is woken for, as his request said it; goes with his account
//   eventSeen   events that somebody was woken for already
//   counter     totals of the file's life, by name; `notBefore`, the second up to which messages may be forgotten
//
// Platforms and states are numbers, so that a later name does not need a later form. Times are Unix seconds; of wakes,
// milliseconds.

enum PushSchema {
  static let migrations = [
    StorageMigration(version: 1, tables + "\n" + indices),
    StorageMigration(version: 2, "ALTER TABLE wake ADD COLUMN isDropped INTEGER NOT NULL DEFAULT 0;"),
    StorageMigration(version: 3, events),
    StorageMigration(version: 4, watching),
    StorageMigration(version: 5, nonces),
  ]

  /// Nonces under a number each: what expires in one second stood in the order of its senders before, which is none, so
  /// that each wake changed a page of the index of expiry, too.
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

  /// What was registered by an older version counts from the first registration that is known.
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

/// Tables that strangers fill. Each has a bound, and what would pass it is answered `unavailable`; of events the oldest
/// are forgotten.
enum BoundedTable: String, CaseIterable {
  case device, tombstone, account, contact, replay, nonce, wake, status, eventSeen

  /// Under what its rows are counted.
  var counter: String { "rows.\(rawValue)" }
}

/// Most rows of each table. Of messages and wakes it is what a relay that is asked as often as its limit lets through
/// gathers while they are kept, twice: a bound below that would shut out honest senders every hour.
struct TableBounds: Sendable {
  private let messageMaximum: Int64
  private let statusMaximum: Int64

  /// What any ledger has room for, and what none has.
  private static let messageRange: ClosedRange<Int64> = 200_000...20_000_000
  private static let statusRange: ClosedRange<Int64> = 1_000_000...50_000_000
  /// For how long a message signed in the future is kept, in minutes; and a wake's state, if it lives a minute.
  private static let messageMinutes: Int64 = 15
  private static let statusMinutes: Int64 = 62

  /// - Parameter requestsPerMinute: what the limits let through.
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
