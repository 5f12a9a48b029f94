internal import Glibc
internal import RoostClient
internal import Rendering

/// What is at the other end of a descriptor.
enum Terminal {
  /// Whether it is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Colours on a terminal that is no dumb one, or everywhere if `CLICOLOR_FORCE` is set to anything but 0; nowhere if
  /// `NO_COLOR` is set to anything (https://no-color.org, https://bixense.com/clicolors).
  static func style(of descriptor: Int32) -> Style {
    let environment = ProcessEnvironment.current()
    let isForced = !["", "0"].contains(environment["CLICOLOR_FORCE"] ?? "")
    let isAble = isTerminal(descriptor) && environment["TERM"] != "dumb"
    let isColoured = (environment["NO_COLOR"] ?? "").isEmpty && (isForced || isAble)
    return Style(isColoured: isColoured, columns: size(of: descriptor)?.columns ?? Style.columnMaximum)
  }

  /// The present size of a terminal; nil if it does not report one, or is not a terminal.
  static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Whether another program reads what is written there; it may show that on the same terminal.
  static func isPipe(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }
}
