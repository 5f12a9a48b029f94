public import Clocks
internal import Glibc

/// What a failing disk does to a file.
public enum Damage: String, CaseIterable, Sendable {
  /// Its end is gone.
  case cutOff
  /// A page of 4096 bytes is all zeros.
  case zeroedPage
  /// One bit is another.
  case flippedBit

  /// Does it to a file; nothing where the file has no bytes.
  public func strike(_ path: String, _ random: inout SeededGenerator) {
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    let size = Int(lseek(file, 0, SEEK_END))
    guard size > 0 else { return }
    switch self {
    case .cutOff: ftruncate(file, off_t(Int.random(in: 0..<size, using: &random)))
    case .zeroedPage:
      let page = Int.random(in: 0..<max(1, size / 4_096), using: &random)
      let zeros = [UInt8](repeating: 0, count: min(4_096, size - page * 4_096))
      pwrite(file, zeros, zeros.count, off_t(page * 4_096))
    case .flippedBit:
      let place = off_t(Int.random(in: 0..<size, using: &random))
      var byte: UInt8 = 0
      pread(file, &byte, 1, place)
      byte ^= 1 << UInt8.random(in: 0..<8, using: &random)
      pwrite(file, &byte, 1, place)
    }
  }
}

/// One damage to one of a database's files.
public struct DamageCase: Sendable, CustomStringConvertible {
  /// What is done.
  public let damage: Damage
  /// Whether the log of writes is struck, of a killed process; else the file of one that was closed.
  public let isLog: Bool
  /// Where it is done.
  public let seed: UInt64

  /// A case of its own.
  public init(damage: Damage, isLog: Bool, seed: UInt64) {
    (self.damage, self.isLog, self.seed) = (damage, isLog, seed)
  }

  /// For a failure's report.
  public var description: String { "\(damage.rawValue) of the \(isLog ? "log" : "file"), seed \(seed)" }

  /// So many of each damage to file and log as `ROOST_DAMAGE_TRIALS` says.
  public static func all(standard: Int = 3) -> [DamageCase] {
    let seeds = seeds(amount("ROOST_DAMAGE_TRIALS", standard: standard))
    return Damage.allCases.flatMap { damage in
      [false, true].flatMap { isLog in seeds.map { DamageCase(damage: damage, isLog: isLog, seed: $0) } }
    }
  }

  /// Copies a database that is in use, as a kill would leave it, and strikes it there.
  ///
  /// - Parameters:
  ///   - path: the database.
  ///   - copy: where the copy is to be.
  public func strike(copyOf path: String, at copy: String) {
    for suffix in ["", "-wal", ".commits", ".first-page"] {
      guard let bytes = SharedFolder.bytes(ofFile: path + suffix) else { continue }
      let file = open(copy + suffix, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      close(file)
    }
    var random = SeededGenerator(seed: seed)
    damage.strike(isLog ? copy + "-wal" : copy, &random)
  }
}

extension SharedFolder {
  /// The whole file at `path` as text, or nil when it cannot be opened.
  public static func text(ofFile path: String) -> String? {
    bytes(ofFile: path).map { String(decoding: $0, as: UTF8.self) }
  }
}
