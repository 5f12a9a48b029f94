// A page that names a command or an option that does not exist costs its reader an evening.
import Frames
import TestSupport
import Testing

/// A command as `roost --experimental-dump-help` has it.
private struct DumpedCommand: Decodable {
  struct Argument: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String
    }

    var names: [Name]?
  }

  var commandName: String
  var aliases: [String]?
  var defaultSubcommand: String?
  var arguments: [Argument]?
  var subcommands: [DumpedCommand]?

  /// The options that it takes, also as its default subcommand.
  var options: Set<String> {
    let names = (arguments ?? []).flatMap { $0.names ?? [] }.map { ($0.kind == "long" ? "--" : "-") + $0.name }
    let further = subcommands?.first { $0.commandName == defaultSubcommand }?.options ?? []
    return Set(names).union(further).union(["-h", "--help", "--version"])
  }
}

private struct DumpedHelp: Decodable {
  var command: DumpedCommand
}

@Suite("The commands in the documentation")
struct DocumentedCommandsTests {
  /// What is wrong with a line that calls `roost`; nil: nothing. Capitals and `…` are for the reader to fill in.
  private static func problem(_ words: [Substring], _ root: DumpedCommand) -> String? {
    var (command, rest) = (root, words.dropFirst())
    while let word = rest.first?.prefix(while: { !"/,.:".contains($0) }),
      let next = command.subcommands?.first(where: { ([$0.commandName] + ($0.aliases ?? [])).contains { $0 == word } })
    {
      (command, rest) = (next, rest.dropFirst())
    }
    if let word = rest.first, command.subcommands?.isEmpty == false, command.defaultSubcommand == nil,
      word.first?.isLowercase == true
    {
      return "'\(command.commandName)' has no command '\(word)'"
    }
    for word in rest {
      if word.hasPrefix("#") || word == "--" { return nil }
      let option = word.drop { $0 == "[" }.prefix { $0 == "-" || $0.isASCII && $0.isLowercase }
      guard option.hasPrefix("--"), option.count > 2 else { continue }
      if !command.options.contains(String(option)) { return "'\(command.commandName)' has no option '\(option)'" }
    }
    return nil
  }

  /// The commands in a page: those in blocks, and those between single backticks.
  private static func commands(in page: SourceFile) -> [(line: Int, words: [Substring])] {
    var (found, isInFence) = ([(Int, [Substring])](), false)
    for (number, line) in page.lines.enumerated() {
      if line.drop(while: { $0 == " " }).hasPrefix("```") {
        isInFence.toggle()
        continue
      }
      let texts =
        isInFence || line.hasPrefix("    ")
        ? [line]
        : line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
          .map(\.element)
      for text in texts {
        // In a table `\|` lists commands; elsewhere a pipe begins another program.
        for part in text.split(whereSeparator: { "|;&(".contains($0) }) {
          var words = part.split(whereSeparator: { " \\)".contains($0) })[...]
          if words.first == "$" { words = words.dropFirst() }
          words = words.drop { $0.contains("=") && $0.first?.isUppercase == true }
          if words.first == "roost" { found.append((number + 1, Array(words))) }
        }
      }
    }
    return found
  }

  @Test("exist, and take the options that are written beside them")
  func exist() throws {
    let dump = try SpawnedProcess(SpawnedProcess.builtProgram("roost"), ["--experimental-dump-help"])
    let help = try JSONPayload.decode(DumpedHelp.self, from: Array(try dump.readAllOutput().utf8))
    var count = 0
    for page in SourceTree.files where page.kind == "md" && page.path != "CHANGELOG.md" {
      for (line, words) in Self.commands(in: page) {
        count += 1
        let problem = Self.problem(words, help.command)
        #expect(problem == nil, "\(page.path):\(line): \(problem ?? "")")
      }
    }
    #expect(count > 200, "the commands of the pages are found")
  }

  @Test("are refused when they do not exist")
  func refused() throws {
    let dump = try SpawnedProcess(SpawnedProcess.builtProgram("roost"), ["--experimental-dump-help"])
    let help = try JSONPayload.decode(DumpedHelp.self, from: Array(try dump.readAllOutput().utf8))
    let page = SourceFile(
      path: "a.md",
      text: """
        # Page
            $ ROOST_SOCKET=x roost status --jsn   # a comment --none
        `roost nothing` and `roost key opn`, `roost plan read\\|write --json`
        """)
    let problems = Self.commands(in: page).compactMap { Self.problem($0.words, help.command) }
    #expect(
      problems == [
        "'status' has no option '--jsn'", "'roost' has no command 'nothing'", "'key' has no command 'opn'",
      ])
  }
}
