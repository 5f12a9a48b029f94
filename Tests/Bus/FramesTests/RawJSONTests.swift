import Frames
import Testing

@Suite("JSON that passes through as it was written")
struct RawJSONTests {
  private struct Letter: Codable, Equatable {
    var a: RawJSON?
    var list: [RawJSON] = []
    var text = ""
    var z: RawJSON
  }

  private func raw(_ text: String) -> RawJSON { RawJSON(Array(text.utf8)) }
  private func encoded(_ value: some Encodable) -> String { String(decoding: JSONPayload.encode(value), as: UTF8.self) }

  /// Digits, members in no order, escapes and slashes that an encoder would write otherwise.
  private static let odd = #"{"z":1.10,"a":[12345678901234567890,"\u00e9\/"],"é":1e2}"#

  @Test("What is written is what was given, wherever it stands")
  func both() throws {
    let letter = Letter(a: raw("null"), list: [raw(Self.odd), raw("[]")], text: "\"", z: raw(Self.odd))
    let text = encoded(letter)
    #expect(text == #"{"a":null,"list":[\#(Self.odd),[]],"text":"\"","z":\#(Self.odd)}"#)
    let back = try JSONPayload.decode(Letter.self, from: text.utf8)
    #expect(back == Letter(a: nil, list: letter.list, text: "\"", z: letter.z))
    #expect(encoded([letter.z, letter.z]) == "[\(Self.odd),\(Self.odd)]")
    #expect(try JSONPayload.decode(RawJSON.self, from: Self.odd.utf8) == raw(Self.odd))
  }

  @Test("White space between parts is left out, that in texts is not")
  func whiteSpace() throws {
    let letter = try JSONPayload.decode(
      Letter.self, from: "{ \"list\": [], \"text\":\"\", \"z\" : {\n\"b\" : \" x \"} }".utf8)
    #expect(letter.z == raw(#"{"b":" x "}"#))
  }

  @Test("A text that looks like the mark of another is left alone, and a value inside is no place of it")
  func confusion() throws {
    let letter = Letter(text: encoded(raw("\"z\"")), z: raw(#"{"z":{"z":"\"0\""},"list":[1]}"#))
    #expect(try JSONPayload.decode(Letter.self, from: JSONPayload.encode(letter)) == letter)
    let escaped = #"{"list":[],"text":"","\u007a":7}"#
    #expect(try JSONPayload.decode(Letter.self, from: escaped.utf8).z == raw("7"))
  }

  @Test("Of a name that stands twice the first counts, as for other members; a text too deep keeps its value")
  func hostile() throws {
    let twice = #"{"list":[],"text":"","z":1,"z":[2]}"#
    #expect(try JSONPayload.decode(Letter.self, from: twice.utf8).z == raw("1"))
    let decoded = try JSONPayload.decode([String: JSONValue].self, from: twice.utf8)["z"]
    #expect(decoded == .integer(1))
    let inner = #"{"list":[],"text":"","a":{"z":3},"z":4}"#
    #expect(try JSONPayload.decode(Letter.self, from: inner.utf8).z == raw("4"))
    let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    #expect(try JSONPayload.decode(Letter.self, from: #"{"list":[],"text":"","z":\#(deep)}"#.utf8).z == raw(deep))
  }

  @Test("What is missing or no JSON is refused as for any other member")
  func refused() {
    for (text, message) in [
      (#"{"list":[],"text":""}"#, "'z' is missing"), (#"{"list":[],"text":"","z":}"#, "the payload is not JSON"),
    ] {
      #expect { try JSONPayload.decode(Letter.self, from: text.utf8) } throws: {
        ($0 as? Refusal)?.message.hasPrefix(message) == true
      }
    }
    let notUTF8 = Array(#"{"list":[],"text":"","z":["#.utf8) + [0x22, 0xFF, 0x22] + Array("]}".utf8)
    #expect(throws: Refusal.self) { try JSONPayload.decode(Letter.self, from: notUTF8) }
  }
}
