import Glibc
import LinuxSystem
import Logs
import Synchronization

/// The machine's file system, with faults: one call that fails, a disk of a certain size, or a disk that hangs.
final class FaultyFiles: FileOperations {
  private struct State {
    var callCount = 0
    var failingCalls: Range<Int> = 0..<0
    var room = Int.max
  }
  private let state = Mutex(State())
  private let gate = Mutex(false)
  private let real = SystemFiles()

  /// Calls made so far.
  var callCount: Int { state.withLock { $0.callCount } }
  /// Fails these calls, counted from the next one as 0.
  func fail(_ calls: Range<Int>) {
    state.withLock { $0.failingCalls = ($0.callCount + calls.lowerBound)..<($0.callCount + calls.upperBound) }
  }
  func failFromNowOn() { state.withLock { $0.failingCalls = $0.callCount..<Int.max } }
  func heal() {
    state.withLock {
      $0.failingCalls = 0..<0
      $0.room = .max
    }
  }
  /// From now on so many bytes can be written, then the disk is full.
  func leaveRoom(_ byteCount: Int) { state.withLock { $0.room = byteCount } }
  /// While true, every write hangs.
  var isHanging: Bool {
    get { gate.withLock { $0 } }
    set { gate.withLock { $0 = newValue } }
  }

  private func call(_ name: String, _ path: String) throws(SystemFault) {
    let fails = state.withLock { state in
      defer { state.callCount += 1 }
      return state.failingCalls.contains(state.callCount)
    }
    if fails { throw SystemFault(call: name, subject: path, code: EIO) }
  }

  func ensureDirectory(_ path: String) throws(SystemFault) {
    try call("mkdir", path)
    try real.ensureDirectory(path)
  }
  func openForAppending(_ path: String) throws(SystemFault) -> Int32 {
    try call("open", path)
    return try real.openForAppending(path)
  }
  func create(_ path: String) throws(SystemFault) -> Int32 {
    try call("open", path)
    return try real.create(path)
  }
  func status(of descriptor: Int32) throws(SystemFault) -> (byteCount: Int, hasName: Bool) {
    try call("fstat", "")
    return try real.status(of: descriptor)
  }
  func lastByte(of descriptor: Int32, byteCount: Int) -> UInt8? { real.lastByte(of: descriptor, byteCount: byteCount) }
  func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: String) throws(SystemFault) -> Int {
    try call("write", path)
    while isHanging { usleep(1_000) }
    let count = state.withLock { state in
      let count = min(bytes.count, state.room)
      if state.room != .max { state.room -= count }
      return count
    }
    guard count > 0 else { throw SystemFault(call: "write", subject: path, code: ENOSPC) }
    return try real.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: descriptor, path: path)
  }
  func truncate(_ descriptor: Int32, byteCount: Int, path: String) throws(SystemFault) {
    try call("ftruncate", path)
    try real.truncate(descriptor, byteCount: byteCount, path: path)
  }
  func synchronize(_ descriptor: Int32, path: String) throws(SystemFault) {
    try call("fsync", path)
    try real.synchronize(descriptor, path: path)
  }
  func synchronizeDirectory(_ path: String) throws(SystemFault) {
    try call("fsync", path)
    try real.synchronizeDirectory(path)
  }
  func close(_ descriptor: Int32) { real.close(descriptor) }
  func rename(_ path: String, to target: String) throws(SystemFault) {
    try call("rename", path)
    try real.rename(path, to: target)
  }
  func remove(_ path: String) throws(SystemFault) {
    try call("unlink", path)
    try real.remove(path)
  }
  func names(in directory: String) throws(SystemFault) -> [String] {
    try call("opendir", directory)
    return try real.names(in: directory)
  }
  func contents(of path: String, byteCountMaximum: Int) throws(SystemFault) -> [UInt8] {
    try call("read", path)
    return try real.contents(of: path, byteCountMaximum: byteCountMaximum)
  }
}

/// A file as text; empty when it is not there.
func text(of path: String) -> String {
  let files = SystemFiles()
  do throws(SystemFault) {
    return String(decoding: try files.contents(of: path, byteCountMaximum: 64 << 20), as: UTF8.self)
  } catch { return "" }
}

/// Writes a file for a test.
func write(_ text: String, to path: String) throws {
  let files = SystemFiles()
  let descriptor = try files.create(path)
  defer { files.close(descriptor) }
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    rest = rest.dropFirst(try rest.withUnsafeBytes { try files.write($0, to: descriptor, path: path) })
  }
}
