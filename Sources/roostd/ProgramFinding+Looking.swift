import Configuration
import Glibc

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
    case S_IFREG: self = status.st_mode & S_IWOTH == 0 ? .runnable : .changeable
    case S_IFDIR: self = .directory
    default: self = .special
    }
  }
}
