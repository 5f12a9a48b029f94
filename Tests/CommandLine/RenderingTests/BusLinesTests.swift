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

@Suite struct BusLinesTests {
  private func read(_ text: String) throws -> BusLine { try BusLine(line: Array(text.utf8), number: 3) }

  private func request(_ text: String) throws -> BusLine.Request {
    guard case .request(let request) = try read(text) else { throw BusLine.Problem(message: "no request") }
    return request
  }

  @Test("A request keeps its id and parameters to the digit")
  func request() throws {
    let request = try request(
      #"{"id": {"a" :1.50}, "method":"relay.list","params":{"b":12345678901234567890, "a":1},"to":"w","ttlMilliseconds":7}"#
    )
    #expect(String(decoding: request.id, as: UTF8.self) == #"{"a":1.50}"#)
    #expect(String(decoding: request.parameters, as: UTF8.self) == #"{"b":12345678901234567890,"a":1}"#)
    #expect(request.worker == "w" && request.ttlMilliseconds == 7 && !request.atMostOnce && !request.isIdempotent)
    #expect(try self.request(#"{"method":"m","params":null}"#).parameters.isEmpty)
    let raw = try self.request(#"{"method":"m","paramsBase64":"AP8=","idempotent":true,"window":9}"#)
    #expect(raw.parameters == [0, 255] && raw.isRaw && raw.isIdempotent && raw.window == 9)
  }

  @Test("A subscription has an id and a topic; what is cancelled is named by its id")
  func others() throws {
    #expect(
      try read(#"{"subscribe":"a.b","id":"x"}"#)
        == .subscription(.init(id: Array(#""x""#.utf8), topic: "a.b", window: nil)))
    #expect(try read(#"{"more":7,"count":32}"#) == .more(id: Array("7".utf8), count: 32))
    #expect(try read(#"{"cancel":{"a": 1}}"#) == .cancel(id: Array(#"{"a":1}"#.utf8)))
  }

  @Test("A bad line is reported with its number, and with its id where one can be read")
  func bad() {
    func problem(_ text: String) -> BusLine.Problem? {
      do throws(BusLine.Problem) {
        _ = try BusLine(line: Array(text.utf8), number: 3)
        return nil
      } catch { return error }
    }
    #expect(problem("{")?.message == "line 3 is not JSON: the text ends too early at byte 1")
    #expect(problem("[]")?.message == "line 3 is not an object")
    #expect(problem(#"{"id":9}"#) == .init(id: Array("9".utf8), message: "line 3: 'method' is missing"))
    #expect(problem(#"{"id":9,"metod":"x"}"#)?.message.contains("did you mean 'method'") == true)
    #expect(problem(#"{"id":9,"method":"x","ttlMilliseconds":-1}"#)?.id == Array("9".utf8))
    for (line, part) in [
      (#"{"id":9,"method":"x","id":8}"#, "'id' twice"), (#"{"method":"x","cancel":1}"#, "'method' that means nothing"),
      (#"{"subscribe":"x","params":{}}"#, "'params' that means nothing"), (#"{"subscribe":1}"#, "'subscribe'"),
      (#"{"method":"x","params":{},"paramsBase64":"AA=="}"#, "exclude each other"),
      (#"{"method":"x","paramsBase64":"?"}"#, "is not Base64"), (#"{"more":1}"#, "'count' is missing"),
    ] {
      #expect(problem(line)?.message.contains(part) == true, "\(line): \(problem(line)?.message ?? "read")")
    }
  }

  @Test("Answers are one line of JSON whatever the payload is")
  func answers() {
    let id = Array("[1]".utf8)
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    let part = BusReply.part(id: id, payload: Array("{\n \"a\": 1\n}".utf8), isRaw: false, isLast: false)
    #expect(text(part) == #"{"id":[1],"part":{"a":1}}"#)
    let raw = BusReply.part(id: id, payload: [0, 255], isRaw: true, isLast: true)
    #expect(text(raw) == #"{"id":[1],"resultBase64":"AP8="}"#)
    let broken = BusReply.part(id: id, payload: Array("no\njson\u{1}".utf8), isRaw: false, isLast: true)
    #expect(text(broken) == #"{"id":[1],"result":"no\njson\u0001"}"#)
    #expect(text(BusReply.end(id: id)) == #"{"id":[1],"result":null}"#)
    #expect(
      text(BusReply.error(id: id, Refusal(.denied, "no"))) == #"{"id":[1],"error":{"code":"denied","message":"no"}}"#)
    #expect(text(BusReply.progress(id: id, payload: [])) == #"{"id":[1],"progress":null}"#)
    #expect(text(BusReply.progress(id: id, payload: [255])) == #"{"id":[1],"progressBase64":"/w=="}"#)
    #expect(text(BusReply.event(id: id, payload: Array("{}".utf8), isRaw: false)) == #"{"id":[1],"event":{}}"#)
    #expect(text(BusReply.missed(id: id, count: nil)) == #"{"id":[1],"missed":null}"#)
    #expect(text(BusReply.missed(id: id, count: 7)) == #"{"id":[1],"missed":7}"#)
  }
}
