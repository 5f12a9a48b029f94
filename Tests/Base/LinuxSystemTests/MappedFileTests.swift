import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("Mapped files") struct MappedFileTests {
  @Test("What is stored is in the file at once, and in the next mapping of it; a new file is full of zeroes")
  func shared() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/file"
    let file = try MappedFile(path: path, byteCount: 10_000)
    #expect(file.bytes.count == 10_000 && file.bytes.allSatisfy { $0 == 0 })
    file.bytes[9_999] = 7
    #expect(SharedFolder.bytes(ofFile: path)?.last == 7)
    #expect(try MappedFile(path: path, byteCount: 10_000).bytes[9_999] == 7)
  }

  @Test("A link in its place, and a folder that is not there, are refused with their names")
  func refused() throws {
    let directory = try TemporaryDirectory()
    symlink("/dev/null", directory.path + "/link")
    for (name, code) in [("link", ELOOP), ("no/file", ENOENT)] {
      let path = directory.path + "/" + name
      #expect(throws: SystemFault(call: "open", subject: path, code: code)) {
        try MappedFile(path: path, byteCount: 1)
      }
    }
  }
}
