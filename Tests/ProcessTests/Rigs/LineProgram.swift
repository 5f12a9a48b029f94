import Glibc
import LinuxSystem
import TestSupport

/// A program with a pipe at each end, to which a test writes lines and of which it reads lines.
final class LineProgram {
  let process: SpawnedProcess
  private var input: Int32

  init(
    _ program: String, _ arguments: [String], environment: [String] = ["PATH=/usr/bin:/bin"],
    descriptors: [Int32: Int32] = [:]
  ) throws {
    let pipe = try Descriptors.pipe()
    defer { Descriptors.close(pipe.first) }
    input = pipe.second
    process = try SpawnedProcess(
      program, arguments, environment: environment, descriptors: [0: pipe.first].merging(descriptors) { $1 })
  }

  /// Starts `roost` with these arguments, at the socket of a running Roost.
  convenience init(_ roost: RunningRoost, _ arguments: [String], descriptors: [Int32: Int32] = [:]) throws {
    try self.init(
      SpawnedProcess.builtProgram("roost"), arguments + ["--socket", roost.socket], descriptors: descriptors)
  }

  deinit { Descriptors.close(input) }

  /// Writes a line.
  func send(_ line: String) throws { try Descriptors.writeAll(line + "\n", to: input) }

  /// Waits for the first line of all that were written which has this in it.
  @discardableResult
  func line(with text: String, within seconds: Double = 30) throws -> String {
    try process.readLine(within: seconds) { $0.contains(text) }
  }

  /// Ends the input and waits for the end; all that was written.
  func finish() throws -> (output: String, ending: SpawnedProcess.Ending) {
    Descriptors.close(input)
    input = -1
    return (try process.readAllOutput(), try process.waitForEnd())
  }
}
