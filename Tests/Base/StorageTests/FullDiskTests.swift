import Glibc
import Storage
import TestSupport
import Testing

@Suite("A database on a disk that fails")
struct FullDiskTests {
  private static let migrations = [StorageMigration(version: 1, "CREATE TABLE word (text TEXT NOT NULL)")]

  @Test(
    "on a full disk cannot be opened for a while, and is opened again when there is room",
    .enabled(if: TemporaryDisk.isPossible, "needs root, for a disk of its own"), arguments: [false, true])
  func full(isNew: Bool) throws {
    let disk = try TemporaryDisk(byteCount: 1 << 20)
    let ledger = LedgerFile(
      path: disk.path + "/a.db", StorageSettings(durability: .full), Self.migrations, table: "word", noun: "words")
    if !isNew {
      let file = try ledger.storage()
      try file.writeNow { try $0.execute("INSERT INTO word VALUES ('one')") }
      try file.close()
    }
    disk.fill()
    do throws(StorageFault) {
      _ = try ledger.open(now: 7) { file throws(StorageFault) in
        try file.writeNow { try $0.execute("INSERT INTO word VALUES ('two')") }
      }
      Issue.record("it was written to a full disk")
    } catch { #expect(error.mayPass && error.kind == .full, "\(error)") }
    disk.empty()
    let (file, count, rescue) = try ledger.open(now: 8) { file throws(StorageFault) in
      try file.readNow { session in
        let statement = try session.statement("SELECT count(*) FROM word")
        defer { statement.reset() }
        return try statement.step() ? statement.number(0) : -1
      }
    }
    #expect(count == (isNew ? 0 : 1) && rescue == nil)
    try file.close()
  }

  @Test("that may not be written, or is in no directory, is nothing that passes")
  func inaccessible() throws {
    let directory = try TemporaryDirectory()
    do throws(StorageFault) {
      _ = try StorageFile(
        path: directory.path + "/nowhere/a.db", StorageSettings(durability: .full), migrations: Self.migrations)
      Issue.record("it was opened")
    } catch { #expect(error.kind == .inaccessible && !error.mayPass, "\(error)") }
    // A directory in its place can be read and written, and is no file all the same.
    #expect(mkdir(directory.path + "/b.db", 0o700) == 0)
    do throws(StorageFault) {
      _ = try StorageFile(
        path: directory.path + "/b.db", StorageSettings(durability: .full), migrations: Self.migrations)
      Issue.record("it was opened")
    } catch { #expect(error.kind == .inaccessible, "\(error)") }
  }
}
