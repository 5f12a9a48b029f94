import Cryptography
import Glibc
import PushDelivery
@testable import PushLedger
import Storage
import Synchronization
import TestSupport

/// A ledger in a directory of its own, and short words for what is asked of it.
final class LedgerBench {
  static let now: Int64 = 1_750_000_000
  static let month: Int64 = 30 * 86_400
  /// Owners.
  static let (alice, bob, carol) = (owner(1), owner(2), owner(3))

  let directory: TemporaryDirectory
  let path: String
  let ring: TokenKeyRing
  var ledger: PushLedger

  init(ring: TokenKeyRing? = nil) throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/push.db"
    self.ring = try ring ?? Self.ring("k1")
    ledger = try PushLedger(path: path, keyRing: self.ring)
  }

  /// A new ring of random keys under these names, the newest first.
  static func ring(_ names: String...) throws -> TokenKeyRing {
    try TokenKeyRing(Array(names.map { line($0) }.joined(separator: "\n").utf8))
  }

  static func line(_ name: String) -> String { "\(name):\(Base64.encode(RandomBytes.make(32)))" }

  static func owner(_ number: UInt8, _ realm: PushOwner.Realm = .pubky) -> PushOwner {
    PushOwner(realm, SHA256.hash([number]))
  }

  /// A token that stands in no other test's file by accident.
  static func token(_ number: Int) -> PushToken {
    .apple(SHA256.hash(Array("token \(number)".utf8)).bytes)
  }

  func message(_ owner: PushOwner, at: Int64 = 0, _ text: String? = nil) -> SignedMessage {
    let hash = text.map { SHA256.hash(Array($0.utf8)) } ?? Octets32(RandomBytes.make(32))!
    return SignedMessage(owner: owner, hash: hash, timestamp: Self.now + at)
  }

  /// A registration, signed some seconds after the beginning.
  func registration(
    _ owner: PushOwner, _ id: String?, _ token: PushToken, at: Int64 = 0, capabilities: [String] = []
  ) -> RegisterCommand {
    RegisterCommand(
      message: message(owner, at: at), deviceID: id, token: token, capabilities: capabilities, now: Self.now + at,
      expiresAt: Self.now + at + Self.month)
  }

  func removal(_ owner: PushOwner, _ choice: DeviceChoice, at: Int64 = 0) -> UnregisterCommand {
    UnregisterCommand(message: message(owner, at: at), choice: choice)
  }

  /// A wake that goes into the queue if the recipient has a device for it, and is answered alike.
  func wake(
    _ sender: PushOwner, _ recipient: PushOwner, at: Int64 = 0, nonce: [UInt8]? = nil, body: String = "body",
    type: String = "noise_connect", payload: [UInt8]? = Array("sealed by the sender".utf8)
  ) -> WakeCommand {
    let milliseconds = (Self.now + at) * 1_000
    let wake = Wake(
      id: RandomBytes.make(16), recipient: recipient, sender: sender, type: type, payload: payload,
      nonce: nonce ?? RandomBytes.make(16), acceptedAt: milliseconds, expiresAt: milliseconds + 60_000)
    return WakeCommand(message: message(sender, at: at), wake: wake, bodyHash: SHA256.hash(Array(body.utf8))) {
      WakeRuling(.queued, isQueued: $0.deviceCount > 0 && $0.contact != .blocked, isTold: $0.contact == .allowed)
    }
  }

  /// One command, done now.
  @discardableResult
  func run(_ command: PushWrite) throws -> LedgerAnswer { try ledger.writeNow([command])[0] }

  @discardableResult
  func register(
    _ owner: PushOwner, _ id: String?, _ token: PushToken, at: Int64 = 0, capabilities: [String] = []
  ) throws -> PushRegistration {
    let answer = try run(.register(registration(owner, id, token, at: at, capabilities: capabilities)))
    guard case .registered(let registration) = answer else { throw Unexpected(answer: answer) }
    return registration
  }

  func devices(_ owner: PushOwner, at: Int64 = 0) async throws -> [PushDevice] {
    try await ledger.devices(of: owner, now: Self.now + at)
  }

  func openWakes() async throws -> [OpenWake] { try await ledger.openWakes(after: 0, limit: 1_000) }

  /// As after `kill -9`: the files as they lie there, under another name, opened anew.
  func killed(_ name: String) throws -> PushLedger {
    let copy = "\(directory.path)/\(name).db"
    for suffix in ["", "-wal"] { try Self.write(Self.bytes(path + suffix), to: copy + suffix) }
    return try PushLedger(path: copy, keyRing: ring)
  }

  /// Closes it and opens it again.
  func reopen(_ ring: TokenKeyRing? = nil) throws {
    try ledger.close()
    ledger = try PushLedger(path: path, keyRing: ring ?? self.ring)
  }

  /// Goes at the closed file as somebody who has it would: without the program.
  func tamper(_ statements: String) throws {
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    try file.writeNow { session in try session.execute(statements) }
    try file.close()
  }

  /// The ciphertext of the device with this name, as somebody sees it who has the closed file.
  func sealed(_ id: String) throws -> [UInt8]? {
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    let bytes = try file.readNow { session -> [UInt8]? in
      let statement = try session.statement("SELECT sealed FROM device WHERE id = ?")
      statement.bind(id, at: 1)
      guard try statement.step() else { return nil }
      defer { statement.reset() }
      return statement.bytes(0)
    }
    try file.close()
    return bytes
  }

  /// Rows of a table.
  func count(_ table: String) throws -> Int64 {
    try ledger.file.readNow { session in try session.count("SELECT count(*) FROM \(table)") }
  }

  /// Tables whose rows are not as many as are counted.
  func miscounted() throws -> [String] {
    try ledger.file.readNow { session in
      try BoundedTable.allCases.filter { table in
        let counted = try session.count("SELECT value FROM counter WHERE name = ?", table.counter)
        return try session.count("SELECT count(*) FROM \(table.rawValue)") != counted
      }.map(\.rawValue)
        + (try session.count(
          """
          SELECT (SELECT ifnull(sum(length(payload)), 0) FROM wake) <> (SELECT value FROM counter WHERE name = ?)
          """, PushSession.wakeBytes) != 0 ? ["bytes"] : [])
    }
  }

  /// Makes the open ledger believe that a table has so many rows.
  func setCounter(_ name: String, _ value: Int64) throws {
    try ledger.file.writeNow { session in
      try session.run("INSERT OR REPLACE INTO counter VALUES (?, ?)", name, value)
    }
  }

  static func bytes(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var found: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(file, &buffer, buffer.count), count > 0 { found += buffer[..<count] }
    return found
  }

  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else { throw Unexpected(answer: .done) }
  }

  /// Whether some bytes stand anywhere in the file or beside it.
  func fileHolds(_ bytes: [UInt8]) -> Bool {
    ["", "-wal"].contains { suffix in
      Self.bytes(path + suffix).withUnsafeBytes { file in bytes.withUnsafeBytes { Self.stands($0, in: file) } }
    }
  }

  private static func stands(_ bytes: UnsafeRawBufferPointer, in file: UnsafeRawBufferPointer) -> Bool {
    guard var place = file.baseAddress, let first = bytes.first, let wanted = bytes.baseAddress else { return false }
    let end = place + file.count
    while end - place >= bytes.count, let found = memchr(place, Int32(first), end - place - bytes.count + 1) {
      if memcmp(found, wanted, bytes.count) == 0 { return true }
      place = UnsafeRawPointer(found) + 1
    }
    return false
  }
}

/// Keeps what a decision was shown.
final class Standing: Sendable {
  private let kept = Mutex<[WakeStanding]>([])

  var seen: [WakeStanding] { kept.withLock { $0 } }

  func deciding(_ ruling: WakeRuling) -> @Sendable (WakeStanding) -> WakeRuling {
    { standing in
      self.kept.withLock { $0.append(standing) }
      return ruling
    }
  }
}

/// Numbers that follow from a seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}

struct Unexpected: Error {
  let answer: LedgerAnswer
}
