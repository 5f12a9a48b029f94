import Glibc
import Storage
import TestSupport
import Testing

@Suite struct CheckpointTests {
  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  @Test("Readers that never leave a moment without one do not let the log grow without end")
  func underReaders() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.db"
    var settings = StorageSettings(durability: .normal)
    settings.checkpointPageCount = 500
    let file = try StorageFile(
      path: path, settings, migrations: [StorageMigration(version: 1, "CREATE TABLE row (bytes BLOB NOT NULL)")])
    let bytes = [UInt8](repeating: 7, count: 2_000)
    let longest = try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          // Each read begins before that of another has ended.
          while !Task.isCancelled {
            try await file.read { session in
              let statement = try session.statement("SELECT count(*), sum(length(bytes)) FROM row")
              while try statement.step() {}
            }
          }
        }
      }
      var longest = 0
      for _ in 0..<250 {
        _ = try await file.write { session in
          for _ in 0..<100 {
            let statement = try session.statement("INSERT INTO row (bytes) VALUES (?)")
            statement.bind(bytes, at: 1)
            try statement.run()
          }
        }
        longest = max(longest, size(path + "-wal"))
      }
      group.cancelAll()
      try await group.waitForAll()
      return longest
    }
    // 50 MB were written.
    #expect(longest < 3 * 4 * 500 * 4_096, "\(longest)")
    try file.close()
  }

  @Test("The log of a database whose writer never pauses is copied beside him, and stays bounded")
  func bounded() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.db"
    var settings = StorageSettings(durability: .normal)
    settings.checkpointPageCount = 500
    let file = try StorageFile(
      path: path, settings, migrations: [StorageMigration(version: 1, "CREATE TABLE row (bytes BLOB NOT NULL)")])
    let bytes = [UInt8](repeating: 7, count: 2_000)
    var longest = 0
    for _ in 0..<200 {
      try file.writeNow { session in
        for _ in 0..<100 {
          let statement = try session.statement("INSERT INTO row (bytes) VALUES (?)")
          statement.bind(bytes, at: 1)
          try statement.run()
        }
      }
      longest = max(longest, size(path + "-wal"))
    }
    // 40 MB were written. At four times 500 pages of 4 KiB the writer does the rest himself.
    #expect(longest > 500 * 4_096)
    #expect(longest < 3 * 4 * 500 * 4_096)
    let count = try file.readNow { session in
      let statement = try session.statement("SELECT count(*) FROM row")
      defer { statement.reset() }
      return try statement.step() ? statement.number(0) : 0
    }
    #expect(count == 20_000)
    try file.close()
    #expect(size(path) > 40_000_000, "all of it is in the one file when it is closed")
  }
}
