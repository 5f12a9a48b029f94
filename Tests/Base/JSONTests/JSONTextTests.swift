import Clocks
import Frames
import JSON
import TestSupport
import Testing

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
    #expect(throws: JSONFault(.endOfText, at: 7)) { try JSONText(Array("[10, 20".utf8)) }
    #expect(throws: JSONFault(.notUTF8, at: 3)) { try JSONText([0x5B, 0x22, 0x61, 0xFF, 0x22, 0x5D]) }
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
}
