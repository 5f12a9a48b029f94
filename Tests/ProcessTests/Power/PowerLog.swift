import Glibc
import TestSupport

/// What Tests/FaultInjector/PowerRecorder.c writes: every change of a state directory, in one order over all processes.
final class PowerLog {
  enum Kind: UInt16 {
    case create = 1
    case write, truncate, extend, rename, unlink, makeDirectory, removeDirectory, sync
  }

  /// One change; see the C header for what its fields mean.
  struct Record {
    var place: Int
    var kind: Kind
    var path: String
    var inode: UInt64
    var first: Int
    /// Where its data is in the log.
    var data: Range<Int>
  }

  private let directory: TemporaryDirectory
  private let memory: UnsafeRawBufferPointer
  private static let firstPlace = 4_096
  private static let headerByteCount = 40

  /// A log with room for so many bytes, most of which no disk is asked for.
  init(byteCount: Int = 1 << 30) throws {
    directory = try TemporaryDirectory()
    let file = open(directory.path + "/log", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    var first = UInt64(Self.firstPlace)
    guard file >= 0, ftruncate(file, off_t(byteCount)) == 0, pwrite(file, &first, 8, 0) == 8,
      let mapped = mmap(nil, byteCount, PROT_READ, MAP_SHARED, file, 0), mapped != MAP_FAILED
    else { throw DeadlinePassed(description: "a log of power cannot be mapped") }
    memory = UnsafeRawBufferPointer(start: mapped, count: byteCount)
  }

  deinit { munmap(UnsafeMutableRawPointer(mutating: memory.baseAddress), memory.count) }

  /// What a program needs in its environment to be recorded.
  func environment(root: String) -> [String] {
    [
      "LD_PRELOAD=" + SpawnedProcess.builtProgram("libFaultInjector.so"),
      "ROOST_TEST_POWER=\(directory.path)/log:\(root)",
    ]
  }

  /// The names of these variables, as the configuration of a worker has them.
  static let variables = #"["LD_PRELOAD", "ROOST_TEST_POWER"]"#

  /// Where the next record begins: all that has happened by now stands before it.
  var place: Int { Int(memory.load(as: UInt64.self)) }

  subscript(data: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[data]) }

  /// All records. To be asked when nobody writes any longer; what a killed process had begun to write is left out.
  func records() throws -> [Record] {
    guard memory.load(fromByteOffset: 8, as: UInt64.self) == 0 else {
      throw DeadlinePassed(description: "the log of power is full")
    }
    var records: [Record] = []
    var place = Self.firstPlace
    while place < self.place {
      let length = Int(memory.load(fromByteOffset: place, as: UInt32.self))
      // Whoever took this place was killed before it said how long it is: what came behind it came behind the kill.
      guard length > 0 else { break }
      defer { place += length }
      guard memory.load(fromByteOffset: place + 36, as: UInt32.self) == 1,
        let kind = Kind(rawValue: memory.load(fromByteOffset: place + 4, as: UInt16.self))
      else { continue }
      let path = place + Self.headerByteCount
      let data = path + Int(memory.load(fromByteOffset: place + 6, as: UInt16.self))
      records.append(
        Record(
          place: place, kind: kind, path: String(decoding: memory[path..<data], as: UTF8.self),
          inode: memory.load(fromByteOffset: place + 8, as: UInt64.self),
          first: Int(memory.load(fromByteOffset: place + 16, as: Int64.self)),
          data: data..<data + Int(memory.load(fromByteOffset: place + 32, as: UInt32.self))))
    }
    return records
  }
}
