import Clocks
import Frames
import TestSupport
import Testing

@testable import Rendering

@Suite struct JSONTextTests {
  private func compact(_ text: String) -> String? {
    (try? JSONText(Array(text.utf8))).map { String(decoding: $0.compact, as: UTF8.self) }
  }

  @Test("What is JSON passes with every digit and the order of its keys")
  func valid() {
    let big = #"{"z":123456789012345678901234567890.10,"a":[1E+5,-0,"\u00e9\n\"",true,null,{}],"é":[]}"#
    #expect(compact(big) == big)
    #expect(compact(" [ 1 ,\n 2 ] ") == "[1,2]")
    #expect(compact("\"text\"") == "\"text\"")
  }

  @Test(
    "What is not JSON is refused",
    arguments: [
      "", " ", "{", "[1,]", "[,1]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "01", "1.", "-", "+1", "1e", "tru", "nulll",
      "\"a", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "[1] 2", "'a'", "[1 2]", "{\"a\":1 \"b\":2}",
    ])
  func invalid(text: String) { #expect(compact(text) == nil) }

  @Test("The place of a mistake is told")
  func place() {
    #expect(throws: JSONText.Problem(offset: 7, reason: "a comma or ']' is missing")) {
      try JSONText(Array("[10, 20".utf8))
    }
  }

  @Test("Nesting is bounded")
  func depth() {
    let deep = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
    #expect(compact(deep) == deep)
    #expect(compact("[" + deep + "]") == nil)
    #expect(compact(String(repeating: "[", count: 1_000_000)) == nil)
  }

  @Test("It agrees with the JSON decoder about small texts of JSON's own letters")
  func oracle() {
    // No text of five of these is beyond a Double, as 1e1011 is, or repeats a key.
    let letters = Array(#"{}[]",:10-.e tn\"#.utf8)
    let seed = seeds(1)[0]
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
        letters[Int.random(in: 0..<letters.count, using: &generator)]
      }
      let isOurs = (try? JSONText(text)) != nil
      let isTheirs = (try? JSONPayload.decode(JSONValue.self, from: text)) != nil
      // The decoder allows a comma after the last element; RFC 8259 does not.
      let hasLastComma = String(decoding: text, as: UTF8.self).contains(#/,\s*[\]}]/#)
      #expect(isOurs ? isTheirs : !isTheirs || hasLastComma, "\(String(decoding: text, as: UTF8.self)), seed \(seed)")
    }
  }

  @Test("An indented payload keeps short lists on a line and makes escapes visible")
  func pretty() {
    let text = "{\"id\":1,\"tags\":[[\"p\",\"ab\"],[]],\"content\":\"\u{9B}x\",\"more\":{\"a\":[{}]}}"
    #expect(
      PayloadText.pretty(Array(text.utf8), .plain) == [
        "{", "  \"id\": 1,", "  \"tags\": [", "    [\"p\", \"ab\"],", "    []", "  ],",
        "  \"content\": \"\\u{9B}x\",", "  \"more\": {", "    \"a\": [", "      {}", "    ]", "  }", "}",
      ])
    #expect(PayloadText.pretty(Array("no\u{1B} json".utf8), .plain) == ["no\\e json"])
  }
}

@Suite struct PipeLinesTests {
  private func request(_ text: String) throws -> PipeRequest { try PipeRequest(line: Array(text.utf8), number: 3) }

  @Test("A request keeps its id and parameters to the digit")
  func request() throws {
    let request = try request(
      #"{"id": {"a" :1.50}, "method":"relay.list","params":{"b":12345678901234567890, "a":1},"to":"w","ttlMilliseconds":7}"#
    )
    #expect(String(decoding: request.id, as: UTF8.self) == #"{"a":1.50}"#)
    #expect(String(decoding: request.parameters, as: UTF8.self) == #"{"b":12345678901234567890,"a":1}"#)
    #expect(request.worker == "w" && request.ttlMilliseconds == 7 && !request.atMostOnce)
    #expect(try self.request(#"{"method":"m","params":null}"#).parameters.isEmpty)
  }

  @Test("A bad line is told with its number, and with its id where one can be read")
  func bad() {
    func problem(_ text: String) -> PipeRequest.Problem? {
      do throws(PipeRequest.Problem) {
        _ = try PipeRequest(line: Array(text.utf8), number: 3)
        return nil
      } catch { return error }
    }
    #expect(problem("{")?.message.hasPrefix("line 3 is not JSON: at byte 1") == true)
    #expect(problem("[]")?.message == "line 3 is not an object")
    #expect(problem(#"{"id":9}"#) == .init(id: Array("9".utf8), message: "line 3: 'method' is missing"))
    #expect(problem(#"{"id":9,"metod":"x"}"#)?.message.contains("did you mean 'method'") == true)
    #expect(problem(#"{"id":9,"method":"x","ttlMilliseconds":-1}"#)?.id == Array("9".utf8))
  }

  @Test("Answers are one line of JSON whatever the payload is")
  func answers() {
    let id = Array("[1]".utf8)
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    let part = PipeAnswer.part(id: id, payload: Array("{\n \"a\": 1\n}".utf8), isRaw: false, isLast: false)
    #expect(text(part) == #"{"id":[1],"part":{"a":1}}"#)
    let raw = PipeAnswer.part(id: id, payload: [0, 255], isRaw: true, isLast: true)
    #expect(text(raw) == #"{"id":[1],"resultBase64":"AP8="}"#)
    let broken = PipeAnswer.part(id: id, payload: Array("no\njson\u{1}".utf8), isRaw: false, isLast: true)
    #expect(text(broken) == #"{"id":[1],"result":"no\njson\u0001"}"#)
    #expect(text(PipeAnswer.end(id: id)) == #"{"id":[1],"result":null}"#)
    #expect(
      text(PipeAnswer.error(id: id, Refusal(.denied, "no"))) == #"{"id":[1],"error":{"code":"denied","message":"no"}}"#)
  }
}
