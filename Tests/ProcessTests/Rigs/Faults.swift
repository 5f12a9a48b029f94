import Glibc
import TestSupport

/// System calls of roostd that fail while a test says so; see Tests/FaultInjector, whose numbers these are.
final class Faults {
  /// The calls, in the order of `enum roost_faulty_call`.
  enum Call: Int, CaseIterable {
    case accept, read, socketWrite, fileWrite, fsync, open, fork, pipe, socketPair, waitForEvents, watch, close, folder
    case databaseWrite, databaseSync, clock, databaseRead, pushAccept
  }

  private let directory: TemporaryDirectory
  private let memory: UnsafeMutableRawPointer
  private static let byteCount = 4_096

  init() throws {
    directory = try TemporaryDirectory()
    let file = Glibc.open(directory.path + "/faults", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    guard ftruncate(file, Self.byteCount) == 0,
      let mapped = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), mapped != MAP_FAILED
    else { throw DeadlinePassed(description: "a file of faults cannot be mapped") }
    memory = mapped
  }

  deinit { munmap(memory, Self.byteCount) }

  /// What roostd needs in its environment.
  var environment: [String] {
    ["LD_PRELOAD=" + SpawnedProcess.builtProgram("libFaultInjector.so"), "ROOST_TEST_FAULTS=\(directory.path)/faults"]
  }

  /// From now on every so many-th of these calls fails with this error.
  func fail(_ call: Call, with code: Int32, every: UInt32 = 1) {
    store(every, call, 1)
    store(UInt32(bitPattern: code), call, 0)
  }

  /// From now on all calls are done again.
  func end() { for call in Call.allCases { store(0, call, 0) } }

  /// From now on a provider's looks into folders take until ``end()``.
  func holdFolders() { fail(.folder, with: EAGAIN) }

  /// From now on the wall clock of a push relay, of a provider of jobs, or of link-feed is so many seconds ahead of
  /// ours.
  func setClock(ahead seconds: Int32) { fail(.clock, with: seconds) }

  /// How many calls failed so far, or were held up; of ``Call/close``, which is never made to, those of what was not
  /// open.
  func hits(_ call: Call) -> Int {
    Int(memory.loadUnaligned(fromByteOffset: call.rawValue * 16 + 12, as: UInt32.self))
  }

  private func store(_ value: UInt32, _ call: Call, _ field: Int) {
    memory.storeBytes(of: value, toByteOffset: call.rawValue * 16 + field * 4, as: UInt32.self)
  }
}
