internal import Contracts
internal import Frames
internal import Wording

// The page's problems, and what waits for a person: each with its command.

extension StatusPage {
  /// A command, to be selected as a whole by one click. One that cannot be shown as it is to be typed is left out.
  static func command(_ text: String) -> Markup {
    let isWhole = text.unicodeScalars.count <= Markup.characterMaximum && VisibleText.make(text) == text
    return isWhole ? "<code>\(text)</code> " : ""
  }

  static func matters(_ verdict: Verdict) -> Markup {
    let shown = verdict.matters.filter { !$0.isDetailed }
    guard !shown.isEmpty else { return "" }
    let items: [Markup] = shown.map { matter in
      let commands = matter.commands.map(command)
      let line: Markup = commands.isEmpty ? "" : "<p>\(commands)</p>"
      return "<li><strong>\(matter.subject):</strong> \(matter.text)\(line)</li>\n"
    }
    return """
      <section class="card \(verdict.level.rawValue) commands" id="matters"><h2>What needs attention</h2><ul>
      \(items)</ul></section>

      """
  }

  static func waiting(_ waiting: Waiting) -> Markup {
    guard !waiting.groups.isEmpty else { return "" }
    let groups: [Markup] = waiting.groups.map { group in
      let items: [Markup] = group.items.map { item in
        "<li><strong>\(item.subject)</strong> \(item.text)<p>\(item.commands.map(command))</p></li>\n"
      }
      let others = group.count - group.items.count
      let rest = others > 0 ? more(others, group.command) : ""
      return "<h3 id=\"waiting-\(group.id)\">\(group.title)</h3><ul>\n\(items)\(rest)</ul>\n"
    }
    return """
      <section class="card pending commands" id="waiting"><h2>What waits for you</h2>
      \(groups)</section>

      """
  }
}
