import Cryptography
import ListEditing
import Storage
import TestSupport
import Testing

@testable import PeopleLedger

/// Files that an earlier Roost has written.
@Suite("An old ledger of lists")
struct OldLedgerTests {
  @Test("gets the tables for data keys and for forgetting, and keeps its lists", arguments: [1, 2])
  func migrated(version: Int) async throws {
    let directory = try TemporaryDirectory()
    let (alice, path) = (SecretKey.generate().publicKey, directory.path + "/people.db")
    let old = try StorageFile(
      path: path, .small, migrations: Array(PeopleLedger.migrations.prefix(version)))
    try await old.write { session in
      try session.run(
        "INSERT INTO list (account, kind, identifier, memo) VALUES (?, 3, '', ?)", alice.octets,
        #"{"isEdited":false,"pending":[],"retryCount":0,"salt":[1,2,3]}"#)
    }
    try old.close()
    let ledger = try PeopleLedger(directory: directory.path, now: 0)
    #expect(try await ledger.counts().lists == 1 && ledger.rescue == nil)
    let stored = try await ledger.stored(PeopleLedger.ListKey(account: alice, kind: 3, identifier: ""))
    #expect(stored?.memo.salt == [1, 2, 3] && stored?.memo.hasPrivateSalt == nil)
    #expect(try await ledger.dataKeyText(of: alice) == nil)
    #expect(try await ledger.forgotten().isEmpty)
    try await ledger.keep(dataKeyText: "text", of: alice)
    try await ledger.beginForgetting(alice, at: 1)
    #expect(try await ledger.dataKeyText(of: alice) == "text")
    #expect(try await ledger.forgotten() == [alice])
    try ledger.close()
  }
}
