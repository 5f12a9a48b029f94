// What CodeBlocksTests reads blocks by: commands that are known, settings put into the shipped file, calls of methods.
import Frames
import TestSupport

extension CodeBlocksTests {
  /// Commands of others that pages name: Debian's, and those of the systems beside Roost.
  static let known: Set<String> = [
    "roost", "roostd", "apt", "systemctl", "systemd-creds", "loginctl", "journalctl", "usermod", "jq", "curl", "xargs",
    "notify-send", "read", "echo", "printf", "export", "umask", "cd", "rm", "mv", "cp", "mkdir", "cat", "head", "seq",
    "base64", "python3", "pip", "swift", "man", "gdb", "lldb", "zstd", "ssh", "nak", "xdg-open", ".", "kill",
    "podman", "openssl",
  ]

  /// What is wrong with a command that is not `roost`'s own affair: DocumentedCommandsTests has that.
  static func problem(_ words: [String], _ targets: Set<String>) -> String? {
    guard let name = words.first else { return nil }
    switch name {
    case "sudo": return problem(Array(words.dropFirst().drop { $0.hasPrefix("-") }), targets)
    case "make": return words.dropFirst().first { !targets.contains($0) && !$0.contains("=") }.map { "no target \($0)" }
    case _ where name.hasPrefix(".build/") || name.hasPrefix(".venv"): return nil
    case _ where name.contains("/"): return SourceTree.exists(name) ? nil : "there is no \(name)"
    default: return known.contains(name) ? nil : "'\(name)' is no command that the pages use"
    }
  }
}

/// A block's settings in the place of the shipped ones.
enum ConfigurationText {
  static func merged(_ block: some Sequence<Substring>, into shipped: [Substring]) -> String {
    var tables: [(name: Substring, lines: [Substring])] = []
    for line in block {
      if line.hasPrefix("[") {
        tables.append((line, []))
      } else if !tables.isEmpty {
        tables[tables.count - 1].lines.append(line)
      }
    }
    let keys = { (lines: [Substring]) in Set(lines.compactMap { $0.firstMatch(of: /^([a-z-]+) *=/)?.1 }) }
    var (text, present) = ("", Substring())
    var (used, isReplaced) = (Set<Substring>(), false)
    for line in shipped {
      if line.hasPrefix("[") {
        present = line
        text += line + "\n"
        if let table = tables.first(where: { $0.name == line }) {
          text += table.lines.map { $0 + "\n" }.joined()
          used.insert(line)
        }
        continue
      }
      // A setting that the block replaces goes, with the lines of its list.
      let replaced = tables.first { $0.name == present }.map { keys($0.lines) } ?? []
      if let key = line.firstMatch(of: /^([a-z-]+) *=/)?.1 { isReplaced = replaced.contains(key) }
      if line.isEmpty || line.hasPrefix("#") { isReplaced = false }
      if !isReplaced { text += line + "\n" }
    }
    for table in tables where !used.contains(table.name) {
      text += ([table.name] + table.lines).map { $0 + "\n" }.joined()
    }
    return text
  }
}

/// A call of a method, as a page shows it.
struct MethodCall {
  var method: String
  var arguments: [String: JSONValue]

  /// A line of `roost bus` or of the page of links; nil: it is something else.
  init?(_ value: JSONValue) {
    guard case .object(let members) = value, case .string(let method)? = members["method"] else { return nil }
    self.method = method
    arguments = [:]
    if case .object(let named)? = members["params"] ?? members["arguments"] { arguments = named }
  }

  /// `roost call METHOD JSON`; nil: it is something else.
  init?(_ words: [String]) throws {
    guard words.prefix(2) == ["roost", "call"], words.count > 2 else { return nil }
    method = words[2]
    arguments = [:]
    guard words.count > 3, words[3].hasPrefix("{") else { return }
    let value = try JSONSample.values(of: words[3], hasNotes: false).first
    if case .object(let named)? = value { arguments = named }
  }
}

/// The names in `docs/methods.json`.
struct MethodNames: Decodable {
  struct Entry: Decodable {
    struct Form: Decodable {
      struct Schema: Decodable {
        var reference: String?
        enum CodingKeys: String, CodingKey { case reference = "$ref" }
      }

      var schema: Schema?
    }

    var name: String
    var arguments: Form?
  }

  struct Definition: Decodable { var properties: [String: JSONValue]? }

  var methods: [Entry]
  var definitions: [String: Definition]

  static func read() throws -> MethodNames {
    try JSONPayload.decode(MethodNames.self, from: Array((SourceTree.file("docs/methods.json")?.text ?? "").utf8))
  }

  /// What is wrong with a call: its method, or a name among its arguments.
  func problem(_ call: MethodCall) -> String? {
    // Methods of the example's own worker.
    if call.method.hasPrefix("example.") { return nil }
    guard let entry = methods.first(where: { $0.name == call.method }) else { return "no method '\(call.method)'" }
    guard let name = entry.arguments?.schema?.reference?.split(separator: "/").last,
      let properties = definitions[String(name)]?.properties
    else { return nil }
    let unknown = call.arguments.keys.sorted().first { properties[$0] == nil }
    return unknown.map { "'\(call.method)' has no argument '\($0)'" }
  }
}
