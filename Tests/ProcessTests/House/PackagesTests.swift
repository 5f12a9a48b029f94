import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// `Scripts/system-packages.sh` where a package is missing, with an apt-get that only notes how it was called.
  @Suite("System packages")
  struct PackagesTests {
    /// A checkout with one library that no system has, and programs that stand before the system's.
    private static func checkout() throws -> TemporaryDirectory {
      let directory = try TemporaryDirectory()
      for folder in ["Scripts", "bin"] { try #require(mkdir("\(directory.path)/\(folder)", 0o700) == 0) }
      let script = try #require(SharedFolder.bytes(ofFile: SharedFolder.repository + "/Scripts/system-packages.sh"))
      let note = "#!/bin/sh\necho \"$0 $*\" >>\(directory.path)/called\n"
      let manifest = #".systemLibrary(name: "CNone", providers: [.apt(["roost-none-dev"])])"# + "\n"
      let files: [(name: String, bytes: [UInt8])] = [
        ("Scripts/system-packages.sh", script),
        ("Package.swift", Array(manifest.utf8)),
        ("bin/apt-get", Array(note.utf8)), ("bin/swift", Array("#!/bin/sh\necho Swift version 6.2\n".utf8)),
        ("bin/sudo", Array("#!/bin/sh\nshift\nexec \"$@\"\n".utf8)),
        ("called", []),
      ]
      for file in files {
        let descriptor = open("\(directory.path)/\(file.name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o700)
        defer { Descriptors.close(descriptor) }
        try file.bytes.withUnsafeBytes { try Descriptors.writeAll($0, to: descriptor) }
      }
      return directory
    }

    private static func start(
      _ directory: TemporaryDirectory, _ terminal: TestTerminal? = nil, _ environment: [String] = []
    ) throws -> SpawnedProcess {
      let descriptors: [Int32: Int32] = terminal.map { [0: $0.program, 1: $0.program, 2: $0.program] } ?? [:]
      return try SpawnedProcess(
        "/bin/bash", [directory.path + "/Scripts/system-packages.sh"],
        environment: ["PATH=\(directory.path)/bin:/usr/bin:/bin"] + environment, descriptors: descriptors)
    }

    private static func called(_ directory: TemporaryDirectory) -> String {
      String(decoding: SharedFolder.bytes(ofFile: directory.path + "/called") ?? [], as: UTF8.self)
    }

    private static let install = "apt-get install -y --no-remove"

    @Test("A person is asked before anything is installed, and no is the answer of whoever says nothing")
    func asked() throws {
      for answer in ["n", "", "what?"] {
        let directory = try Self.checkout()
        let terminal = try TestTerminal()
        let program = try Self.start(directory, terminal)
        try terminal.read(until: "[y/N]")
        #expect(Self.called(directory) == "")
        try terminal.type(answer + "\n")
        try terminal.read(until: "Type:  sudo apt-get update")
        #expect(try program.waitForEnd() == .exited(69))
        #expect(Self.called(directory) == "")
      }
      let directory = try Self.checkout()
      let terminal = try TestTerminal()
      let program = try Self.start(directory, terminal)
      try terminal.read(until: "[y/N]")
      try terminal.type("y\n")
      #expect(try program.waitForEnd() == .exited(0))
      #expect(Self.called(directory).contains("\(Self.install) ") && Self.called(directory).contains("roost-none-dev"))
    }

    @Test("Where nobody can answer it is installed without a question, and nothing is removed for it")
    func unasked() throws {
      let directory = try Self.checkout()
      #expect(try Self.start(directory).waitForEnd() == .exited(0))
      #expect(Self.called(directory).contains("\(Self.install) "), "\(Self.called(directory))")
      let other = try Self.checkout()
      let terminal = try TestTerminal()
      let program = try Self.start(other, terminal, ["CI=true"])
      let ending = try withExtendedLifetime(terminal) { try program.waitForEnd() }
      #expect(ending == .exited(0))
      #expect(Self.called(other).contains("\(Self.install) "))
    }
  }
}
