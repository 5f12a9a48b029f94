import Contracts

/// A notice as arguments of a program.
///
/// `notify-send` passes the body on to a service of the desktop, which reads HTML's `<b>`, `<a>` and `<img>` in it, and
/// it reads backslashes itself. So for a program of that name the body is escaped. Other programs get the text as it
/// is.
struct NoticeText {
  let title: String
  let body: String

  /// The most characters of a text: the kernel bounds an argument, and no desktop shows more.
  private static let characterMaximum = 1_000

  init(_ notice: LinkChange.Notice, for program: String) {
    title = Self.argument(notice.title)
    let isNotifySend = program.split(separator: "/").last == "notify-send"
    body = isNotifySend ? Self.escaped(Self.argument(notice.body)) : Self.argument(notice.body)
  }

  /// A text that is no option and contains no control characters but line ends.
  private static func argument(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(characterMaximum) {
      scalars.append(scalar.properties.generalCategory == .control && scalar != "\n" ? " " : scalar)
    }
    return text.unicodeScalars.first == "-" ? " \(String(scalars))" : String(scalars)
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\\": result += "\\\\"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}
