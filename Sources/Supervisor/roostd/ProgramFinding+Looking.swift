import RoostConfiguration
import Glibc
import LinuxSystem

extension ProgramFinding {
  /// Looks at a path, absolute or from where roostd was started.
  init(at path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      self = .missing
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG where access(path, X_OK) != 0: self = .notExecutable
    case S_IFREG: self = Self.trusted(path)
    case S_IFDIR: self = .directory
    default: self = .special
    }
  }

  private static func trusted(_ path: String) -> ProgramFinding {
    do throws(SystemFault) { try PathTrust.check(path, is: .file) } catch { return .changeable("\(error)") }
    if let interpreter = ScriptInterpreter.missing(for: path) { return .withoutInterpreter(interpreter) }
    return .runnable
  }
}
