import Clocks
import Glibc
import Storage
import TestSupport
import Testing

@Suite("A ledger's file")
struct LedgerFileTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/jobs.db" }

  init() throws { directory = try TemporaryDirectory() }

  private static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE job (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, text TEXT NOT NULL);
      CREATE INDEX byText ON job (text);
      CREATE TABLE relay (job INTEGER NOT NULL, url TEXT NOT NULL, PRIMARY KEY (job, url)) WITHOUT ROWID;
      CREATE TABLE hash (key BLOB PRIMARY KEY, weight REAL) WITHOUT ROWID;
      """)
  ]
  private static let small = [
    StorageMigration(version: 1, "CREATE TABLE relay (url TEXT PRIMARY KEY, reads INTEGER NOT NULL) WITHOUT ROWID")
  ]

  private func ledger(_ path: String) -> LedgerFile {
    LedgerFile(path: path, StorageSettings(durability: .full), Self.migrations, table: "job", noun: "jobs")
  }

  /// The text of a row says its number.
  private static func text(_ number: Int64) -> String { "\(number) " + String(repeating: "x", count: 300) }

  private static func fill(_ file: StorageFile, _ numbers: ClosedRange<Int64>) throws {
    for number in numbers {
      try file.writeNow { session in
        let job = try session.statement("INSERT INTO job (number, id, text) VALUES (?, ?, ?)")
        job.bind(number, at: 1)
        job.bind(key(number), at: 2)
        job.bind(text(number), at: 3)
        try job.run()
        for place in 0..<3 {
          let relay = try session.statement("INSERT INTO relay (job, url) VALUES (?, ?)")
          relay.bind(number, at: 1)
          relay.bind("wss://\(place).example/\(String(repeating: "y", count: 60))", at: 2)
          try relay.run()
        }
        let hash = try session.statement("INSERT INTO hash (key, weight) VALUES (?, ?)")
        hash.bind(key(number), at: 1)
        hash.bind(number, at: 2)
        try hash.run()
      }
    }
  }

  /// Spread as a hash is.
  private static func key(_ number: Int64) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(number))
    return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }

  private struct Contents {
    var jobs: Set<Int64> = []
    var changed = 0
    var relayCount: Int64 = 0
    var hashCount: Int64 = 0
  }

  private static func load(_ file: StorageFile) throws(StorageFault) -> Contents {
    try file.readNow { session in
      var contents = Contents()
      let jobs = try session.statement("SELECT number, text FROM job")
      while try jobs.step() {
        contents.jobs.insert(jobs.number(0))
        if jobs.text(1) != text(jobs.number(0)) { contents.changed += 1 }
      }
      let counts = try session.statement("SELECT (SELECT count(*) FROM relay), (SELECT count(*) FROM hash)")
      while try counts.step() { (contents.relayCount, contents.hashCount) = (counts.number(0), counts.number(1)) }
      return contents
    }
  }

  @Test("whatever is damaged, it opens, has what could be read, and says what is lost", arguments: DamageCase.all())
  func damaged(_ damage: DamageCase) throws {
    let file = try ledger(path).storage()
    try Self.fill(file, 1...150)
    if !damage.isLog { try file.close() }
    let copy = directory.path + "/copy.db"
    damage.strike(copyOf: path, at: copy)
    let (opened, contents, rescue) = try ledger(copy).open(now: 7, load: Self.load)
    if contents.jobs.count < 150 {
      let rescue = try #require(rescue, "what is lost is told")
      if rescue.quarantinePath == nil {
        let left = Set((0..<150 - rescue.missingCommitCount).map { $0 + 1 })
        #expect(contents.jobs == left, "nothing is lost in the middle")
      } else if let lost = rescue.lostCount, damage.damage != .flippedBit {
        #expect(contents.jobs.count + lost == 150, "\(rescue)")
      }
    } else if rescue == nil {
      #expect(contents.relayCount == 450 && contents.hashCount == 150)
    }
    // One bit is one row's, or its number's; SQLite knows of no sum of what stands in a row.
    #expect(contents.jobs.subtracting(1...150).count <= 1)
    #expect(contents.changed <= 1)
    try Self.fill(opened, 1_001...1_010)
    try opened.close()
    let (again, more, second) = try ledger(copy).open(now: 8, load: Self.load)
    #expect(more.jobs.count == contents.jobs.count + 10 && second == nil, "\(String(describing: second))")
    try again.close()
    try file.close()
  }

  @Test("one zeroed page costs no more rows than stand on it, wherever it lies")
  func everyPage() throws {
    let file = try ledger(path).storage()
    try Self.fill(file, 1...600)
    try file.close()
    let size = try #require(SharedFolder.bytes(ofFile: path)).count
    var lost: [Int] = []
    for page in 0..<(size / 4_096) where page < 12 || page % 7 == 0 {
      let copy = directory.path + "/page-\(page).db"
      DamageCase(damage: .cutOff, isLog: true, seed: 0).strike(copyOf: path, at: copy)
      let descriptor = open(copy, O_RDWR | O_CLOEXEC)
      let zeros = [UInt8](repeating: 0, count: 4_096)
      #expect(pwrite(descriptor, zeros, 4_096, off_t(page * 4_096)) == 4_096)
      close(descriptor)
      let (opened, contents, rescue) = try ledger(copy).open(now: 7, load: Self.load)
      try opened.close()
      #expect(rescue != nil, "page \(page) is missed")
      lost.append(600 - contents.jobs.count)
    }
    // Of the tree's root and its inner pages nothing is left to go down by: one or two of all pages.
    #expect(lost.filter { $0 > 12 }.count <= 3, "\(lost)")
  }

  @Test("any bit of its header is mended or does no harm")
  func header() throws {
    let file = try ledger(path).storage()
    try Self.fill(file, 1...20)
    try file.close()
    let whole = try #require(SharedFolder.bytes(ofFile: path))
    var random = SeededGenerator(seed: 1)
    // One of each byte; all of them where there is time for it.
    let bits =
      amount("ROOST_DAMAGE_TRIALS", standard: 1) > 8
      ? Array(0..<800) : (0..<100).map { $0 * 8 + Int.random(in: 0..<8, using: &random) }
    for bit in bits {
      let copy = directory.path + "/bit.db"
      for suffix in ["", "-wal", "-shm", ".damaged-7", ".damaged-7.text", ".damaged-7.first-page"] {
        unlink(copy + suffix)
      }
      DamageCase(damage: .cutOff, isLog: true, seed: 0).strike(copyOf: path, at: copy)
      let descriptor = open(copy, O_RDWR | O_CLOEXEC)
      let byte = [whole[bit / 8] ^ (1 << UInt8(bit % 8))]
      #expect(pwrite(descriptor, byte, 1, off_t(bit / 8)) == 1)
      close(descriptor)
      do throws(StorageFault) {
        let (opened, contents, _) = try ledger(copy).open(now: 7, load: Self.load)
        try opened.close()
        #expect(contents.jobs == Set(1...20), "bit \(bit)")
      } catch { Issue.record("bit \(bit): \(error)") }
      for entry in [copy + ".is-damaged"] { unlink(entry) }
    }
  }

  @Test("a changed bit in what it says of its tables loses nothing, where it has a copy of its first page")
  func tables() throws {
    let file = try ledger(path).storage()
    try Self.fill(file, 1...20)
    try file.close()
    let whole = try #require(SharedFolder.bytes(ofFile: path))
    var random = SeededGenerator(seed: 2)
    let count = amount("ROOST_DAMAGE_TRIALS", standard: 1) > 8 ? 60 : 6
    for text in ["CREATE TABLE job (", "CREATE TABLE relay (", "CREATE INDEX byText ON job ("] {
      let start = try #require(whole.prefix(4_096).firstRange(of: Array(text.utf8))).lowerBound
      for _ in 0..<count {
        let place = start + Int.random(in: 0..<text.utf8.count + 4, using: &random)
        try openWithChangedTables(whole, place, UInt8.random(in: 0..<8, using: &random), hasCopy: true)
      }
    }
  }

  @Test("a column of another name is found without that copy, too")
  func columns() throws {
    let file = try ledger(path).storage()
    try Self.fill(file, 1...20)
    try file.close()
    let whole = try #require(SharedFolder.bytes(ofFile: path))
    for (text, column) in [("CREATE TABLE job (", "number"), ("CREATE TABLE relay (", "job")] {
      let start = try #require(whole.prefix(4_096).firstRange(of: Array((text + column).utf8))).lowerBound
      for place in 0..<column.utf8.count {
        try openWithChangedTables(whole, start + text.utf8.count + place, 0, hasCopy: false)
      }
    }
  }

  /// Opens a copy of the ledger of 20 rows in which one bit is another.
  private func openWithChangedTables(_ whole: [UInt8], _ place: Int, _ bit: UInt8, hasCopy: Bool) throws {
    let home = try TemporaryDirectory()
    let copy = home.path + "/jobs.db"
    DamageCase(damage: .cutOff, isLog: true, seed: 0).strike(copyOf: path, at: copy)
    if !hasCopy { unlink(copy + ".first-page") }
    let descriptor = open(copy, O_RDWR | O_CLOEXEC)
    #expect(pwrite(descriptor, [whole[place] ^ (1 << bit)], 1, off_t(place)) == 1)
    close(descriptor)
    let (opened, contents, rescue) = try ledger(copy).open(now: 7, load: Self.load)
    try Self.fill(opened, 21...21)
    try opened.close()
    #expect(rescue != nil, "byte \(place) is missed")
    let words = "byte \(place), bit \(bit): \(rescue?.text ?? "")"
    #expect(contents.jobs == Set(1...20) && contents.relayCount == 60, "\(words)")
  }

  @Test("tells commits that are missing once, by their number, and leaves a note")
  func missing() throws {
    let file = try ledger(path).storage()
    try Self.fill(file, 1...5)
    let copy = directory.path + "/copy.db"
    DamageCase(damage: .flippedBit, isLog: true, seed: 0).strike(copyOf: path, at: copy)
    // The log as it was two commits before; the count beside it is of all.
    let log = try #require(SharedFolder.bytes(ofFile: path + "-wal"))
    let descriptor = open(copy + "-wal", O_WRONLY | O_TRUNC | O_CLOEXEC)
    #expect(log.withUnsafeBytes { write(descriptor, $0.baseAddress, log.count / 2) } == log.count / 2)
    close(descriptor)
    let (opened, contents, rescue) = try ledger(copy).open(now: 9, load: Self.load)
    let told = try #require(rescue)
    #expect(told.quarantinePath == nil && told.missingCommitCount == Int64(5 - contents.jobs.count))
    #expect(
      SharedFolder.text(ofFile: copy + ".missing-9")?.contains("its last \(told.missingCommitCount) commits") == true)
    try opened.close()
    #expect(try ledger(copy).open(now: 10, load: Self.load).2 == nil)
    try file.close()
  }

  @Test("counts nothing that changes nothing, and takes a program from before the count for no loss")
  func unchanged() throws {
    let file = try ledger(path).storage()
    try Self.fill(file, 1...2)
    for _ in 0..<5 { try file.writeNow { try $0.execute("DELETE FROM job WHERE number = 99") } }
    try file.close()
    #expect(SharedFolder.text(ofFile: path + ".commits")?.hasPrefix("2 1 ") == true)
    let old = try StorageFile(path: path, StorageSettings(durability: .full), migrations: Self.migrations)
    try Self.fill(old, 3...4)
    try old.close()
    let (opened, contents, rescue) = try ledger(path).open(now: 7, load: Self.load)
    #expect(contents.jobs.count == 4 && rescue == nil)
    try opened.close()
  }

  @Test("that is small comes back with what can be read; as a cache it is begun again", arguments: DamageCase.all())
  func small(_ damage: DamageCase) throws {
    func ledger(_ path: String) -> LedgerFile {
      LedgerFile(path: path, .small, Self.small, table: "relay", noun: "added relays")
    }
    let file = try ledger(path).storage()
    for number in 0..<12 {
      try file.writeNow { session in
        try session.execute("INSERT INTO relay VALUES ('wss://relay\(number).example', 1)")
      }
    }
    if !damage.isLog { try file.close() }
    let (copy, cache) = (directory.path + "/copy.db", directory.path + "/cache.db")
    damage.strike(copyOf: path, at: copy)
    damage.strike(copyOf: path, at: cache)
    func load(_ file: StorageFile) throws(StorageFault) -> [String] {
      try file.readNow { session in
        let statement = try session.statement("SELECT url FROM relay ORDER BY url")
        var urls: [String] = []
        while try statement.step() { urls.append(statement.text(0)) }
        return urls
      }
    }
    let (opened, urls, rescue) = try ledger(copy).open(now: 7, load: load)
    #expect(urls.count == 12 || rescue != nil)
    try opened.close()
    let (begun, dropped) = try ledger(cache).openCache()
    #expect(try dropped == nil || load(begun).isEmpty)
    try begun.writeNow { try $0.execute("INSERT OR REPLACE INTO relay VALUES ('wss://new.example', 1)") }
    try begun.close()
    try file.close()
  }
}
