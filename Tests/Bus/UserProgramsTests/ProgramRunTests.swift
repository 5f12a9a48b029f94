import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Real programs under the library's limits, run by `program-runner`.
@Suite("Runs of programs") struct ProgramRunTests {
  private struct RunReport: Decodable {
    var output: [UInt8]?
    var failure: String?
    var errors: String
    var reported: String
    var leftFolder: String?
  }

  private func run(
    _ command: [String], input: [UInt8] = [], milliseconds: Int = 30_000, outputByteCount: Int = 1 << 20,
    variables: [String] = []
  ) throws -> RunReport {
    let directory = try TemporaryDirectory()
    let folder = directory.path + "/run"
    let file = try Descriptors.memoryFile(input)
    defer { Descriptors.close(file) }
    let runner = try SpawnedProcess(
      SpawnedProcess.builtProgram("program-runner"), [folder, "\(milliseconds)", "\(outputByteCount)"] + command,
      environment: ["ROOST_SANDBOX=try", "SWIFT_BACKTRACE=enable=no"] + variables, descriptors: [0: file])
    let report = try JSONPayload.decode(RunReport.self, from: Array(try runner.readAllOutput().utf8))
    #expect(access(folder, F_OK) != 0 && report.leftFolder == nil, "its folder is removed")
    return report
  }

  @Test("A program reads the input and its output comes back, byte for byte; none at all is an output too")
  func bytes() throws {
    let input = (0...255).map { UInt8($0) } + Array("no line end".utf8)
    #expect(try run(["/bin/cat"], input: input).output == input)
    let nothing = try run(["/bin/true"])
    #expect(nothing.output == [] && nothing.failure == nil)
  }

  @Test("It has its own variables, and what it writes to descriptor 3 comes beside its output")
  func reports() throws {
    let report = try run(["/bin/sh", "-c", "echo half >&3; echo $MINE; echo word >&2"])
    #expect(report.output == Array("yes\n".utf8) && report.reported == "half\n" && report.errors == "word\n")
  }

  @Test("A code, a limit of time or of output, and a program that is not there are each the reason why not")
  func failures() throws {
    let ended = try run(["/bin/sh", "-c", "echo why >&2; exit 3"])
    #expect(ended.failure == "the program has ended with code 3" && ended.errors == "why\n" && ended.output == nil)
    let slow = try run(["/bin/sleep", "60"], milliseconds: 300)
    #expect(slow.failure == "it took longer than the 300 ms that it may")
    let much = try run(["/usr/bin/yes"], outputByteCount: 1_000)
    #expect(much.failure == "it wrote more than the 1000 bytes that a result may have")
    let missing = try run(["/nowhere/program"])
    #expect(missing.failure == "the program has ended with code 127" && missing.errors.contains("/nowhere/program"))
  }

  @Test("Unix sockets are open to it, abstract ones too, only if its plan says so; then no other sockets are")
  func unixSockets() throws {
    let name = "roost-test-\(getpid())-\(UInt32.random(in: .min ... .max))"
    let script = """
      import socket, sys
      for family, place in ((socket.AF_UNIX, "\\0\(name)"), (socket.AF_INET, ("127.0.0.1", 9))):
        try:
          socket.socket(family, socket.SOCK_STREAM).connect(place)
        except OSError as fault:
          print(fault.strerror)
      """
    let denied = "Address family not supported by protocol\n"
    let none = try run(["/usr/bin/python3", "-c", script])
    #expect(String(decoding: none.output ?? [], as: UTF8.self) == denied + denied, "\(none)")
    // Its way to the socket is free: no program listens there.
    let unix = try run(["/usr/bin/python3", "-c", script], variables: ["RUNNER_UNIX=1"])
    #expect(String(decoding: unix.output ?? [], as: UTF8.self) == "Connection refused\n" + denied, "\(unix)")
  }
}
