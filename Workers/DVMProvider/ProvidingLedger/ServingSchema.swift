internal import Contracts
internal import Storage

// The tables.
//
//   request   the requests, in the order in which they were taken up; `isOpen` while anything is left to do
//   body      the request event, while it is open
//   outgoing  a signed event that is to be published
//   mark      numbers by name: `seq`, the last seq of the store that was looked at; `rules`, by which; `notBefore`
//
// States are numbers, so that a new name of a state needs no new schema.

enum ServingSchema {
  static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE request (
        number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, customer BLOB NOT NULL,
        takenAt INTEGER NOT NULL, endedAt INTEGER, state INTEGER NOT NULL, reason TEXT, result BLOB,
        isTold INTEGER NOT NULL, isOpen INTEGER NOT NULL);
      CREATE INDEX open ON request (number) WHERE isOpen = 1;
      CREATE TABLE body (request INTEGER PRIMARY KEY, event BLOB NOT NULL);
      CREATE TABLE outgoing (request INTEGER PRIMARY KEY, event BLOB NOT NULL);
      CREATE TABLE mark (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      """)
  ]

  /// The name of the mark for the last seq that was looked at.
  static let seq = "seq"
  /// The name of the mark for the rules that applied.
  static let rulesMark = "rules"
  /// The name of the mark for the second before which the ledger may not know a request.
  static let notBefore = "notBefore"
}

extension ServedJob.State {
  var code: Int64 {
    switch self {
    case .waiting: 0
    case .paymentRequired: 1
    case .running: 2
    case .answering: 3
    case .answered: 4
    case .failed: 5
    case .cancelled: 6
    }
  }

  init?(code: Int64) {
    guard let state = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = state
  }
}
