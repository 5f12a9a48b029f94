import Clocks
import Storage
import Synchronization
import TestSupport
import Testing

@Suite("A database that is held for a copy")
struct StorageSnapshotTests {
  private static let migrations = [StorageMigration(version: 1, "CREATE TABLE a (b INTEGER)")]

  private static func open(_ directory: TemporaryDirectory, _ name: String = "a.db") throws -> StorageFile {
    try StorageFile(path: "\(directory.path)/\(name)", .small, migrations: migrations)
  }

  private static func insert(_ number: Int, _ file: StorageFile) async throws {
    try await file.write { try $0.run("INSERT INTO a VALUES (?)", number) }
  }

  private static func rows(_ file: StorageFile) throws -> [Int64] {
    try file.readNow { try $0.rows("SELECT b FROM a ORDER BY b") { $0.number(0) } }
  }

  private static func copy(_ snapshot: StorageSnapshot, _ directory: TemporaryDirectory) throws -> [Int64] {
    try snapshot.write(to: directory.path + "/copy.db")
    let copy = try open(directory, "copy.db")
    defer { _ = try? copy.close() }
    return try rows(copy)
  }

  @Test("writes nothing until it is released; the copy has the moment, whatever is written later")
  func held() async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.open(directory)
    for number in 0..<10 { try await Self.insert(number, file) }
    let snapshot = try await file.hold(milliseconds: 10_000)
    let isWritten = Mutex(false)
    async let late: Void = {
      try await Self.insert(10, file)
      isWritten.withLock { $0 = true }
    }()
    #expect(try Self.rows(file).count == 10)
    #expect(!isWritten.withLock { $0 })
    #expect(snapshot.release())
    try await late
    for number in 11..<500 { try await Self.insert(number, file) }
    #expect(try Self.copy(snapshot, directory) == Array(0..<10))
    // A second copy replaces the first.
    #expect(try Self.copy(snapshot, directory) == Array(0..<10))
    #expect(try Self.rows(file).count == 500)
    try file.close()
  }

  @Test("writes again when the time is over, and the release says that the moment has passed")
  func late() async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.open(directory)
    let snapshot = try await file.hold(milliseconds: 1)
    try await Self.insert(1, file)
    #expect(!snapshot.release())
    #expect(!snapshot.release())
    #expect(try Self.copy(snapshot, directory) == [])
    try file.close()
  }

  @Test("is copied while another transaction is written; a copy that is no longer wanted ends")
  func cancelled() async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.open(directory)
    try await file.write { session in
      // 4 MiB, of which each step copies one.
      for number in 0..<500 { try session.run("INSERT INTO a VALUES (?), (zeroblob(8000))", number) }
    }
    var snapshot: StorageSnapshot? = try await file.hold(milliseconds: 10_000)
    #expect(snapshot?.release() == true)
    #expect {
      var steps = 2
      try snapshot?.write(to: directory.path + "/copy.db") {
        steps -= 1
        return steps > 0
      }
    } throws: { ($0 as? StorageFault)?.kind == .interrupted }
    try await file.write { try $0.execute("DELETE FROM a") }
    #expect(try Self.copy(try #require(snapshot), directory).count == 1_000)
    snapshot = nil
    try file.close()
  }

  @Test("is among the open databases of the process until it is closed")
  func registered() throws {
    let directory = try TemporaryDirectory()
    let file = try Self.open(directory)
    #expect(StorageFile.allOpen.contains { $0.path == file.path })
    try file.close()
    #expect(!StorageFile.allOpen.contains { $0.path == file.path })
  }
}
