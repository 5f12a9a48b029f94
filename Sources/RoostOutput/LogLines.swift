public import Contracts

/// Log records as aligned lines: time, worker, level, category, message, fields. A value that remembers how wide its
/// columns have become, so that a stream stays aligned.
public struct LogLines: Sendable {
  private let style: Style
  private var workerWidth = 12
  private var categoryWidth = 8

  /// Columns never grow wider.
  private static let widthMaximum = 20

  /// Lines in a style.
  public init(_ style: Style) { self.style = style }

  /// One record as a line. Messages are not cut; a terminal wraps them.
  public mutating func line(_ record: LogRecord) -> String {
    let worker = column(record.worker, &workerWidth)
    let category = column(record.category, &categoryWidth)
    let level = pad(DisplayWidth.cut(VisibleText.make(record.level), to: 8), to: 8)
    var line = style.paint(Self.shortTime(record.time), .dim) + "  \(worker)  "
    line += style.paint(level, Self.tone(record.level)) + "  " + style.paint(category, .dim)
    line += "  " + VisibleText.make(record.message)
    for (key, value) in (record.fields ?? [:]).sorted(by: { $0.key < $1.key }) {
      line += "  " + style.paint(VisibleText.make(key) + "=", .dim) + Self.quoted(value)
    }
    return line
  }

  private func column(_ text: String, _ width: inout Int) -> String {
    let visible = VisibleText.make(text)
    width = min(max(width, DisplayWidth.of(visible)), Self.widthMaximum)
    return pad(DisplayWidth.cut(visible, to: width), to: width)
  }

  private func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
  }

  /// `2026-11-21T08:42:17.123Z` → `11-21 08:42:17.123`, in UTC as it stands in the file; anything else as it is.
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
