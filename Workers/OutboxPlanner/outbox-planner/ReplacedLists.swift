import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import Storage

/// Versions of lists that lost entries to the next one, on disk: `replaced.db` in the planner's directory.
///
/// Of each list the last few versions are kept, and the one with the most entries: a client that empties a list step by
/// step does not push out the complete version. Everything except the events is also in memory.
@EventLoopActor
final class ReplacedLists {
  private let file: StorageFile
  private let ledger: LedgerFile
  /// The newest is last.
  private(set) var lists: [ReplacedList]

  /// Most versions kept of one list.
  static let versionMaximum = 8
  /// Most versions kept of all lists; beyond that the oldest replacements go.
  static let countMaximum = 256
  /// How long a list that lost more than half of its entries is reported, in seconds.
  static let alarmSeconds: Int64 = 7 * 24 * 3_600

  private static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE replaced (
        id TEXT PRIMARY KEY, kind INTEGER NOT NULL, author TEXT NOT NULL, identifier TEXT NOT NULL,
        replaced_at INTEGER NOT NULL, entries INTEGER NOT NULL, entries_now INTEGER NOT NULL, event BLOB NOT NULL
      ) WITHOUT ROWID
      """)
  ]

  /// The result of the rescue, if the file was damaged.
  let rescue: LedgerRescue?

  /// - Parameters:
  ///   - directory: the planner's directory.
  ///   - now: seconds since 1970, for the name of a damaged file.
  init(directory: String, now: Int64) throws(StorageFault) {
    ledger = LedgerFile(
      path: directory + "/replaced.db", .small, Self.migrations, table: "replaced", noun: "replaced lists")
    (file, lists, rescue) = try ledger.open(now: now) { file throws(StorageFault) in try Self.load(file) }
  }

  private nonisolated static func load(_ file: StorageFile) throws(StorageFault) -> [ReplacedList] {
    try file.writeNow { session in
      let statement = try session.statement(
        "SELECT id, kind, author, identifier, replaced_at, entries, entries_now FROM replaced ORDER BY replaced_at, id")
      var lists: [ReplacedList] = []
      while try statement.step() {
        lists.append(
          ReplacedList(
            id: statement.text(0), kind: UInt16(clamping: statement.number(1)), author: statement.text(2),
            identifier: statement.text(3), replacedAt: statement.number(4), before: Int(statement.number(5)),
            after: Int(statement.number(6))))
      }
      return lists
    }
  }

  /// Marks the file as damaged: the next start rescues it.
  func markDamaged() { ledger.markDamaged() }

  /// Lists that have lost more than half of their entries, the newest first, each list once.
  func shrunk(at now: Int64) -> [ReplacedList] {
    var seen: Set<[String]> = []
    return lists.reversed().filter { list in
      list.isShrunk && now - list.replacedAt < Self.alarmSeconds
        && seen.insert(["\(list.kind)", list.author, list.identifier]).inserted
    }
  }

  /// Keeps a version. Versions above the bounds are removed by the next ``published(_:_:)``: until then nothing is
  /// replaced.
  ///
  /// - Returns: whether it was not kept before.
  func keep(_ list: ReplacedList, _ event: [UInt8]) async throws(StorageFault) -> Bool {
    guard !lists.contains(where: { $0.id == list.id }) else { return false }
    // Before the write: another call may check the same version during the write.
    lists.append(list)
    do throws(StorageFault) { try await write(list, event) } catch {
      lists.removeAll { $0.id == list.id }
      throw error
    }
    return true
  }

  private func write(_ list: ReplacedList, _ event: [UInt8]) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        "INSERT OR REPLACE INTO replaced VALUES (?, ?, ?, ?, ?, ?, ?, ?)", list.id, list.kind, list.author,
        list.identifier, list.replacedAt, list.before, list.after, event)
    }
  }

  /// Ids above the bounds: of each list the oldest versions except the largest, and of all versions the oldest.
  private var surplus: Set<String> {
    var gone: Set<String> = []
    for (_, versions) in Dictionary(grouping: lists, by: { [String($0.kind), $0.author, $0.identifier] }) {
      let largest = versions.max { $0.before < $1.before }?.id
      gone.formUnion(versions.filter { $0.id != largest }.dropLast(Self.versionMaximum - 1).map(\.id))
    }
    let left = lists.filter { !gone.contains($0.id) }
    return gone.union(left.dropLast(Self.countMaximum).map(\.id))
  }

  /// A version with this many entries was published: kept versions of the list record the number, and versions above
  /// the bounds are removed.
  func published(_ version: ReplacedList, _ count: Int) async throws(StorageFault) {
    let isChanged = lists.contains { Self.isSame($0, version) && $0.after != count }
    let gone = surplus
    guard isChanged || !gone.isEmpty else { return }
    try await file.write { session in
      for id in gone { try Self.remove(id, session) }
      try session.run(
        "UPDATE replaced SET entries_now = ? WHERE kind = ? AND author = ? AND identifier = ?", count, version.kind,
        version.author, version.identifier)
    }
    lists.removeAll { gone.contains($0.id) }
    for index in lists.indices where Self.isSame(lists[index], version) { lists[index].after = count }
  }

  /// Removes a version.
  func forget(_ id: String) async throws(StorageFault) {
    try await file.write { session in try Self.remove(id, session) }
    lists.removeAll { $0.id == id }
  }

  /// Removes all versions of an author's lists, and their traces in the file.
  ///
  /// - Returns: how many were kept.
  func forget(author: PublicKey) async throws(StorageFault) -> Int {
    let text = author.description
    let count = try await file.write { session in
      try session.run("DELETE FROM replaced WHERE author = ?", text)
      return session.changedRowCount
    }
    lists.removeAll { $0.author == text }
    _ = try await file.scrub()
    return count
  }

  /// The event of a version; nil when the version is not kept.
  func event(_ id: String) async throws(StorageFault) -> [UInt8]? {
    try await file.read { session in
      let statement = try session.statement("SELECT event FROM replaced WHERE id = ?", id)
      defer { statement.reset() }
      return try statement.step() ? statement.bytes(0) : nil
    }
  }

  /// Closes the file, with the write-ahead log merged into it. No call may follow.
  func close() throws(StorageFault) { try file.close() }

  private static func isSame(_ one: ReplacedList, _ other: ReplacedList) -> Bool {
    one.kind == other.kind && one.author == other.author && one.identifier == other.identifier
  }

  private nonisolated static func remove(_ id: String, _ session: StorageSession) throws {
    try session.run("DELETE FROM replaced WHERE id = ?", id)
  }
}
