import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("A folder with all that is in it")
struct FolderTreeTests {
  private func write(_ bytes: Int, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(String(repeating: "x", count: bytes), to: file)
    Descriptors.close(file)
  }

  @Test("Is counted in bytes and entries, and no further than it is asked for")
  func counting() throws {
    let directory = try TemporaryDirectory()
    #expect(FolderTree.usage(of: directory.path + "/none", entryMaximum: 10) == FolderTree.Usage())
    mkdir(directory.path + "/a", 0o700)
    for number in 0..<5 { try write(10_000, to: "\(directory.path)/a/\(number)") }
    symlink("/etc", directory.path + "/link")
    let usage = FolderTree.usage(of: directory.path, entryMaximum: 100)
    #expect(usage.entryCount == 7)
    #expect(usage.byteCount >= 50_000)
    #expect(FolderTree.usage(of: directory.path, entryMaximum: 3).entryCount <= 5)
  }

  @Test("Is removed however deep, closed or linked it is, and what links lead to stays")
  func removing() throws {
    let directory = try TemporaryDirectory()
    let top = directory.path + "/top"
    mkdir(directory.path + "/kept", 0o700)
    try write(1, to: directory.path + "/kept/file")
    mkdir(top, 0o700)
    symlink(directory.path + "/kept", top + "/link")
    mkdir(top + "/closed", 0o700)
    try write(1, to: top + "/closed/file")
    chmod(top + "/closed", 0)
    var folder = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for _ in 0..<200 {
      mkdirat(folder, "d", 0o700)
      let inner = openat(folder, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      Descriptors.close(folder)
      folder = inner
    }
    Descriptors.close(folder)
    try FolderTree.remove(top)
    #expect(access(top, F_OK) != 0)
    #expect(access(directory.path + "/kept/file", F_OK) == 0)
    try FolderTree.remove(top)
  }
}
