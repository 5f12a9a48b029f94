import Storage
import TestSupport
import Testing

@Suite("A database file")
struct StorageFileTests {
  @Test("that is closed a second time stays closed, and a later use fails")
  func closedTwice() throws {
    let directory = try TemporaryDirectory()
    let file = try StorageFile(
      path: directory.path + "/a.db", .small, migrations: [StorageMigration(version: 1, "CREATE TABLE a (b INTEGER)")])
    try file.writeNow { try $0.execute("INSERT INTO a VALUES (1)") }
    try file.close()
    try file.close()
    #expect(throws: StorageFault.self) { try file.writeNow { try $0.execute("INSERT INTO a VALUES (2)") } }
    #expect(throws: StorageFault.self) { try file.readNow { try $0.execute("SELECT * FROM a") } }
  }
}
