import Clocks
import Testing

@testable import Configuration

@Suite("Where each key stands")
struct KeyLocatorTests {
  private func line(_ text: String, _ steps: ConfigurationPath.Step...) -> Int? {
    KeyLocator(text).lines[ConfigurationPath(steps: steps)]
  }

  @Test("Headers and the keys below them have their lines, and a table implied by a header has the header's")
  func headers() {
    let text = "a = 1\n\n[x.y] # remark\nb = 2\n\n[ x . z ]\nc=3\n"
    #expect(line(text, .key("a")) == 1)
    #expect(line(text, .key("x")) == 3)
    #expect(line(text, .key("x"), .key("y")) == 3)
    #expect(line(text, .key("x"), .key("y"), .key("b")) == 4)
    #expect(line(text, .key("x"), .key("z")) == 6)
    #expect(line(text, .key("x"), .key("z"), .key("c")) == 7)
  }

  @Test("Dotted and quoted keys are followed, escapes and dots within quotes included")
  func quotedKeys() {
    let text = "a.\"b.c\".'d\"' = 1\n[\"sn\\u00f8 \\\"x\\\"\"]\n\"\" = 2\n"
    #expect(line(text, .key("a"), .key("b.c"), .key("d\"")) == 1)
    #expect(line(text, .key("snø \"x\"")) == 2)
    #expect(line(text, .key("snø \"x\""), .key("")) == 3)
  }

  @Test("Each element of an array over several lines has its own line")
  func arrays() {
    let text =
      "[t]\nlist = [ # a ] in a remark\n  \"one ]\",\n\n  'two, # no remark', [ 3,\n 4 ], # end\n]\nafter = 1\n"
    let list: [ConfigurationPath.Step] = [.key("t"), .key("list")]
    let lines = KeyLocator(text).lines
    #expect(lines[ConfigurationPath(steps: list)] == 2)
    #expect(lines[ConfigurationPath(steps: list + [.index(0)])] == 3)
    #expect(lines[ConfigurationPath(steps: list + [.index(1)])] == 5)
    #expect(lines[ConfigurationPath(steps: list + [.index(2), .index(0)])] == 5)
    #expect(lines[ConfigurationPath(steps: list + [.index(2), .index(1)])] == 6)
    #expect(line(text, .key("t"), .key("after")) == 8)
  }

  @Test("Inline tables are entered, also within arrays")
  func inlineTables() {
    let text = "\nlevels = { relay = \"debug\", \"a.b\" = 'x', c.d = 1 }\nl = [ { k = 1 },\n{ k = {m = 2} } ]\n"
    #expect(line(text, .key("levels"), .key("relay")) == 2)
    #expect(line(text, .key("levels"), .key("a.b")) == 2)
    #expect(line(text, .key("levels"), .key("c"), .key("d")) == 2)
    #expect(line(text, .key("l"), .index(0), .key("k")) == 3)
    #expect(line(text, .key("l"), .index(1), .key("k"), .key("m")) == 4)
  }

  @Test("Strings over several lines hide what looks like keys, and count their lines")
  func longStrings() {
    let text = "a = \"\"\"\n[no]\nk = 1 \\\"\"\" \n\"\"\"\"\"\nb = '''\n[neither]\\'''\nc = 1\r\nd = 2"
    #expect(line(text, .key("no")) == nil)
    #expect(line(text, .key("b")) == 5)
    #expect(line(text, .key("neither")) == nil)
    #expect(line(text, .key("c")) == 7)
    #expect(line(text, .key("d")) == 8)
  }

  @Test("Arrays of tables count their elements, and headers below mean the last one")
  func tableArrays() {
    let text = "[[w]]\na = 1\n[w.x]\nb = 2\n[[w]]\na = 3\n[w.x]\nb = 4\n"
    #expect(line(text, .key("w")) == 1)
    #expect(line(text, .key("w"), .index(0), .key("a")) == 2)
    #expect(line(text, .key("w"), .index(0), .key("x"), .key("b")) == 4)
    #expect(line(text, .key("w"), .index(1), .key("a")) == 6)
    #expect(line(text, .key("w"), .index(1), .key("x"), .key("b")) == 8)
  }

  @Test("A date with a blank in it and a byte order mark disturb nothing")
  func oddities() {
    let text = "\u{FEFF}a = [2030-01-01 12:00:00, 1]\nb = 1979-05-27T07:32:00Z # x\nc = -inf\n"
    #expect(line(text, .key("a"), .index(1)) == 1)
    #expect(line(text, .key("c")) == 3)
  }

  @Test("What is not in the text is found by what is around it")
  func nearest() {
    let locator = KeyLocator("\n[a.b]\nc = 1\n")
    #expect(locator.line(of: ConfigurationPath("a", "b", "missing", "deep")) == 2)
    #expect(locator.line(of: ConfigurationPath("z")) == nil)
  }

  @Test(
    "What would end the parser's process is told as an error with its place",
    arguments: [
      ("[bus]\n[.worker]", "x:2:2: expected a key, saw '.'"), ("[[ é]]", "x:1:4: expected a key, saw 'é'"),
      ("[\n]", "x:1:2: expected a key, saw the end of the line"),
      ("a = [\n  \"ø\", }", "x:2:8: expected a value or the ']' of an array, saw '}'"),
      ("a = [\u{A0}1]", "x:1:6: expected a value or the ']' of an array, saw '\u{A0}'"),
      ("a = [[1], [}]]", "x:1:12: expected a value or the ']' of an array, saw '}'"),
    ])
  func hazards(text: String, complaint: String) {
    #expect(throws: ConfigurationError.self) { try parse(text, file: "x") }
    do throws(ConfigurationError) {
      _ = try Configuration.parse(text, file: "x", surroundings: checkout)
    } catch { #expect("\(error)" == complaint) }
  }

  @Test("An ordinary fault before such a place is told instead of it, and harmless text has none")
  func hazardsLast() throws {
    do throws(ConfigurationError) {
      _ = try Configuration.parse("a = \n[.b]", file: "x", surroundings: checkout)
    } catch { #expect("\(error)".hasPrefix("x:1:")) }
    #expect(KeyLocator("a = '[.b]' # [.c]\nb = [{a = 1}, '}', # }\n]\nc = {}\n").hazard == nil)
    #expect(try KeyLocator(SupervisorConfTests.uncommented()).hazard == nil)
  }

  @Test("The walk ends on any bytes whatever", arguments: [UInt64](1...40))
  func endsAlways(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("[]{}=.,#\"'\\\n\r \tab1u".utf8)
    for _ in 0..<200 {
      let count = Int.random(in: 0...60, using: &generator)
      let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
      _ = KeyLocator(String(decoding: bytes, as: UTF8.self))
    }
    _ = KeyLocator("a = " + String(repeating: "[", count: 100_000))
  }

  @Test("Every key of the shipped file that the parser sees has a line, and it is the key's own")
  func agreesWithTheParser() throws {
    let text = try SupervisorConfTests.uncommented()
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let locator = KeyLocator(text)
    func walk(_ value: ConfigurationValue, at path: ConfigurationPath) throws {
      let line = try #require(locator.lines[path], "\(path)")
      if case .key(let key)? = path.steps.last { #expect(lines[line - 1].contains(key), "\(path)") }
      if case .table(let entries) = value {
        for (key, value) in entries { try walk(value, at: path.appending(key)) }
      }
    }
    for (key, value) in try TOMLReading.tree(of: text, file: "", locator: locator).tree {
      try walk(value, at: ConfigurationPath(key))
    }
  }
}
