import Glibc
import Storage
import TestSupport
import Testing

@Suite("Rows that were removed")
struct RemovedRowsTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/rows.db" }

  init() throws { directory = try TemporaryDirectory() }

  private var ledger: LedgerFile {
    LedgerFile(
      path: path, StorageSettings(durability: .full),
      [StorageMigration(version: 1, "CREATE TABLE row (number INTEGER PRIMARY KEY, text TEXT NOT NULL)")],
      table: "row", noun: "rows")
  }

  /// Whether a text is in the file or its log.
  private func holds(_ text: String) -> Bool {
    [path, path + "-wal"].contains { file in
      String(decoding: SharedFolder.bytes(ofFile: file) ?? [], as: UTF8.self).contains(text)
    }
  }

  private func text(_ number: Int64) -> String {
    "\(number % 2 == 0 ? "stays" : "quicksilver") \(number) " + String(repeating: "x", count: Int(number * 37 % 6_000))
  }

  @Test("leave nothing in file and log when the file is scrubbed, and the rest is whole, also after the next start")
  func scrubbed() async throws {
    do {
      let file = try ledger.storage()
      for number in 0..<600 as Range<Int64> {
        let text = text(number)
        try file.writeNow { try $0.run("INSERT INTO row (number, text) VALUES (?, ?)", number, text) }
      }
      // Rows move between pages: one in three is written again, longer or shorter.
      for number in stride(from: 0, to: 600, by: 3) as StrideTo<Int64> {
        let text = text(number) + String(repeating: "y", count: Int(number))
        try file.writeNow { try $0.run("UPDATE row SET text = ? WHERE number = ?", text, number) }
      }
      #expect(holds("quicksilver"))
      try file.writeNow { try $0.run("DELETE FROM row WHERE number % 2 = 1") }
      #expect(try await file.scrub() == .clean)
      #expect(!holds("quicksilver"))
      #expect(holds("stays"))
      // Again, and after further writes: nothing is wrong with the file.
      #expect(try file.scrubNow() == .clean)
      try file.writeNow { try $0.run("INSERT INTO row (number, text) VALUES (?, ?)", 1_000, "after") }
    }
    let (file, rescue) = try ledger.open(now: 1) { path throws(StorageFault) in
      let file = try ledger.storage()
      return (file, file)
    } mend: { _, _ in
    }
    #expect(rescue == nil)
    let count = try file.readNow { try $0.first("SELECT count(*) FROM row") { $0.number(0) } }
    #expect(count == 301)
    #expect(!holds("quicksilver"))
    try file.close()
  }
}
