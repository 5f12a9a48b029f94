import EventLoop
import Frames
import Glibc
import UserPrograms

// Runs a program as a worker does, and prints what became of it as one JSON object. A test cannot do that itself: the
// last step before the program is this very file, started again (`ProgramLauncher`).
//
//     program-runner FOLDER MILLISECONDS OUTPUT-BYTES PROGRAM ARGUMENT…    its standard input is the program's
//
// With RUNNER_UNIX in its environment the program may use unix sockets.

struct RunReport: Encodable {
  var output: [UInt8]?
  var failure: String?
  var errors: String
  var reported: String
  var leftFolder: String?
}

func readInput() -> [UInt8] {
  var input: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while case let count = read(STDIN_FILENO, &buffer, buffer.count), count > 0 { input += buffer[..<count] }
  return input
}

let arguments = CommandLine.arguments
if arguments.count > 1, arguments[1] == ProgramLauncher.word { ProgramLauncher.main(Array(arguments.dropFirst(2))) }
guard arguments.count > 4, let milliseconds = UInt64(arguments[2]), let outputByteCount = Int(arguments[3]) else {
  print("usage: program-runner FOLDER MILLISECONDS OUTPUT-BYTES PROGRAM ARGUMENT…")
  exit(2)
}
var plan = ProgramPlan(
  command: Array(arguments.dropFirst(4)), input: readInput(), folder: arguments[1], environment: ["MINE=yes"],
  readablePaths: [], network: getenv("RUNNER_UNIX") == nil ? .none : .unixSockets, timeMilliseconds: milliseconds,
  memoryByteCount: 256 << 20, outputByteCount: outputByteCount, diskByteCount: 1 << 20,
  processMaximum: 16, freeByteCountMinimum: 0)
// Then ROOST_SANDBOX decides.
plan.mayLackSandbox = true
let wanted = plan

EventLoopActor.task {
  let taken = ReportedBytes()
  let end = await ProgramRun(wanted, gate: LookGate()) { taken.bytes += $0 }.run()
  var report = RunReport(errors: end.errors, reported: String(decoding: taken.bytes, as: UTF8.self))
  switch end.outcome {
  case .done(let output): report.output = output
  case .failed(let reason): report.failure = reason
  }
  report.leftFolder = end.leftFolder.map { "\($0)" }
  print(String(decoding: JSONPayload.encode(report), as: UTF8.self))
  EventLoop.process.stop()
}
EventLoop.process.run()

/// What came on descriptor 3.
@EventLoopActor
final class ReportedBytes {
  var bytes: [UInt8] = []
}
