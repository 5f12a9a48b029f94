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

  @Test("Is counted and removed by the bytes of its names, which need not be UTF-8")
  func names() throws {
    let directory = try TemporaryDirectory()
    let top = directory.path + "/top"
    mkdir(top, 0o700)
    let folder = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let name: [CChar] = [-1, -2, 0]
    mkdirat(folder, name, 0o700)
    let inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let file = openat(inner, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(String(repeating: "x", count: 50_000), to: file)
    for descriptor in [folder, inner, file] { Descriptors.close(descriptor) }
    let usage = FolderTree.usage(of: top, entryMaximum: 10)
    #expect(usage.entryCount == 2 && usage.byteCount >= 50_000 && usage.isWhole)
    try FolderTree.remove(top)
    #expect(access(top, F_OK) != 0)
  }

  @Test("Is told to be counted in part when it is deeper than is counted")
  func deep() throws {
    let directory = try TemporaryDirectory()
    var path = directory.path
    for _ in 0...FolderTree.depthMaximum {
      #expect(FolderTree.usage(of: directory.path, entryMaximum: 1_000).isWhole)
      path += "/d"
      mkdir(path, 0o700)
    }
    #expect(!FolderTree.usage(of: directory.path, entryMaximum: 1_000).isWhole)
  }
}

@Suite("Files that have lost their names")
struct NamelessFilesTests {
  @Test("Count while they are open, each once, and are told while they are only mapped")
  func counting() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/file"
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(String(repeating: "x", count: 5_000_000), to: file)
    let before = NamelessFiles(of: [getpid()], except: nil)
    unlink(path)
    let again = fcntl(file, F_DUPFD_CLOEXEC, 0)
    var open = NamelessFiles(of: [getpid(), getpid()], except: nil)
    #expect(open.byteCount - before.byteCount >= 5_000_000 && open.byteCount - before.byteCount < 10_000_000)
    #expect(open.isWhole)
    let mapping = mmap(nil, 4096, PROT_READ, MAP_PRIVATE, file, 0)
    let root = try #require(realpath(directory.path, nil))
    defer { free(root) }
    open.lookAtMappings(of: [getpid()], below: String(cString: root))
    #expect(!open.mapsUnseen)
    for descriptor in [file, again] { Descriptors.close(descriptor) }
    var closed = NamelessFiles(of: [getpid()], except: nil)
    closed.lookAtMappings(of: [getpid()], below: String(cString: root))
    #expect(closed.mapsUnseen)
    munmap(mapping, 4096)
  }

  @Test("Of a list of mappings those below a folder are taken, whatever their names")
  func mappings() {
    let list = """
      7f0000000000-7f0000001000 rw-s 00000000 fe:00 12                         /srv/jobs/1/a b (deleted)
      7f0000002000-7f0000003000 rw-p 00000000 00:00 0
      7f0000004000-7f0000005000 r--p 00000000 fe:00 13                         /srv/jobs/1/kept
      7f0000006000-7f0000007000 r--p 00000000 fe:00 14                         /usr/lib/libold.so (deleted)
      7f0000008000-7f0000009000 r--p 00000000 fe:00 15                         /srv/jobs/12/x (deleted)
      """
    #expect(NamelessFiles.namelessNumbers(in: Array(list.utf8), below: "/srv/jobs/1") == [12])
  }
}
