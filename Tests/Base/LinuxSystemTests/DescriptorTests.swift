import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite struct DescriptorTests {
  @Test("Pipes, socket pairs and copies are closed by an exec")
  func closeOnExec() throws {
    let pipe = try Descriptors.pipe()
    let sockets = try Descriptors.socketPair()
    let copy = try Descriptors.duplicate(pipe.first)
    for number in [pipe.first, pipe.second, sockets.first, sockets.second, copy] {
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
      Descriptors.close(number)
    }
    #expect(copy > 2)
  }

  @Test("Writing all to a slow reader delivers every byte in order, also where the descriptor does not block")
  func writeAll() throws {
    let pipe = try Descriptors.pipe()
    #expect(fcntl(pipe.second, F_SETFL, O_NONBLOCK) == 0)
    // More than any pipe holds.
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let reader = try SpawnedProcess("/usr/bin/cksum", [], descriptors: [0: pipe.first])
    Descriptors.close(pipe.first)
    try bytes.withUnsafeBytes { try Descriptors.writeAll($0, to: pipe.second, timeoutMilliseconds: 30_000) }
    Descriptors.close(pipe.second)
    let sum = try reader.readAllOutput()

    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/same"
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try bytes.withUnsafeBytes { try Descriptors.writeAll($0, to: file) }
    Descriptors.close(file)
    #expect(try SpawnedProcess("/bin/sh", ["-c", "cksum < \(path)"]).readAllOutput() == sum)
  }

  @Test("A reader that does not read is a fault after the time given")
  func writeTimeout() throws {
    let pipe = try Descriptors.pipe()
    defer { for number in [pipe.first, pipe.second] { Descriptors.close(number) } }
    #expect(fcntl(pipe.second, F_SETFL, O_NONBLOCK) == 0)
    let bytes = [UInt8](repeating: 0, count: 4 << 20)
    let fault = #expect(throws: SystemFault.self) {
      try bytes.withUnsafeBytes { try Descriptors.writeAll($0, to: pipe.second, timeoutMilliseconds: 20) }
    }
    #expect(fault?.code == ETIMEDOUT)
  }
}
