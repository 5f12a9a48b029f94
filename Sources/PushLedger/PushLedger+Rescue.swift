internal import Cryptography
internal import PushDelivery
public import Storage

// A damaged ledger is put aside, and a new one is filled with the rows that can still be read (`RescuableFile`), as
// they are: of tokens the ciphertext. Then every token is opened once. One that opens under none of the ring's keys is
// out of use until its device registers again. Where the ledger's own key is lost, tokens get new numbers to be found
// by, and devices without a name keep the one they had.
//
// What cannot be read may have been the trace of a message that was answered: none signed before the rescue is taken
// any more then. Wakes that are lost are lost; they would have been worthless in a minute.

/// What was saved of a damaged ledger.
public struct PushRescue: Sendable, Hashable {
  /// Where the damaged file is now.
  public let quarantinePath: String
  /// Devices in the new one, those out of use among them.
  public internal(set) var savedDevices = 0
  /// Of these, devices whose token does not open.
  public internal(set) var brokenDevices = 0
  /// Why reading ended before the end, if it did.
  public internal(set) var reason: String?
}

extension PushLedger {
  /// Opens the ledger; if it is damaged, or was found so by ``markDamaged()``, puts it aside and makes another of what
  /// can be read.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - keyRing: the keys under which its tokens are.
  ///   - now: Unix seconds, for the name of the damaged file and for messages that are not taken any more.
  ///   - requestsPerMinute: what the limits let through; messages and wakes have room for as many.
  /// - Throws: as ``init(path:keyRing:requestsPerMinute:)``, but for `corrupt`. A ring that is not the file's is no
  ///   damage.
  public static func openOrRescue(
    path: String, keyRing: TokenKeyRing, now: Int64, requestsPerMinute: Int = PushLedger.requestsPerMinute
  ) throws(StorageFault) -> (PushLedger, PushRescue?) {
    var rescue: PushRescue?
    let (ledger, quarantine) = try RescuableFile(path: path).open(now: now) { path throws(StorageFault) in
      try PushLedger(path: path, keyRing: keyRing, requestsPerMinute: requestsPerMinute)
    } refill: { unfinished, damaged throws(StorageFault) in
      var report = PushRescue(quarantinePath: damaged.path)
      try copy(from: damaged.path, to: unfinished, now: now, &report)
      let ledger = try PushLedger(
        path: unfinished, keyRing: keyRing, requestsPerMinute: requestsPerMinute, isRescue: true)
      try ledger.repair(&report)
      try ledger.close()
      rescue = report
    }
    return (ledger, rescue ?? quarantine.map { PushRescue(quarantinePath: $0.path) })
  }

  /// Says that the file was found to be damaged while it was in use: the next start rescues what it can.
  public func markDamaged() { RescuableFile(path: path).markDamaged() }

  // MARK: Rows as they are

  private static func copy(
    from damaged: String, to unfinished: String, now: Int64, _ report: inout PushRescue
  ) throws(StorageFault) {
    let new = try storage(unfinished)
    var settings = StorageSettings(durability: .normal)
    settings.isDamaged = true
    let old: StorageFile?
    do throws(StorageFault) {
      old = try StorageFile(path: damaged, settings, migrations: PushSchema.migrations)
    } catch {
      old = nil
      report.reason = error.reason
    }
    if let old {
      for table in RescuedTable.all {
        if let reason = try table.copy(from: old, to: new) { report.reason = reason }
      }
      do throws(StorageFault) { try old.close() } catch { report.reason = error.reason }
    }
    if report.reason != nil {
      try new.writeNow { session in
        try session.run(
          "INSERT OR REPLACE INTO counter (name, value) VALUES (?, ?)", [.text(PushSession.notBefore), .number(now)])
      }
    }
    try new.close()
  }

  // MARK: Tokens

  private static var repairCount: Int64 { 500 }

  private func repair(_ report: inout PushRescue) throws(StorageFault) {
    var last: Int64 = 0
    while true {
      let (numbers, broken) = try file.writeNow { session in
        let ledger = try PushSession(session, keys, bounds)
        let rows = try session.rows(
          "SELECT \(DeviceRow.columns) FROM device WHERE number > ? ORDER BY number LIMIT ?",
          [.number(last), .number(Self.repairCount)]
        ) { (number: $0.number(0), row: DeviceRow($0)) }
        var broken = 0
        for (number, row) in rows where try !ledger.repair(row) {
          try ledger.quarantine(number)
          broken += 1
        }
        try ledger.finish()
        return (rows.map(\.number), broken)
      }
      report.savedDevices += numbers.count
      report.brokenDevices += broken
      guard let end = numbers.last else { return }
      last = end
    }
  }
}

extension PushSession {
  /// Whether the token opens. Then it is under the newest key, and is found by its number.
  fileprivate func repair(_ row: DeviceRow?) throws -> Bool {
    guard var row else { return false }
    let named = keys.numbered[row.ringKey].map { [$0] } ?? []
    for key in named + keys.ring.keys {
      guard let token = row.token(under: key) else { continue }
      row.seal(token, keys)
      row.tokenIndex = keys.index(of: token)
      row.isQuarantined = false
      try update(row)
      return true
    }
    return false
  }
}

/// A table whose rows are copied as they are.
private struct RescuedTable {
  enum Kind {
    case number, bytes, text
  }

  let name: String
  let columns: [(name: String, kind: Kind)]
  /// The key's columns.
  let key: [String]

  private static let batchCount = 500

  private init(_ name: String, key: String..., columns: String) {
    self.name = name
    self.key = key
    // As in the schema: the letter says what a column holds.
    self.columns = columns.split(separator: " ").map { column in
      let parts = column.split(separator: ":")
      let kind: Kind = parts[1] == "n" ? .number : parts[1] == "b" ? .bytes : .text
      return (String(parts[0]), kind)
    }
  }

  static let all = [
    RescuedTable("ringKey", key: "number", columns: "number:n name:t mark:b"),
    RescuedTable("secret", key: "number", columns: "number:n ringKey:n sealed:b"),
    RescuedTable(
      "device", key: "number",
      columns: "number:n owner:b id:t isNamed:n relayID:t platform:n ringKey:n sealed:b tokenIndex:b capabilities:b "
        + "signedAt:n registeredAt:n expiresAt:n isVerified:n isQuarantined:n sealingKey:b"),
    RescuedTable("tombstone", key: "owner", "id", columns: "owner:b id:t signedAt:n expiresAt:n"),
    RescuedTable(
      "challenge", key: "number",
      columns: "number:n device:n tokenIndex:b codeHash:b issuedAt:n expiresAt:n attempts:n"),
    RescuedTable(
      "account", key: "owner", columns: "owner:b policy:t policySignedAt:n signedAt:n keepUntil:n watchedSince:n"),
    RescuedTable("contact", key: "owner", "other", columns: "owner:b other:b kind:n"),
    RescuedTable("replay", key: "owner", "message", columns: "owner:b message:b expiresAt:n answer:b"),
    RescuedTable("nonce", key: "number", columns: "number:n sender:b nonce:b body:b expiresAt:n answer:b"),
    RescuedTable(
      "wake", key: "number",
      columns: "number:n id:b recipient:b sender:b type:t payload:b nonce:b acceptedAt:n expiresAt:n isDropped:n "
        + "topic:t event:b"),
    RescuedTable("delivery", key: "wake", "device", columns: "wake:n device:n"),
    RescuedTable("status", key: "id", columns: "id:b sender:b state:n isTold:n keepUntil:n"),
    RescuedTable("credential", key: "name", columns: "name:t ringKey:n sealed:b savedAt:n"),
    RescuedTable("limits", key: "number", columns: "number:n snapshot:b savedAt:n isClean:n"),
    RescuedTable("rules", key: "owner", columns: "owner:b rules:b signedAt:n"),
    RescuedTable("eventSeen", key: "owner", "event", columns: "owner:b event:b expiresAt:n"),
    RescuedTable("counter", key: "name", columns: "name:t value:n"),
  ]

  /// Copies what can be read; from both ends where a broken page ends a walk.
  ///
  /// - Returns: why it is not all, if so.
  func copy(from old: StorageFile, to new: StorageFile) throws(StorageFault) -> String? {
    var reason: String?
    for direction in ["ASC", "DESC"] {
      let order = key.map { "\($0) \(direction)" }.joined(separator: ", ")
      let names = columns.map(\.name).joined(separator: ", ")
      var writing: StorageFault?
      do throws(StorageFault) {
        try old.readNow { session in
          let statement = try session.statement("SELECT \(names) FROM \(name) NOT INDEXED ORDER BY \(order)")
          var batch: [[Column]] = []
          func flush() throws {
            do throws(StorageFault) { try insert(batch, into: new) } catch {
              writing = error
              throw error
            }
            batch = []
          }
          do {
            while try statement.step() {
              batch.append(row(statement))
              if batch.count == Self.batchCount { try flush() }
            }
          } catch {
            statement.reset()
            if writing == nil { try flush() }
            throw error
          }
          try flush()
        }
        return reason
      } catch {
        if let writing { throw writing }
        reason = error.reason
      }
    }
    return reason
  }

  private func row(_ statement: StorageStatement) -> [Column] {
    columns.indices.map { index in
      let place = Int32(index)
      if statement.isNull(place) { return .null }
      switch columns[index].kind {
      case .number: return .number(statement.number(place))
      case .bytes: return .bytes(statement.bytes(place))
      case .text: return .text(statement.text(place))
      }
    }
  }

  private func insert(_ rows: [[Column]], into new: StorageFile) throws(StorageFault) {
    let names = columns.map(\.name).joined(separator: ", ")
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    try new.writeNow { session in
      for row in rows { try session.run("INSERT OR IGNORE INTO \(name) (\(names)) VALUES (\(places))", row) }
    }
  }
}
