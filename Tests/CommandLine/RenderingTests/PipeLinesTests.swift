import Frames
import Testing

@testable import Rendering

@Suite struct PayloadTextTests {
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
    #expect(problem("{")?.message == "line 3 is not JSON: the text ends too early at byte 1")
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
