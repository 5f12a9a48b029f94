/// A block of code of a page in Markdown: between two fences, or indented by four blanks after an empty line.
public struct CodeBlock: Sendable, CustomStringConvertible {
  /// The page's path, from the root of the checkout.
  public let page: String
  /// The line of its fence or, without one, its first line, counted from 1.
  public let line: Int
  /// The word after the fence. An indented block has none, so it is what its first line looks like.
  public let language: String
  /// Its lines, without the indentation that they have in common with their fence.
  public let lines: [Substring]
  /// Whether it has a fence.
  public let isFenced: Bool

  /// Its lines, each with its end.
  public var text: String { lines.map { $0 + "\n" }.joined() }
  /// Where it is, as editors read it.
  public var description: String { "\(page):\(line)" }

  /// The commands in it: of `console` the lines behind `$ `, with those that continue them.
  public var script: String { statements.map { $0 + "\n" }.joined() }

  /// The commands in it, each with all its lines: one with an open quote, a pipe, a backslash or a loop is continued.
  public var statements: [String] {
    var (found, open) = ([String](), "")
    for line in lines {
      let isCommand = language != "console" || line.hasPrefix("$ ")
      guard isCommand || !open.isEmpty, !line.isEmpty || !open.isEmpty else { continue }
      open += language == "console" && open.isEmpty ? line.dropFirst(2) : line
      if Self.isComplete(open) {
        found.append(open)
        open = ""
      } else {
        open += "\n"
      }
    }
    return open.isEmpty ? found : found + [open]
  }

  private static func isComplete(_ text: String) -> Bool {
    let code = text.replacing(/(^|\s)#\s.*$/, with: "")
    let words = code.split { " ;\n".contains($0) }
    return ["'", "\""].allSatisfy { quote in code.count { String($0) == quote } % 2 == 0 }
      && !["\\", "|", "&&"].contains { code.hasSuffix($0) }
      && words.count { $0 == "do" } == words.count { $0 == "done" }
  }

  /// All blocks of a page, in their order.
  public static func all(in page: String, of text: String) -> [CodeBlock] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var (found, index) = ([CodeBlock](), 0)
    while index < lines.count {
      let (start, indent) = (index, lines[index].prefix { $0 == " " }.count)
      if lines[start].dropFirst(indent).hasPrefix("```") {
        let end = lines[(start + 1)...].firstIndex { $0.drop { $0 == " " }.hasPrefix("```") } ?? lines.count
        let body = lines[(start + 1)..<end].map { $0.dropFirst(min(indent, $0.prefix { $0 == " " }.count)) }
        let language = String(lines[start].dropFirst(indent + 3))
        found.append(CodeBlock(page: page, line: start + 1, language: language, lines: body, isFenced: true))
        index = end + 1
      } else if indent >= 4, start == 0 || lines[start - 1].isEmpty {
        let end = lines[start...].firstIndex { !$0.isEmpty && !$0.hasPrefix("    ") } ?? lines.count
        var body = lines[start..<end].map { $0.dropFirst(4) }
        while body.last?.isEmpty == true { body.removeLast() }
        found.append(
          CodeBlock(page: page, line: start + 1, language: looks(body[0]), lines: body, isFenced: false))
        index = end
      } else {
        index += 1
      }
    }
    return found
  }

  /// What a first line without a fence is the beginning of.
  private static func looks(_ line: Substring) -> String {
    let line = line.drop { $0 == " " }
    if line.hasPrefix("$ ") { return "console" }
    if line.hasPrefix("{") { return "json" }
    if line.hasPrefix("["), line.hasSuffix("]") { return "toml" }
    return line.hasSuffix(":") ? "yaml" : "sh"
  }
}
