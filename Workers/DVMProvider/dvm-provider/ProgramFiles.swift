import Glibc
import LinuxSystem

// The files of a job, looked at before each run: a program may have been replaced, or spoilt, since the last one.
//
// Whoever can write a program can do as we do, so it must be one that only we or root can have written, as the
// configuration must be. And the worker's sandbox names files as they were at its start. A new file in the place of an
// old one, which is how programs are updated and how many editors save, is then denied to us and to all that we start,
// unless its folder is named as well (`SandboxProfile.renewable`); so is a folder in the place of another. A sandbox
// cannot be widened from inside; the way to another one is another process.

/// Whether a job can be run.
enum ProgramFitness: Sendable, Hashable {
  case fit
  /// No: what is wrong, and what to do about it. It names files, and is not for customers.
  case unfit(String)
  /// Not by this process: this was replaced since its sandbox was made.
  case replaced(String)
}

/// What stood at each path when the sandbox was made.
struct ProgramFiles: Sendable {
  private struct Identity: Sendable, Hashable {
    var device: UInt64
    var number: UInt64

    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
  }

  private let listed: Set<String>
  private let identities: [String: Identity]

  /// Looks at these paths now; they are those that the sandbox will name.
  init(_ paths: [String]) {
    listed = Set(paths)
    identities = Dictionary(
      paths.compactMap { path in Identity(path).map { (path, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether a program can be run.
  ///
  /// - Parameters:
  ///   - program: its path.
  ///   - readable: what it may read besides.
  func fitness(of program: String, reading readable: [String]) -> ProgramFitness {
    do throws(SystemFault) { try PathTrust.check(program, is: .file) } catch { return .unfit("\(error)") }
    guard access(program, X_OK) == 0 else { return .unfit("\(program) is not executable: chmod +x \(program)") }
    guard access(program, R_OK) == 0 else { return .unfit("\(program) may not be read: chmod u+r \(program)") }
    if let interpreter = ScriptInterpreter.missing(for: program) {
      return .unfit("\(program) asks in its first line for \(interpreter), which is not there")
    }
    for path in [program] + readable where Identity(path) != identities[path] && Self.isDenied(path) {
      return listed.contains(path) ? .replaced(path) : .unfit("\(path) is outside the sandbox of this process")
    }
    return .fit
  }

  /// Whether something may be read by its mode, and not in our sandbox.
  private static func isDenied(_ path: String) -> Bool {
    guard access(path, R_OK) == 0 else { return false }
    let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard file < 0 else {
      Descriptors.close(file)
      return false
    }
    return errno == EACCES
  }
}
