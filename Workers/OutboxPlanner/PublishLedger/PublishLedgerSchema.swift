internal import Contracts
internal import Storage

// The tables.
//
//   publication  accepted publications, in the order of acceptance; the state follows from the targets, for queries
//   target       its relays: the state of each, and how the event is sent there
//   body         the event's bytes, apart, so that a change of state does not write them again; gone when every relay
//                has it
//
// Above the eight bits of a target's flags is the pace of its relay, in milliseconds, if it has one.
//
// States are numbers. `sent` is written as `pending`: the next process does not know the outcome.

enum PublishLedgerSchema {
  static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE publication (
        number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, author BLOB NOT NULL, kind INTEGER NOT NULL,
        acceptedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL, state INTEGER NOT NULL, isStored INTEGER NOT NULL);
      CREATE INDEX underWay ON publication (number) WHERE state < 2;
      CREATE INDEX ended ON publication (number) WHERE state >= 2;
      CREATE TABLE target (
        publication INTEGER NOT NULL, relay TEXT NOT NULL, why TEXT NOT NULL, state INTEGER NOT NULL,
        attempts INTEGER NOT NULL, refusals INTEGER NOT NULL, message TEXT, nextAttemptAt INTEGER, confirmedAt INTEGER,
        account BLOB, flags INTEGER NOT NULL, PRIMARY KEY (publication, relay)) WITHOUT ROWID;
      CREATE TABLE body (publication INTEGER PRIMARY KEY, event BLOB NOT NULL);
      """),
    // A copy of its relays, from which relays lost with a damaged page are rebuilt: one line each,
    // `FLAGS ACCOUNT URL WHY`, the account `-` when the relay has none. Empty in rows written before this version.
    StorageMigration(version: 2, "ALTER TABLE publication ADD COLUMN relays TEXT NOT NULL DEFAULT ''"),
    // The number of its last change: each change of any publication has the next one. By it another Roost of the same
    // owner asks for what is new. It has no index: an index would be two more pages in each transaction, and a look
    // through some ten thousand rows now and then costs less.
    StorageMigration(
      version: 3,
      """
      ALTER TABLE publication ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
      UPDATE publication SET change = number;
      """),
  ]

  /// Publications with a lower state have not ended.
  static let firstFinalCode: Int64 = 2
}

extension Publication.State {
  var code: Int64 {
    switch self {
    case .optimistic: 0
    case .partial: 1
    case .confirmed: 2
    case .failed: 3
    case .cancelled: 4
    }
  }

  init?(code: Int64) {
    guard let state = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = state
  }
}

extension PublicationTarget.State {
  var code: Int64 {
    switch self {
    case .pending, .sent: 0
    case .confirmed: 1
    case .failed: 2
    case .cancelled: 3
    }
  }

  init?(code: Int64) {
    guard let state = [Self.pending, .confirmed, .failed, .cancelled].first(where: { $0.code == code }) else {
      return nil
    }
    self = state
  }
}
