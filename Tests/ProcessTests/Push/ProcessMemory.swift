import Glibc
import LinuxSystem
import TestSupport

/// What another process has in its memory that it can write to.
struct ProcessMemory {
  private let process: Int32

  private static let pieceByteCount = 1 << 20

  init(_ process: Int32) throws { self.process = process }

  /// Whether some bytes stand anywhere in it.
  func holds(_ wanted: [UInt8]) throws -> Bool {
    let file = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw DeadlinePassed(description: "the memory of \(process) cannot be read: \(errno)") }
    defer { Descriptors.close(file) }
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    for (start, end) in try areas() {
      var place = start
      while place < end {
        let count = pread(file, &piece, min(piece.count, Int(end - place)), off_t(truncatingIfNeeded: place))
        // Some areas are nobody's to read.
        guard count > 0 else { break }
        let isThere = piece.withUnsafeBytes { bytes in
          wanted.withUnsafeBytes { Self.stands($0, in: UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        }
        if isThere { return true }
        guard count > wanted.count, place + UInt64(count) < end else { break }
        place += UInt64(count - wanted.count)
      }
    }
    return false
  }

  private static func stands(_ wanted: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Bool {
    guard var place = bytes.baseAddress, let first = wanted.first, let start = wanted.baseAddress else { return false }
    let end = place + bytes.count
    while end - place >= wanted.count, let found = memchr(place, Int32(first), end - place - wanted.count + 1) {
      if memcmp(found, start, wanted.count) == 0 { return true }
      place = UnsafeRawPointer(found) + 1
    }
    return false
  }

  private func areas() throws -> [(UInt64, UInt64)] {
    let file = open("/proc/\(process)/maps", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw DeadlinePassed(description: "the map of \(process) cannot be read: \(errno)") }
    defer { Descriptors.close(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(file, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", maxSplits: 2)
      let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard words[1].hasPrefix("r"), ends.count == 2 else { return nil }
      return (ends[0], ends[1])
    }
  }
}
