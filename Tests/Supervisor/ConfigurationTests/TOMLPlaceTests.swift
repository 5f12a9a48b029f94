import Testing

@testable import RoostConfiguration

@Suite("Where each key and value stands")
struct TOMLPlaceTests {
  private func document(_ text: String) throws -> TOMLDocument { try TOMLReader.document(of: Array(text.utf8)) }

  private func expect(
    _ text: String, _ places: [([ConfigurationPath.Step], key: String, value: String)],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let document = try document(text)
    func written(_ place: TOMLPlace?) -> String { place.map { "\($0.line):\($0.column)" } ?? "nowhere" }
    for (steps, key, value) in places {
      let path = ConfigurationPath(steps: steps)
      #expect(written(document.keyPlace(of: path)) == key, "\(path)", sourceLocation: sourceLocation)
      #expect(written(document.valuePlace(of: path)) == value, "\(path)", sourceLocation: sourceLocation)
    }
  }

  @Test("Headers and the keys below them have their places, and a table implied by a header has the header's")
  func headers() throws {
    try expect(
      "a = 1\n\n[x.y] # remark\n  b = 2\n\n[ x . z ]\nc=3\n",
      [
        ([.key("a")], "1:1", "1:5"), ([.key("x")], "3:2", "3:2"), ([.key("x"), .key("y")], "3:4", "3:4"),
        ([.key("x"), .key("y"), .key("b")], "4:3", "4:7"), ([.key("x"), .key("z")], "6:7", "6:7"),
        ([.key("x"), .key("z"), .key("c")], "7:1", "7:3"),
      ])
  }

  @Test("A table met first on another's way keeps that place, and its own header is where its value is")
  func impliedTables() throws {
    try expect("[x.y]\n[x]\n", [([.key("x")], "1:2", "2:2")])
  }

  @Test("Dotted and quoted keys are followed, escapes and dots within quotes included")
  func quotedKeys() throws {
    let strange = "snø \"x\""
    try expect(
      "a.\"b.c\".'d\"' = 1\n[\"sn\\u00f8 \\\"x\\\"\"]\n\"\" = 2\n",
      [
        ([.key("a"), .key("b.c"), .key("d\"")], "1:9", "1:16"), ([.key("a"), .key("b.c")], "1:3", "1:3"),
        ([.key(strange)], "2:2", "2:2"), ([.key(strange), .key("")], "3:1", "3:6"),
      ])
  }

  @Test("Each element of an array over several lines has its own place")
  func arrays() throws {
    let list: [ConfigurationPath.Step] = [.key("t"), .key("list")]
    try expect(
      "[t]\nlist = [ # a ] in a remark\n  \"one ]\",\n\n  'two, # no remark', [ 3,\n 4 ], # end\n]\nafter = 1\n",
      [
        (list, "2:1", "2:8"), (list + [.index(0)], "3:3", "3:3"), (list + [.index(1)], "5:3", "5:3"),
        (list + [.index(2), .index(0)], "5:25", "5:25"), (list + [.index(2), .index(1)], "6:2", "6:2"),
        ([.key("t"), .key("after")], "8:1", "8:9"),
      ])
  }

  @Test("Inline tables are entered, also within arrays")
  func inlineTables() throws {
    try expect(
      "\nlevels = { relay = \"debug\", \"a.b\" = 'x', c.d = 1 }\nl = [ { k = 1 },\n{ k = {m = 2} } ]\n",
      [
        ([.key("levels"), .key("relay")], "2:12", "2:20"), ([.key("levels"), .key("a.b")], "2:29", "2:37"),
        ([.key("levels"), .key("c"), .key("d")], "2:44", "2:48"), ([.key("l"), .index(0), .key("k")], "3:9", "3:13"),
        ([.key("l"), .index(1), .key("k"), .key("m")], "4:8", "4:12"),
      ])
  }

  @Test("Strings over several lines hide what looks like keys, and count their lines")
  func longStrings() throws {
    try expect(
      "a = \"\"\"\n[no]\nk = 1 \\\"\"\" \n\"\"\"\"\"\nb = '''\n[neither]\\'''\nc = 1\r\nd = 2",
      [
        ([.key("no")], "nowhere", "nowhere"), ([.key("b")], "5:1", "5:5"),
        ([.key("neither")], "nowhere", "nowhere"), ([.key("c")], "7:1", "7:5"), ([.key("d")], "8:1", "8:5"),
      ])
  }

  @Test("Arrays of tables count their elements, and headers below mean the last one")
  func tableArrays() throws {
    let tables = ConfigurationPath.Step.key("w")
    try expect(
      "[[w]]\na = 1\n[w.x]\nb = 2\n[[ w]]\na = 3\n[w.x]\nb = 4\n",
      [
        ([tables], "1:3", "1:3"), ([tables, .index(0), .key("a")], "2:1", "2:5"),
        ([tables, .index(0), .key("x"), .key("b")], "4:1", "4:5"), ([tables, .index(1)], "5:4", "5:4"),
        ([tables, .index(1), .key("a")], "6:1", "6:5"), ([tables, .index(1), .key("x"), .key("b")], "8:1", "8:5"),
        ([tables, .index(2)], "nowhere", "nowhere"), ([tables, .key("a")], "nowhere", "nowhere"),
      ])
  }

  @Test("Columns count code points, and a byte order mark is none")
  func columns() throws {
    try expect(
      "\u{FEFF}a = [\"ø🪶\", 1]\n\"é\" = 1979-05-27 07:32:00Z # x\nc = -inf\n",
      [
        ([.key("a")], "1:1", "1:5"), ([.key("a"), .index(1)], "1:12", "1:12"), ([.key("é")], "2:1", "2:7"),
        ([.key("c")], "3:1", "3:5"),
      ])
  }

  @Test("What is not in the text is found by what is around it")
  func nearest() throws {
    let document = try document("\n[a.b]\nc = 1\n")
    #expect(document.line(of: ConfigurationPath("a", "b", "missing", "deep")) == 2)
    #expect(document.line(of: ConfigurationPath("z")) == nil)
  }

  @Test("Every key of the shipped file has the place where it is written")
  func shippedFile() throws {
    let text = try SupervisorConfTests.uncommented()
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let document = try document(text)
    func walk(_ value: ConfigurationValue, at path: ConfigurationPath) throws {
      let place = try #require(document.keyPlace(of: path), "\(path)")
      if case .key(let key)? = path.steps.last {
        #expect(lines[place.line - 1].dropFirst(place.column - 1).hasPrefix(key), "\(path)")
      }
      guard case .table(let entries) = value else { return }
      for (key, value) in entries { try walk(value, at: path.appending(key)) }
    }
    for (key, value) in document.tree { try walk(value, at: ConfigurationPath(key)) }
  }
}
