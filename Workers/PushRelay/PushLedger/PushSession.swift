internal import Cryptography
public import PushDelivery
public import Storage

extension PushOwner: Column {
  /// Its bytes.
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(bytes, at: index) }
}

/// The ledger's rows, during one writing transaction.
///
/// Counters are read when it begins and written when it ends, once for all commands: so a failed transaction counts
/// nothing.
final class PushSession {
  let session: StorageSession
  let keys: LedgerKeys
  private let bounds: TableBounds
  private var counters: [String: Int64]
  private var changed: Set<String> = []
  /// Rows of devices that the present command has removed.
  var removed: [Int64] = []

  /// The second up to which signed messages may have been forgotten.
  static let notBefore = "notBefore"
  /// Bytes of payloads in the queue.
  static let wakeBytes = "bytes.wake"

  init(_ session: StorageSession, _ keys: LedgerKeys, _ bounds: TableBounds) throws {
    self.session = session
    self.keys = keys
    self.bounds = bounds
    let rows = try session.rows("SELECT name, value FROM counter") { ($0.text(0), $0.number(1)) }
    counters = Dictionary(rows) { first, _ in first }
  }

  /// Writes the counters that have changed; the last step of a transaction.
  func finish() throws {
    for name in changed.sorted() {
      try session.run(
        "INSERT OR REPLACE INTO counter (name, value) VALUES (?, ?)", name, counters[name] ?? 0)
    }
    changed = []
  }

  func counter(_ name: String) -> Int64 { counters[name] ?? 0 }

  func set(_ name: String, _ value: Int64) {
    guard counters[name] != value else { return }
    counters[name] = value
    changed.insert(name)
  }

  func add(_ count: Int, to name: String) {
    if count != 0 { set(name, counter(name) + Int64(count)) }
  }

  func add(_ count: Int, to table: BoundedTable) { add(count, to: table.counter) }

  func add(_ count: Int = 1, to total: PushTotal) { add(count, to: total.counter) }

  /// Whether each of these tables has room for one more row.
  func hasRoom(_ tables: BoundedTable...) -> Bool { hasRoom(tables) }

  func hasRoom(_ tables: [BoundedTable]) -> Bool {
    tables.allSatisfy { counter($0.counter) < bounds.rowMaximum(of: $0) }
  }

  /// Deletes expired rows, at most `limit`, by the columns of their key.
  ///
  /// - Returns: how many.
  func removeOld(_ table: BoundedTable, key: String, expiry: String = "expiresAt", now: Int64, limit: Int) throws -> Int
  {
    try session.run(
      """
      DELETE FROM \(table.rawValue) WHERE (\(key)) IN
        (SELECT \(key) FROM \(table.rawValue) WHERE \(expiry) <= ? LIMIT ?)
      """, now, limit)
    let count = session.changedRowCount
    add(-count, to: table)
    return count
  }

  /// The removed rows, once.
  func takeRemoved() -> [Int64] {
    defer { removed = [] }
    return removed
  }

  // MARK: Signed messages

  /// The earlier answer to a repeated message; `stale` for a message that may be a repetition; `unavailable` if its
  /// answer could not be stored.
  func answer(to message: SignedMessage) throws -> LedgerAnswer? {
    if isForgotten(message) { return .stale }
    let kept = try session.first(
      "SELECT answer FROM replay WHERE owner = ? AND message = ?", message.owner, message.hash.bytes
    ) { $0.bytes(0) }
    if let kept {
      guard let answer = KeptAnswer.answer(kept) else {
        throw StorageFault(.corrupt, path: session.path, "an answer that was kept cannot be one")
      }
      add(to: .repeatedMessages)
      return answer
    }
    return hasRoom(.replay) ? nil : .unavailable
  }

  /// Whether a message may have been answered without a record of it.
  func isForgotten(_ message: SignedMessage) -> Bool { message.timestamp < counter(Self.notBefore) }

  /// Stores the answer to a message.
  func keep(_ answer: LedgerAnswer, to message: SignedMessage) throws {
    guard let bytes = KeptAnswer.bytes(answer) else { return }
    try session.run(
      "INSERT INTO replay (owner, message, expiresAt, answer) VALUES (?, ?, ?, ?)",
      message.owner, message.hash.bytes, message.expiresAt, bytes)
    add(1, to: .replay)
  }
}
