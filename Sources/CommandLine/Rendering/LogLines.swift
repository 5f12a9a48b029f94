public import Contracts
internal import Wording

/// Log records as aligned lines: time, worker, level, category, message, fields. A value that remembers the widths of
/// its columns, so that a stream stays aligned.
public struct LogLines: Sendable {
  private let style: Style
  private var workerWidth = 12
  private var categoryWidth = 8

  /// The maximum width of a column.
  private static let widthMaximum = 20

  /// Lines in a style.
  public init(_ style: Style) { self.style = style }

  /// One record: one line; on a terminal that would break it in the middle of a word, as many lines as it needs, with
  /// the further ones indented. Messages are not cut.
  ///
  /// - Parameters:
  ///   - record: a record from any source; it cannot send control characters to the terminal.
  ///   - indent: the columns that the caller puts before each line.
  public mutating func lines(_ record: LogRecord, indent: Int = 0) -> [String] {
    let head = head(record)
    let fields = (record.fields ?? [:]).sorted { $0.key < $1.key }.map {
      (VisibleText.make($0.key), Self.quoted($0.value))
    }
    let message = VisibleText.make(record.message)
    let plain = ([message] + fields.map { "\($0)=\($1)" }).joined(separator: "  ")
    let columns = style.columns - indent
    let room = columns - DisplayWidth.of(head.plain)
    guard style.isTerminalWidth, DisplayWidth.of(plain) > room else {
      return [head.painted + ([message] + fields.map { style.paint($0 + "=", .dim) + $1 }).joined(separator: "  ")]
    }
    let wrapped = DisplayWidth.wrap(plain, to: columns - Self.hangingIndent, firstColumns: room)
    return [head.painted + wrapped[0]]
      + wrapped.dropFirst().map { String(repeating: " ", count: Self.hangingIndent) + $0 }
  }

  /// The width of a time and the blanks after it: further lines of a record begin there.
  private static let hangingIndent = 20

  /// Everything before the message.
  private mutating func head(_ record: LogRecord) -> (plain: String, painted: String) {
    let worker = column(record.worker, &workerWidth)
    let category = column(record.category, &categoryWidth)
    let level = pad(DisplayWidth.cut(VisibleText.make(record.level), to: 8), to: 8)
    let time = Self.shortTime(record.time)
    let painted =
      style.paint(time, .dim) + "  \(worker)  " + style.paint(level, Self.tone(record.level)) + "  "
      + style.paint(category, .dim) + "  "
    return ("\(time)  \(worker)  \(level)  \(category)  ", painted)
  }

  private func column(_ text: String, _ width: inout Int) -> String {
    let visible = VisibleText.make(text)
    width = min(max(width, DisplayWidth.of(visible)), Self.widthMaximum)
    return pad(DisplayWidth.cut(visible, to: width), to: width)
  }

  private func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
  }

  /// `2026-11-21T08:42:17.123Z` → `11-21 08:42:17.123`, in UTC as in the file; any other text unchanged.
  static func shortTime(_ time: String) -> String {
    let parts = time.split(separator: "T", maxSplits: 1)
    guard parts.count == 2, parts[0].utf8.count == 10, parts[1].hasSuffix("Z") else { return VisibleText.make(time) }
    return VisibleText.make("\(parts[0].dropFirst(5)) \(parts[1].dropLast())")
  }

  private static func tone(_ level: String) -> Tone {
    switch level {
    case "trace", "debug": .dim
    case "warning": .warning
    case "error", "critical": .bad
    default: .plain
    }
  }

  private static func quoted(_ value: String) -> String {
    let visible = VisibleText.make(value)
    return visible.isEmpty || visible.contains(" ") ? "\"\(visible)\"" : visible
  }
}
