public import Contracts
internal import Wording

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
    let lines = facts.map { name, value in
      style.paint(name + ":", .dim) + String(repeating: " ", count: 12 - name.utf8.count) + VisibleText.make(value)
    }
    return lines + [""] + payload(letter.payload, isBase64: letter.isBase64, "payload", style)
  }

  /// The answer to a letter that was delivered again, below an empty line; nothing if there was no answer, or an empty
  /// one.
  public static func answer(_ result: DeadLettersResult, _ style: Style) -> [String] {
    guard let answer = result.answer, !answer.isEmpty else { return [] }
    return [""] + payload(answer, isBase64: result.isAnswerBase64 ?? false, "answer", style)
  }

  private static func payload(_ text: String, isBase64: Bool, _ name: String, _ style: Style) -> [String] {
    isBase64 ? ["\(name) (base64):", VisibleText.make(text)] : PayloadText.pretty(Array(text.utf8), style)
  }
}
