import Glibc
import TestSupport
import Testing

@Suite struct FailureTests {
  struct Case: CustomTestStringConvertible {
    var testDescription: String
    var options: [String] = []
    var program: String
    var status: Int32
    /// The beginning of the line on the status pipe.
    var line: String
  }

  static let cases: [Case] = [
    Case(
      testDescription: "no such program", program: "/nonexistent/worker", status: 127,
      line: "exec \(ENOENT) /nonexistent/worker: "),
    Case(testDescription: "a file as directory", program: "/bin/sh/worker", status: 127, line: "exec \(ENOTDIR) "),
    Case(testDescription: "a directory as program", program: "/tmp/", status: 126, line: "exec \(EACCES) /tmp/: "),
    Case(
      testDescription: "a file that is not executable", program: "/etc/passwd", status: 126, line: "exec \(EACCES) "),
    Case(
      testDescription: "no such working directory", options: ["--directory", "/nonexistent"], program: "/bin/true",
      status: 71, line: "directory \(ENOENT) /nonexistent: "),
    Case(
      testDescription: "another parent", options: ["--parent", "1"], program: "/bin/true", status: 71,
      line: "parent \(ESRCH) 1 is no longer the parent: "),
    Case(
      testDescription: "a control character in the path", program: "/nonexistent/\u{1B}[2J\nexec 0", status: 127,
      line: "exec \(ENOENT) /nonexistent/?[2J?exec 0: "),
    Case(
      testDescription: "a wrong option", options: ["--limit", "x=1"], program: "/bin/true", status: 64, line: "options "
    ),
  ]

  @Test("A failed step is one line on the status pipe and an exit status", arguments: cases)
  func failure(_ failure: Case) throws {
    let status = try Pipe()
    let process = try SpawnedProcess(
      Shim.path, ["--status-fd", "5"] + failure.options + ["--", failure.program], descriptors: [5: status.writer])
    let line = try status.readAll()
    #expect(line.hasPrefix(failure.line), "\(line)")
    #expect(line.hasSuffix("\n") && line.split(separator: "\n").count == 1)
    #expect(try process.waitForEnd() == .exited(failure.status))
  }

  @Test("Without a status pipe the failure is told on stderr")
  func failureOnStderr() throws {
    let process = try SpawnedProcess(Shim.path, ["--", "/nonexistent/worker"])
    #expect(try process.readAllOutput().hasPrefix("roost-exec: exec: /nonexistent/worker: "))
    #expect(try process.waitForEnd() == .exited(127))
  }

  @Test("A status pipe that nobody reads does not change the exit status")
  func statusWithoutReader() throws {
    let process: SpawnedProcess
    do {
      let status = try Pipe()
      process = try SpawnedProcess(
        "/bin/sh", ["-c", "read line <&9; exec \(Shim.path) --status-fd 5 -- /nonexistent/worker"],
        descriptors: [5: status.writer, 9: 0])
    }
    #expect(try process.waitForEnd() == .exited(127))
  }

  static let wrongCommandLines: [[String]] = [
    [], ["--"], ["/bin/true"], ["--", "true"], ["--bogus", "1", "--", "/bin/true"], ["--env", "--", "/bin/true"],
    ["--env", "A=B", "--", "/bin/true"], ["--env", "", "--", "/bin/true"], ["--set", "A", "--", "/bin/true"],
    ["--set", "=B", "--", "/bin/true"], ["--limit", "nofile", "--", "/bin/true"],
    ["--limit", "nofile=-1", "--", "/bin/true"], ["--limit", "nofile=1k", "--", "/bin/true"],
    ["--limit", "nofile=99999999999999999999", "--", "/bin/true"], ["--parent", "0", "--", "/bin/true"],
    ["--parent", "12x", "--", "/bin/true"], ["--status-fd", "6", "--", "/bin/true"],
    ["--status-fd", "5", "--", "/bin/true"], ["--instance", "0123456789abcdef", "--", "/bin/true"], ["--guard"],
    ["--guard", "--instance", "0123456789abcdef"], ["--guard", "--grace", "1"],
    ["--guard", "--instance", "", "--grace", "1"], ["--guard", "--instance", "0123456", "--grace", "1"],
    ["--guard", "--instance", "0123456789abcdeg", "--grace", "1"],
    ["--guard", "--instance", String(repeating: "a", count: 65), "--grace", "1"],
    ["--guard", "--instance", "0123456789abcdef", "--grace", "60001"],
    ["--guard", "--instance", "0123456789abcdef", "--grace", "1", "--env", "PATH"],
    ["--guard", "--instance", "0123456789abcdef", "--grace", "1", "--", "/bin/true"],
  ]

  @Test("A wrong command line is told in one line, and nothing is started", arguments: wrongCommandLines)
  func usage(_ arguments: [String]) throws {
    let process = try SpawnedProcess(Shim.path, arguments, closed: [3, 5])
    let output = try process.readAllOutput()
    #expect(output.hasPrefix("roost-exec: ") && output.split(separator: "\n").count == 1, "\(output)")
    #expect(try process.waitForEnd() == .exited(64))
  }

  @Test("A value that may be private is not repeated in a message")
  func privacy() throws {
    let process = try SpawnedProcess(Shim.path, ["--set", "1TOKEN=hunter2", "--", "/bin/true"])
    #expect(!(try process.readAllOutput().contains("hunter2")))
  }

  @Test("More variables than fit are refused")
  func tooManyVariables() throws {
    let options = (0..<257).flatMap { ["--set", "V\($0)=x"] }
    #expect(try SpawnedProcess(Shim.path, options + ["--", "/bin/true"]).waitForEnd() == .exited(64))
    #expect(try SpawnedProcess(Shim.path, options.dropLast(2) + ["--", "/bin/true"]).waitForEnd() == .exited(0))
  }
}
