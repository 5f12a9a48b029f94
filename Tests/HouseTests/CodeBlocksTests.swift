// What a page shows in a block is typed in and copied. Each block says by its tag what it is, and is read here by what
// reads it in earnest: bash, JSON, the schema of supervisor.conf, the compilers of Swift and Python. DocumentRunTests
// of ProcessTests runs what can be run. `text` is what programs print, drawings and layouts of bytes: nothing reads it.
import Frames
import Glibc
import RoostConfiguration
import TestSupport
import Testing

@Suite("The blocks of the pages")
struct CodeBlocksTests {
  private static let pages = SourceTree.files.filter { $0.kind == "md" && $0.path != "CHANGELOG.md" }
  private static let blocks = pages.flatMap { CodeBlock.all(in: $0.path, of: $0.text) }
  private static let tags: Set<String> = [
    "sh", "console", "json", "jsonc", "http", "toml", "ini", "yaml", "nginx", "python", "swift", "text",
  ]

  private static func blocks(_ languages: String...) -> [CodeBlock] {
    blocks.filter { languages.contains($0.language) }
  }

  /// What a program says of a text, if anything is wrong with it.
  private func complaint(of program: String, _ arguments: String..., about text: String, named name: String) throws
    -> String?
  {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/" + name
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
    let process = try SpawnedProcess("/usr/bin/env", [program] + arguments + [path])
    let output = try process.readAllOutput()
    return try process.waitForEnd() == .exited(0) ? nil : "\(output.suffix(600))"
  }

  @Test("say what they are")
  func tagged() {
    for block in Self.blocks {
      #expect(Self.tags.contains(block.language), "\(block) has the tag '\(block.language)'")
      #expect(!block.lines.isEmpty, "\(block) is empty")
    }
    #expect(Self.blocks.count > 130, "the blocks of the pages are found")
  }

  @Test("with commands are read by bash, and have no command that is not known")
  func commands() throws {
    let targets = Set(
      (SourceTree.file("Makefile")?.lines ?? []).compactMap { $0.firstMatch(of: /^([a-z-]+):/).map { String($0.1) } })
    for block in Self.blocks("sh", "console") {
      let script = block.script
      #expect(!script.isEmpty, "\(block) has no command")
      let complaint = try complaint(of: "bash", "-n", about: script, named: "block.sh")
      #expect(complaint == nil, "\(block): \(complaint ?? "")")
      for command in ShellText(script).commands {
        let problem = Self.problem(command, targets)
        #expect(problem == nil, "\(block): \(problem ?? "")")
      }
    }
  }

  @Test("of JSON are JSON, and name methods and arguments that exist")
  func json() throws {
    let methods = try MethodNames.read()
    var count = 0
    func check(_ call: MethodCall?, _ block: CodeBlock) {
      guard let call else { return }
      count += 1
      let problem = methods.problem(call)
      #expect(problem == nil, "\(block): \(problem ?? "")")
    }
    for block in Self.blocks("json", "jsonc") {
      do {
        for value in try JSONSample.values(of: block.text, hasNotes: block.language == "jsonc") {
          check(MethodCall(value), block)
        }
      } catch { Issue.record("\(block): \(error)") }
    }
    for block in Self.blocks("sh", "console") {
      for words in ShellText(block.script).commands {
        do {
          check(try MethodCall(words), block)
          if words.first == "echo", words.count == 2, words[1].hasPrefix("{") {
            for value in try JSONSample.values(of: words[1], hasNotes: false) { check(MethodCall(value), block) }
          }
        } catch { Issue.record("\(block): \(words): \(error)") }
      }
    }
    #expect(count > 10, "calls are found")
  }

  @Test("of HTTP are a request, its headers and a body of JSON")
  func http() throws {
    for block in Self.blocks("http") {
      for request in block.text.split(separator: "\n\n") {
        let lines = request.split(separator: "\n")
        let head = lines[0].wholeMatch(of: /(GET|PUT|POST|DELETE) \/v1\/[a-z_\/]+/)
        let body = lines.dropFirst().drop { $0.wholeMatch(of: /[A-Z][A-Za-z-]+: .+/) != nil }
        #expect(head != nil, "\(block): \(lines[0])")
        do {
          let values = try JSONSample.values(of: body.joined(separator: "\n"), hasNotes: false)
          #expect(values.count == 1, "\(block)")
        } catch { Issue.record("\(block): \(error)") }
      }
    }
  }

  @Test("for supervisor.conf are in its schema, in the shipped file's place")
  func configuration() throws {
    let shipped = try #require(SourceTree.file("supervisor.conf"))
    let surroundings = ConfigurationSurroundings(
      environment: ["HOME": "/home/me"], currentDirectory: "/home/me/roost", programDirectory: "/usr/bin")
    let toml = Self.blocks("toml")
    #expect(toml.count > 10)
    for block in toml {
      let merged = ConfigurationText.merged(block.lines, into: shipped.lines)
      do {
        _ = try Configuration.parse(merged, file: block.page, surroundings: surroundings)
      } catch { Issue.record("\(block): \(error)") }
    }
    let wrong = ConfigurationText.merged(["[worker.backup]", "directroy = \"/srv\""], into: shipped.lines)
    #expect(throws: ConfigurationError.self) {
      try Configuration.parse(wrong, file: "a.md", surroundings: surroundings)
    }
  }

  @Test("in Python compile; in systemd's form and YAML they can be read")
  func python() throws {
    for block in Self.blocks("python") {
      let complaint = try complaint(of: "python3", "-m", "py_compile", about: block.text, named: "block.py")
      #expect(complaint == nil, "\(block): \(complaint ?? "")")
    }
    let ini = "import configparser, sys; p = configparser.ConfigParser(strict=False); p.read_file(open(sys.argv[1]))"
    for block in Self.blocks("ini") {
      let complaint = try complaint(of: "python3", "-c", ini, about: block.text, named: "block.ini")
      #expect(complaint == nil, "\(block): \(complaint ?? "")")
    }
    let yaml = SharedFolder.repository + "/.venv-site/bin/python3"
    guard access(yaml, X_OK) == 0 else { return print("skipped: YAML, no .venv-site ('make python' makes it)") }
    for block in Self.blocks("yaml") {
      let read = "import sys, yaml; assert isinstance(yaml.safe_load(open(sys.argv[1])), dict)"
      let complaint = try complaint(of: yaml, "-c", read, about: block.text, named: "block.yaml")
      #expect(complaint == nil, "\(block): \(complaint ?? "")")
    }
  }

  @Test("in Swift are lines of an example that is built, or are parsed by the compiler")
  func swift() throws {
    let examples = SourceTree.swiftFiles(below: "examples").map(\.text)
    let compiler = ["/usr/bin/env", "swiftc"]
    let finds = try SpawnedProcess(compiler[0], ["which", compiler[1]], environment: Self.environment)
    let hasCompiler = try finds.waitForEnd() == .exited(0)
    for block in Self.blocks("swift") {
      let isExample = examples.contains { $0.contains(block.text) }
      if isExample { continue }
      #expect(block.lines.count < 10, "\(block) is long: show a part of an example that is built")
      guard hasCompiler else {
        print("skipped: \(block), no swiftc")
        continue
      }
      // A dependency of a package is an argument, so it begins with a dot.
      let text = block.lines.map { $0.hasPrefix(".") ? "_ = Part\($0)\n" : "\($0)\n" }.joined()
      let folder = try TemporaryDirectory()
      let file = try #require(fopen(folder.path + "/block.swift", "w"))
      fputs(text, file)
      fclose(file)
      let process = try SpawnedProcess(
        compiler[0], [compiler[1], "-frontend", "-parse", folder.path + "/block.swift"], environment: Self.environment)
      let output = try process.readAllOutput()
      #expect(try process.waitForEnd() == .exited(0), "\(block): \(output)")
    }
  }

  /// With the search path of the test itself: the compiler is not among the system's programs everywhere.
  private static let environment = ["PATH=\(getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")"]
}
