import Glibc
import PushLedger
import WorkerKit

// Where a process may die, and where a test makes it die: between any two steps that can be seen from outside.
//
//    request ─▶ writing ─▶ deciding ─▶ written ─▶ replying ─▶ replied          the sender
//                                      written ─▶ sending ─▶ answered ─▶ writing ─▶ written      the platform
//
// With ROOST_TEST_FAULT_POINTS in the environment, which only a test lets a worker inherit, a file `fault-point` in the
// worker's directory names a step, and the process that reaches it is killed as by `kill -9`, once. Without the
// variable a step costs the reading of a constant.

/// A step of the push relay's work.
enum FaultPoint: String {
  /// A command will be written (`writing wake`).
  case writing
  /// The ledger decides on a wake, in its transaction.
  case deciding
  /// It is written, and no caller knows it yet.
  case written
  /// A request will be answered (`replying POST /v1/wake`).
  case replying
  /// It was answered.
  case replied
  /// A push will be sent (`sending ios`).
  case sending
  /// The platform has answered, and the result is not written yet.
  case answered

  /// Whether a test uses fault points.
  static let isWatched = getenv("ROOST_TEST_FAULT_POINTS") != nil

  private static let byteCountMaximum = 128

  /// The process reaches a step.
  static func pass(_ point: FaultPoint, _ what: @autoclosure () -> String = "") {
    guard isWatched, case .success(let directory) = WorkerDirectory.path else { return }
    let path = directory + "/fault-point"
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    var bytes = [UInt8](repeating: 0, count: byteCountMaximum)
    let count = read(file, &bytes, bytes.count)
    close(file)
    let words = [point.rawValue, what()].filter { !$0.isEmpty }.joined(separator: " ")
    guard count > 0, String(decoding: bytes[..<count], as: UTF8.self) == words, unlink(path) == 0 else { return }
    kill(getpid(), SIGKILL)
  }
}

extension PushWrite {
  /// The kind of command, as one word.
  var word: String {
    switch self {
    case .register: "registration"
    case .unregister: "removal"
    case .wake: "wake"
    case .contacts: "contacts"
    case .rules: "rules"
    case .events: "events"
    case .settle: "settlement"
    case .prune: "prune"
    case .forget: "forget"
    case .sweep: "sweep"
    case .rekey: "rekey"
    case .saveCredential: "credential"
    case .saveLimits: "limits"
    }
  }
}
