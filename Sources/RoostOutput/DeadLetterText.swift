public import Contracts

/// What `roost dead-letters` prints.
public enum DeadLetterText {
  /// A line a letter.
  public static func table(_ result: DeadLettersResult, _ style: Style) -> [String] {
    let letters = result.letters
    guard !letters.isEmpty else { return ["No dead letters."] }
    var table = TextTable([
      .init(title: "ID", columnsMaximum: 32), .init(title: "TIME", isSpareable: true), .init(title: "WORKER"),
      .init(title: "METHOD"), .init(title: "TRIES", alignment: .right, isSpareable: true), .init(title: "FROM"),
    ])
    for letter in letters {
      table.append([
        .init(letter.id, .strong), .init(LogLines.shortTime(letter.time), .dim), .init(letter.worker),
        .init(letter.method), .init("\(letter.deliveries)"), .init(letter.sender),
      ])
    }
    return table.lines(style) + (result.sentence.map { ["", VisibleText.make($0)] } ?? [])
  }

  /// One letter, whole.
  public static func details(_ letter: DeadLetterRecord, _ style: Style) -> [String] {
    let facts = [
      ("id", letter.id), ("time", letter.time), ("worker", letter.worker), ("method", letter.method),
      ("sender", letter.sender), ("deliveries", "\(letter.deliveries)"), ("trace", letter.trace),
    ]
    var lines = facts.map { name, value in
      style.paint(name + ":", .dim) + String(repeating: " ", count: 12 - name.utf8.count) + VisibleText.make(value)
    }
    lines.append("")
    if letter.isBase64 {
      lines.append("payload (base64):")
      lines.append(VisibleText.make(letter.payload))
    } else {
      lines += PayloadText.pretty(Array(letter.payload.utf8), style)
    }
    return lines
  }
}
