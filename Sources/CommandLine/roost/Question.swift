internal import Frames

/// A question on the terminal. What is typed is shown; a wrong answer is reported, and asked for again.
enum Question {
  /// The answer's meaning, or what to say about it.
  enum Reading<Value> {
    case success(Value)
    case failure(String)
  }

  /// The most wrong answers.
  static let attemptMaximum = 3

  /// Asks until an answer can be read.
  ///
  /// - Returns: nil at the end of input, or after too many wrong answers.
  static func ask<Value>(_ question: String, _ read: (String) -> Reading<Value>) throws(Refusal) -> Value? {
    SecretInput.say(question)
    for attempt in 1...attemptMaximum {
      guard let line = line() else { return nil }
      switch read(line) {
      case .success(let value): return value
      case .failure(let words): if attempt < attemptMaximum { SecretInput.say(words + "\n") }
      }
    }
    return nil
  }

  /// The next line of the terminal; nil at the end of input.
  static func line() -> String? { Swift.readLine()?.trimmedSpaces }

  /// Whether the answer is yes; no at the end of input, and after too many wrong answers.
  static func isYes(_ question: String) throws(Refusal) -> Bool {
    let answer = try ask(question + " [y/n] ") { text -> Reading<Bool> in
      switch text.lowercased() {
      case "y", "yes": .success(true)
      case "n", "no": .success(false)
      default: .failure("Answer y or n:")
      }
    }
    return answer ?? false
  }
}

extension String {
  /// The text without spaces and tabs at both ends.
  fileprivate var trimmedSpaces: String {
    var text = self[...]
    while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
    while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
    return String(text)
  }
}
