import Testing

@testable import RoostConfiguration

@Suite("What else a mirror is to keep")
struct KeepTests {
  private let author = String(repeating: "a", count: 64)

  @Test("Each table is a filter with its relays and its bound, and the whole is read again as it was")
  func tables() throws {
    let text = """
      [worker.mirror]
      keep-bytes-named = "8GiB"
      keep-bytes-wraps = 0
      [worker.mirror.keep.long-reads]
      filter = '{"kinds":[30023],"authors":["\(author)"],"since":1700000000}'
      relays = ["wss://Relay.example"]
      bytes = "512MiB"
      [worker.mirror.keep.all]
      filter = '{"authors":["\(author)"]}'
      """
    let configuration = try parse(text)
    let worker = try #require(configuration.worker(named: "mirror"))
    let settings = configuration.settingsSent(to: worker)
    #expect(settings["keepNamedBytes"] == .integer(8 << 30) && settings["keepWrapsBytes"] == .integer(0))
    #expect(settings["keepFollowsBytes"] == .integer(1 << 30))
    guard case .array(let keeps)? = settings["keep"] else { return #expect(Bool(false), "there are tables") }
    #expect(keeps.map { $0["name"] } == [.string("all"), .string("long-reads")])
    #expect(keeps[1]["bytes"] == .integer(512 << 20) && keeps[0]["bytes"] == .integer(0))
    #expect(keeps[1]["relays"] == .array([.string("wss://Relay.example")]))
    #expect(try parse(configuration.effective) == configuration)
    let changed = try parse(text.replacing("\"512MiB\"", with: "\"1GiB\""))
    let keys = changed.changes(from: configuration).flatMap(\.keys)
    #expect(keys.map(\.name) == ["keep.long-reads.bytes"] && keys.first?.effect == .live)
  }

  @Test(
    "What cannot be kept is refused, with its place and the reason",
    arguments: [
      ("", "needs a filter"), ("filter = 'x'", "no JSON object"), (#"filter = '{"authors":["x"]}'"#, "64 lower case"),
      (#"filter = '{"kinds":[1059],"authors":["A"]}'"#, "gift wraps (kind 1059)"),
      (#"filter = '{"kinds":[1,21059]}'"#, "gift wraps (kind 21059)"),
      (##"filter = '{"#p":["x"]}'"##, "needs 'kinds'"), (#"filter = '{"kinds":[1],"limit":5}'"#, "no 'limit'"),
      (#"filter = '{"kinds":[1],"search":"x"}'"#, "no 'search'"),
      (#"filter = '{"kinds":[1]}'"#, "set bytes"), ("filter = '{}'\nrelays = [\"x\"]", "x"),
      ("file = 1", "unknown key"),
    ])
  func refused(_ lines: String, _ words: String) {
    let text = "[worker.mirror.keep.art]\n" + lines.replacing("\"A\"", with: "\"\(author)\"")
    #expect(complaints(about: text).contains { $0.contains(words) }, "\(complaints(about: text))")
  }

  @Test("Only a mirror has such tables, with names like those of workers")
  func names() {
    for text in ["[worker.signer.keep.art]", "[worker.mirror.keep.Art]\nfilter = '{}'", "[worker.mirror]\nkeep = 1"] {
      #expect(throws: (any Error).self, "\(text)") { _ = try parse(text) }
    }
  }
}
