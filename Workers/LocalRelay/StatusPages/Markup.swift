internal import Wording

/// HTML under construction.
///
/// Interpolated text is escaped; only `Markup` is inserted unchanged. So the author of a page cannot forget to escape,
/// and a relay's words cannot become markup.
struct Markup: ExpressibleByStringInterpolation, Sendable {
  private(set) var html: String

  /// Most characters that are shown of foreign text; the rest is cut, with an ellipsis.
  static let characterMaximum = 300

  init(stringLiteral value: String) { html = value }

  init(stringInterpolation: Interpolation) { html = stringInterpolation.html }

  /// Takes the program's own HTML unchanged.
  init(trusted html: String) { self.html = html }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var html = ""

    init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { html += literal }
    mutating func appendInterpolation(_ text: String) { html += Markup.escape(text) }
    mutating func appendInterpolation(_ markup: Markup) { html += markup.html }
    mutating func appendInterpolation(_ pieces: [Markup]) { for piece in pieces { html += piece.html } }
  }

  /// Escapes text for an element or a quoted attribute. Characters that change the direction of text, or hide it, are
  /// shown as escapes.
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
