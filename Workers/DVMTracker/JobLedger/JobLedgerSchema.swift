internal import Storage

// The tables.
//
//   job       what was asked for, by the order of acceptance. How it stands is what its facts make of it; the columns
//             for that are there to look by
//   fact      what is known of each job, as bytes: FactCoding.swift
//   request   whose each request is, so that an answer finds its job, also a late one
//   payment   the intents to pay: one row for each job, provider and payment hash, and never two; of a zap the id of
//             what is zapped is in the hash's place
//   proof     which payment each payment hash has proven, so that it proves no other, also when its job is forgotten
//   provider  what was seen of each provider
//   cursor    up to which seq of the event store all answers were looked at
//
// An answer is in a fact once as it came and once as it was decrypted: the index says so. A receipt is in one once.
//
// The second version has the same tables and more kinds of facts: a program that knows only the first would take them
// for damage, so it is told by the number that the file is not for it. The third has the table of proofs, filled with
// those that stand among the facts with their hash; proofs by receipts are added as their jobs are read.

enum JobLedgerSchema {
  static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE job (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL UNIQUE, key TEXT NOT NULL UNIQUE,
        account BLOB NOT NULL, submittedAt INTEGER NOT NULL, submit BLOB NOT NULL, state TEXT NOT NULL,
        endedAt INTEGER, isOpen INTEGER NOT NULL);
      CREATE INDEX openJob ON job (number) WHERE isOpen = 1;
      CREATE INDEX endedJob ON job (endedAt) WHERE isOpen = 0;
      CREATE TABLE fact (
        job INTEGER NOT NULL, at INTEGER NOT NULL, event BLOB, isOpened INTEGER NOT NULL DEFAULT 0,
        what BLOB NOT NULL, PRIMARY KEY (job, at)) WITHOUT ROWID;
      CREATE UNIQUE INDEX answer ON fact (job, event, isOpened) WHERE event IS NOT NULL;
      CREATE TABLE request (event BLOB PRIMARY KEY, job INTEGER NOT NULL) WITHOUT ROWID;
      CREATE INDEX requestJob ON request (job);
      CREATE TABLE payment (
        job INTEGER NOT NULL, provider BLOB NOT NULL, hash BLOB NOT NULL, at INTEGER NOT NULL, intent BLOB NOT NULL,
        PRIMARY KEY (job, provider, hash)) WITHOUT ROWID;
      CREATE INDEX paymentTime ON payment (at);
      CREATE TABLE provider (
        key BLOB PRIMARY KEY, asked INTEGER NOT NULL, answered INTEGER NOT NULL, unpaid INTEGER NOT NULL,
        undelivered INTEGER NOT NULL, contradictions INTEGER NOT NULL, latencies BLOB NOT NULL,
        lastAt INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL);
      """),
    StorageMigration(version: 2, ""),
    StorageMigration(
      version: 3,
      // The code of a preimage's fact, who was paid, the hash, the preimage: FactCoding+Facts.swift.
      """
      CREATE TABLE proof (
        hash BLOB PRIMARY KEY, job INTEGER NOT NULL, provider BLOB NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
      CREATE INDEX proofTime ON proof (at);
      INSERT OR IGNORE INTO proof
        SELECT substr(what, 34, 32), job, substr(what, 2, 32), at FROM fact
        WHERE length(what) = 97 AND substr(what, 1, 1) = x'0A' ORDER BY at;
      """),
  ]
}
