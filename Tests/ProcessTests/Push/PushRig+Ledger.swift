import Cryptography
import Glibc
import LinuxSystem
import Storage
import TestSupport
import Testing

extension PushRig {
  /// The relay's ledger.
  var ledgerPath: String { roost.path("state/push-relay/push.db") }
  /// The relay's key ring.
  var ringPath: String { roost.path("state/push-relay/keys") }

  /// The first column of what a question to the ledger finds, asked beside the relay.
  func column(_ sql: String) throws -> [Int] {
    let file = try StorageFile(path: ledgerPath, StorageSettings(durability: .normal), migrations: [])
    defer { try? file.close() }
    return try file.readNow { session in
      let statement = try session.statement(sql)
      defer { statement.reset() }
      var values: [Int] = []
      while try statement.step() { values.append(Int(statement.number(0))) }
      return values
    }
  }

  // MARK: The key ring

  static func keyLine(_ name: String) -> String { "\(name):\(Base64.encode(RandomBytes.make(32)))" }

  /// The lines of the ring that are keys, the newest first.
  func keyLines() -> [String] { roost.lines("state/push-relay/keys").filter { !$0.hasPrefix("#") } }

  func writeRing(_ lines: [String], mode: mode_t = 0o600) throws {
    let draft = ringPath + ".test"
    unlink(draft)
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    try Descriptors.writeAll((lines + [""]).joined(separator: "\n"), to: file)
    Descriptors.close(file)
    guard chmod(draft, mode) == 0, rename(draft, ringPath) == 0 else {
      throw DeadlinePassed(description: "no key ring can be written")
    }
  }

  /// Puts a new key on top of the ring.
  func addKey(_ name: String) throws { try writeRing([Self.keyLine(name)] + keyLines()) }
}
