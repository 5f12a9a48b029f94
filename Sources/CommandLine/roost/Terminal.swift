internal import Glibc
internal import RoostClient
internal import Rendering

/// What is at the other end of a descriptor.
enum Terminal {
  /// Whether it is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Colours on a terminal only, unless `NO_COLOR` is set to anything or the terminal is a dumb
  /// one (https://no-color.org).
  static func style(of descriptor: Int32) -> Style {
    guard isTerminal(descriptor) else { return .plain }
    let environment = ProcessEnvironment.current()
    let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
    return Style(isColoured: !isPlain, columns: size(of: descriptor)?.columns ?? Style.columnMaximum)
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
