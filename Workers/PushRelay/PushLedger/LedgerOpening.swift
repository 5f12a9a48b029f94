internal import Cryptography
internal import Storage

// A ring that does not belong to the file is reported before anything is done: with a wrong key every token would look
// like a damaged row, and with a missing key those under it would. The file knows its keys by name and mark. A key
// under which it has nothing may be missing.

/// What is done once when the ledger is opened, in one transaction.
struct LedgerOpening {
  let session: StorageSession
  let ring: TokenKeyRing
  /// Whether the file was just filled from a damaged one, and may lack what an intact one has.
  let isRescue: Bool

  func open() throws -> LedgerKeys {
    let keys = try keys()
    try recount()
    return keys
  }

  /// Checks that the ring belongs to the file, and records its newest key in the file.
  func keys() throws -> LedgerKeys {
    var numbered = try knownKeys()
    let newestNumber: Int64
    if let number = numbered.first(where: { $0.value === ring.newest })?.key {
      newestNumber = number
    } else {
      try session.run(
        "INSERT INTO ringKey (name, mark) VALUES (?, ?)", ring.newest.name, ring.newest.mark)
      newestNumber = try session.count("SELECT last_insert_rowid()")
      numbered[newestNumber] = ring.newest
    }
    let root = try root(numbered) ?? makeRoot(newestNumber)
    return LedgerKeys(root: root, ring: ring, numbered: numbered, newestNumber: newestNumber)
  }

  // MARK: The ring

  private func knownKeys() throws -> [Int64: RingKey] {
    var numbered: [Int64: RingKey] = [:]
    let rows = try session.rows("SELECT number, name, mark FROM ringKey") { ($0.number(0), $0.text(1), $0.bytes(2)) }
    for (number, name, mark) in rows {
      let key = ring.key(name)
      if let key, key.mark == mark {
        numbered[number] = key
      } else if try isInUse(number) {
        throw key == nil ? try missing(name, number) : wrong(name)
      } else {
        try session.run("DELETE FROM ringKey WHERE number = ?", number)
      }
    }
    // The platforms can give credentials again.
    let numbers = numbered.keys.sorted().map(String.init).joined(separator: ",")
    try session.run("DELETE FROM credential WHERE ringKey NOT IN (\(numbers))")
    return numbered
  }

  private func isInUse(_ number: Int64) throws -> Bool {
    try session.count(
      """
      SELECT EXISTS (SELECT 1 FROM secret WHERE ringKey = ?1)
        OR EXISTS (SELECT 1 FROM device WHERE ringKey = ?1 AND isQuarantined = 0)
      """, number) != 0
  }

  private func missing(_ name: String, _ number: Int64) throws -> StorageFault {
    let count = try session.count(
      "SELECT count(*) FROM device WHERE ringKey = ? AND isQuarantined = 0", number)
    guard count > 0 else {
      return StorageFault(
        .failed, path: session.path,
        "keeps no token, but its own secret under the key '\(name)', which the key ring "
          + "(\(ring.names.joined(separator: ", "))) does not have; copy the line '\(name)' into the ring, at its end, "
          + "or move the file away: no device is registered in it")
    }
    return StorageFault(
      .failed, path: session.path,
      "keeps tokens (\(count)) under the key '\(name)', which the key ring (\(ring.names.joined(separator: ", "))) "
        + "does not have; put its line back, and take it away when 'rekey' says that nothing is left under it")
  }

  private func wrong(_ name: String) -> StorageFault {
    StorageFault(
      .failed, path: session.path,
      "was written under another key of the name '\(name)' than the key ring has; put the right key back, and give a "
        + "new key a new name")
  }

  // MARK: The ledger's own key

  private func root(_ numbered: [Int64: RingKey]) throws -> SecretMemory? {
    let row = try session.first("SELECT ringKey, sealed FROM secret") { ($0.number(0), $0.bytes(1)) }
    if let (number, sealed) = row, let key = numbered[number], let root = LedgerKeys.root(sealed, under: key) {
      return root
    }
    // Without this key the values derived from it have no meaning; only a rescue computes them again.
    let isNew = try row == nil && session.count("SELECT EXISTS (SELECT 1 FROM device)") == 0
    guard isNew || isRescue else {
      throw StorageFault(.corrupt, path: session.path, "the key that it keeps for itself cannot be read")
    }
    return nil
  }

  private func makeRoot(_ newestNumber: Int64) throws -> SecretMemory {
    let root = SecretMemory(byteCount: LedgerKeys.byteCount) { RandomBytes.fill($0) }
    try session.run(
      "INSERT OR REPLACE INTO secret (number, ringKey, sealed) VALUES (1, ?, ?)",
      newestNumber, LedgerKeys.seal(root, under: ring.newest))
    return root
  }

  // MARK: Counters

  /// Counts the rows again: whatever happened before, the bounds hold from here on. It also reads every table once.
  private func recount() throws {
    for table in BoundedTable.allCases {
      try set(table.counter, try session.count("SELECT count(*) FROM \(table.rawValue)"))
    }
    try set(PushSession.wakeBytes, try session.count("SELECT ifnull(sum(length(payload)), 0) FROM wake"))
  }

  private func set(_ name: String, _ value: Int64) throws {
    try session.run(
      "INSERT OR REPLACE INTO counter (name, value) VALUES (?, ?)", name, value)
  }
}
