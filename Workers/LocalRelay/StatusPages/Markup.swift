internal import Wording

/// HTML in the making.
///
/// What is interpolated as text is escaped, and only markup is taken as it is: whoever puts together a page cannot
/// forget it, and a relay's words cannot become part of the page.
struct Markup: ExpressibleByStringInterpolation, Sendable {
  private(set) var html: String

  /// Longest text of others that is shown, in characters; what is beyond is cut, with an ellipsis.
  static let characterMaximum = 300

  init(stringLiteral value: String) { html = value }

  init(stringInterpolation: Interpolation) { html = stringInterpolation.html }

  /// Takes text of the program's own as it is.
  init(trusted html: String) { self.html = html }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var html = ""

    init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { html += literal }
    mutating func appendInterpolation(_ text: String) { html += Markup.escape(text) }
    mutating func appendInterpolation(_ markup: Markup) { html += markup.html }
    mutating func appendInterpolation(_ pieces: [Markup]) { for piece in pieces { html += piece.html } }
  }

  /// Text as HTML, in an element as in an attribute's quotes. Marks that turn the direction of what follows, or hide
  /// it, are shown as escapes.
  static func escape(_ text: String) -> String {
    let isLong = text.unicodeScalars.count > characterMaximum
    let shown = isLong ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(characterMaximum))) + "…" : text
    var result = ""
    for scalar in VisibleText.make(shown).unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
