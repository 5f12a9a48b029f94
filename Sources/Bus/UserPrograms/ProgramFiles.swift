internal import Glibc
internal import LinuxSystem

// The files of a program, checked before each run: they may have been replaced or damaged since the last one.
//
// A person who can write a program can act as this user. So only this user and root may be able to write it, as with
// the configuration. The worker's sandbox names files as they were at its start. A new file in place of an old one,
// which is how programs are updated and how many editors save, is then denied to the worker and to everything it
// starts, unless the sandbox also names its folder (`SandboxProfile.renewable`). The same is true of a folder in place
// of another. A sandbox cannot be widened from inside; it takes another process.

/// Whether a program can be run.
public enum ProgramFitness: Sendable, Hashable {
  /// Yes.
  case fit
  /// No: what is wrong, and what to do about it. The text names files, and is not for strangers.
  case unfit(String)
  /// Not by this process: this path was replaced after its sandbox was made.
  case replaced(String)
}

/// The files at each path when the sandbox was made.
public struct ProgramFiles: Sendable {
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

  /// Looks at these paths now; the sandbox will name the same ones.
  init(_ paths: [String]) {
    listed = Set(paths)
    identities = Dictionary(
      paths.compactMap { path in Identity(path).map { (path, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether a program can be run.
  ///
  /// - Parameters:
  ///   - program: its path.
  ///   - readable: what else it may read.
  public func fitness(of program: String, reading readable: [String]) -> ProgramFitness {
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

  /// Whether the mode of a file lets us read it and our sandbox does not.
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
