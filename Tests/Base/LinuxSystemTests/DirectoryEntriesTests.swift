import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("Names that are on the disk")
struct DirectoryEntriesTests {
  /// Runs as a user who may do with files what others may: this thread only, and the calls it makes.
  private func asOther(_ body: () throws -> Void) throws {
    typealias SetUser = @convention(c) (UInt32) -> Int32
    let set = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
    _ = set(65_534)
    defer { _ = set(geteuid()) }
    try body()
  }

  @Test("A name in a directory that may be written and not read is left to its file system")
  func unreadable() throws {
    let directory = try TemporaryDirectory()
    // Up to it the way is open to others as well.
    let (box, path) = (directory.path + "/box", directory.path + "/box/file")
    try #require(chmod(directory.path, 0o755) == 0 && mkdir(box, 0o700) == 0)
    let isRoot = geteuid() == 0
    try #require(chmod(box, isRoot ? 0o733 : 0o300) == 0)
    defer { chmod(box, 0o700) }
    func check() throws {
      do throws(SystemFault) {
        try DirectoryEntries.synchronize(nameOf: path)
        Issue.record("it can be read")
      } catch { #expect(error.code == EACCES, "\(error)") }
      try DirectoryEntries.synchronizeReadable(nameOf: path)
    }
    if isRoot { try asOther(check) } else { try check() }
    #expect(throws: SystemFault.self) {
      try DirectoryEntries.synchronizeReadable(nameOf: directory.path + "/none/file")
    }
  }
}
