import Frames
import JSON
import Testing

@Suite("What is wrong with a JSON text")
struct JSONFlawTests {
  private func flaw(_ text: String) -> JSONFlaw? { JSONFlaw.first(in: Array(text.utf8)) }

  @Test(
    "A member that stands twice is found with its place, escapes notwithstanding",
    arguments: [
      (#"{"a":1,"a":2}"#, "a"), (#"{"a":{"b":[{"c":1},{"c":1, "d":[], "c":2}]}}"#, "a.b[1].c"),
      (#"{"id":1,"\u0069d":2}"#, "id"), (#"[[],{"x":"y","x":"y"}]"#, "[1].x"), (#"{"":1,"":1}"#, ""),
      (#"{"a":{"a":1},"b":"a","a":1}"#, "a"),
    ])
  func repeated(text: String, place: String) { #expect(flaw(text) == .repeatedMember(place)) }

  @Test(
    "Half of a surrogate pair is found with its place and as it stands",
    arguments: [
      (#"{"content":"x\ud800"}"#, "content", #"\ud800"#), (#"["a",["\uDC00\ud83d\ude00"]]"#, "[1][0]", #"\udc00"#),
      (#""\ud83dx""#, "", #"\ud83d"#), (#"{"a\udfff":1}"#, "", #"\udfff"#),
      (#"{"a":"\\ud800\ud83d\u0041"}"#, "a", #"\ud83d"#),
    ])
  func surrogate(text: String, place: String, escape: String) {
    #expect(flaw(text) == .loneSurrogate(place, escape: escape))
  }

  @Test(
    "Sound texts have none",
    arguments: [
      "{}", "[]", "1", #"{"a":[1,2,{"a":"a"}],"b":{"a":"\"a\":"}}"#, #""\ud83d\ude00 \\ud800 \" \\""#,
      #"{"é":1,"e\u0301":2}"#,
    ])
  func sound(text: String) { #expect(flaw(text) == nil) }

  @Test(
    "What is no JSON is told with its place, and so is what only a lenient decoder takes",
    arguments: [
      ("", 0), ("{", 1), (#"{"a"#, 3), (#"{"a":"\"#, 7), ("}}}]]", 0), ("{,,:", 1), ("\"", 1), ("[1,]", 3),
      (#"{"x":[1,],"a":1,"a":2}"#, 8), ("[\u{0}1\u{0}]", 1),
    ])
  func notJSON(text: String, byteOffset: Int) {
    guard case .notJSON(let fault)? = flaw(text) else {
      Issue.record("took \(text)")
      return
    }
    #expect(fault.byteOffset == byteOffset)
  }

  @Test("Nesting without end is no work without end")
  func nested() {
    #expect(flaw(String(repeating: "[", count: 100_000)) == .notJSON(JSONFault(.tooDeep(512), at: 512)))
  }

  @Test("A text that is refused for half of a surrogate pair is told so")
  func told() {
    #expect {
      try JSONPayload.decode([String: String].self, from: #"{"a":"\ud800"}"#.utf8)
    } throws: {
      ($0 as? Refusal)?.message == #"'a' has \ud800, which is half of a surrogate pair and no character"#
    }
  }
}
