internal import Glibc
internal import RoostClient
internal import RoostOutput

/// What stands at the other end of a descriptor.
enum Terminal {
  /// Whether it is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Colours on a terminal only, unless `NO_COLOR` is set to anything or the terminal is a dumb
  /// one (https://no-color.org).
  static func style(of descriptor: Int32) -> Style {
    guard isTerminal(descriptor) else { return .plain }
    let environment = ProcessEnvironment.current()
    let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
    var size = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return Style(isColoured: !isPlain, columns: isKnown ? Int(size.ws_col) : Style.columnMaximum)
  }
}
