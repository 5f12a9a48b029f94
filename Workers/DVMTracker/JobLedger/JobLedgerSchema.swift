internal import Storage

// The tables.
//
//   job       jobs as they were submitted, in the order of acceptance. The state of a job follows from its facts; the
//             columns for it are there to search by
//   fact      what is known of each job, as bytes: FactCoding.swift
//   request   the job of each request, so that an answer finds its job, even a late one
//   payment   the intents to pay: at most one row for each job, provider and payment hash; for a zap, the id of the
//             zapped event is in the hash's place
//   proof     which payment each payment hash has proven, so that it proves no other, even when its job is forgotten
//   provider  what was seen of each provider
//   cursor    the seq of the event store up to which all answers were looked at
//
// An answer has at most two facts, one as it came and one decrypted; the index ensures that. A receipt has one.
//
// Version 2 has the same tables and more kinds of facts. A program that knows only version 1 would take these for
// damage; the version number tells it that the file is too new. Version 3 has the table of proofs, filled with the
// proofs among the facts that have their hash. Proofs by receipts are found when their jobs are read.

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
      // The code of the fact of a preimage, the provider, the hash, the preimage: FactCoding+Facts.swift.
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
