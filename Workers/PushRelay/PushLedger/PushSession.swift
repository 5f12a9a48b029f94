internal import Cryptography
public import PushDelivery
public import Storage

extension PushOwner: Column {
  /// Its bytes.
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(bytes, at: index) }
}

/// The ledger's rows, for the time of one transaction that writes.
///
/// Counters are read when it begins and written when it ends, once for all commands: what a transaction that fails has
/// counted was never so.
final class PushSession {
  let session: StorageSession
  let keys: LedgerKeys
  private let bounds: TableBounds
  private var counters: [String: Int64]
  private var changed: Set<String> = []
  /// Rows of devices that the present command has taken away.
  var removed: [Int64] = []

  /// Seconds up to which signed messages may have been forgotten.
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

  /// Writes the counters that have changed; the last thing of a transaction.
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

  /// Whether each of these tables takes one row more.
  func hasRoom(_ tables: BoundedTable...) -> Bool { hasRoom(tables) }

  func hasRoom(_ tables: [BoundedTable]) -> Bool {
    tables.allSatisfy { counter($0.counter) < bounds.rowMaximum(of: $0) }
  }

  /// Deletes rows that are over, at most `limit`, by the columns of their key.
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

  /// Those rows, once.
  func takeRemoved() -> [Int64] {
    defer { removed = [] }
    return removed
  }

  // MARK: Signed messages

  /// What a message was answered, if it came before; `stale` for one that may have come before; `unavailable` when it
  /// could not be remembered.
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

  /// Whether a message may have come before without its being known.
  func isForgotten(_ message: SignedMessage) -> Bool { message.timestamp < counter(Self.notBefore) }

  /// Keeps what a message was answered.
  func keep(_ answer: LedgerAnswer, to message: SignedMessage) throws {
    guard let bytes = KeptAnswer.bytes(answer) else { return }
    try session.run(
      "INSERT INTO replay (owner, message, expiresAt, answer) VALUES (?, ?, ?, ?)",
      message.owner, message.hash.bytes, message.expiresAt, bytes)
    add(1, to: .replay)
  }
}
