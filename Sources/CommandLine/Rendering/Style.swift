/// How text looks: the only thing that formatting knows about its destination.
public struct Style: Sendable, Equatable {
  /// Whether colours and weights are written as terminal escapes.
  public var isColoured: Bool
  /// The width that tables keep to, in columns.
  public var columns: Int

  /// A style.
  public init(isColoured: Bool, columns: Int = Style.columnMaximum) {
    self.isColoured = isColoured
    self.columns = min(max(columns, Style.columnMinimum), Style.columnMaximum)
  }

  /// For files and pipes: no colours, the full width.
  public static let plain = Style(isColoured: false)
  /// Tables are never wider, even on a wider terminal: with longer lines the eye does not find the next line's
  /// beginning.
  public static let columnMaximum = 200
  /// Tables are never made narrower; a narrower terminal wraps them.
  public static let columnMinimum = 60

  /// Whether ``columns`` is a terminal's width: the terminal breaks longer lines, a file does not.
  var isTerminalWidth: Bool { columns < Style.columnMaximum }

  /// A sentence in lines that fit.
  func prose(_ text: String) -> [String] { DisplayWidth.wrap(text, to: columns) }

  /// `text` in a tone.
  public func paint(_ text: String, _ tone: Tone) -> String {
    guard isColoured, let code = tone.code, !text.isEmpty else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}

/// The meaning of a piece of text, which decides how it looks.
public enum Tone: Sendable {
  /// Nothing special.
  case plain
  /// As it should be.
  case good
  /// Changing, or in need of attention.
  case warning
  /// Not as it should be.
  case bad
  /// Of less interest.
  case dim
  /// A heading or a key.
  case strong

  var code: String? {
    switch self {
    case .plain: nil
    case .good: "32"
    case .warning: "33"
    case .bad: "31"
    case .dim: "2"
    case .strong: "1"
    }
  }
}
