import Clocks
import Frames
import Nostr
import TestSupport
import Testing

/// Filters between the other arguments of a method.
@Suite("Filters among arguments")
struct FilterArgumentTests {
  @Test("Filters that were put into arguments come out of them, and leave an empty list", arguments: seeds(20))
  func roundTrip(seed: UInt64) {
    var seed = SeededGenerator(seed: seed)
    let filters = (0..<Int.random(in: 1...5, using: &seed)).map { index in
      Filter(
        kinds: [UInt16.random(in: 0...9_999, using: &seed)], limit: index,
        search: #"words "filters":[] \#(index) é"#)
    }
    let json = Array(#"{"afterSeq":7,"filters":[],"id":"the \"filters\":[] of \"me\"","pages":true}"#.utf8)
    let joined = Filter.join(filters, into: json)
    #expect(throws: Never.self) { try JSONPayload.decode(JSONValue.self, from: joined) }
    let parts = Filter.split(joined)
    #expect(parts?.filters == filters)
    #expect(parts?.json == json)
  }

  @Test(
    "What is unusual is left to whoever reads the whole",
    arguments: [
      "", "[]", "{}", #"{"filters":{}}"#, #"{"filters":[{}]"#, #"{"filters":[{}]} x"#, #"{"filters":[7]}"#,
      #"{"filters":[{}],"filters":[{}]}"#, #"{"filters":[{"limit":1e3}]}"#, #"{"filters":[{"limit":1,"limit":2}]}"#,
      #"{"filters":[{"colour":1}]}"#, ##"{"filters":[{"#p":["npub1xyz"]}]}"##, #"{"\u0066ilters":[{}]}"#,
      #"{"filters":[{"search":"\ud800"}]}"#,
    ])
  func unusual(_ text: String) { #expect(Filter.split(Array(text.utf8)) == nil) }

  @Test("One filter that was put into arguments comes out of them, and leaves an empty one")
  func one() {
    let filter = Filter(kinds: [1], limit: 3, search: #"words "filter":{} é"#)
    let json = Array(#"{"filter":{},"message":"61","recipients":["\"filter\":{}"]}"#.utf8)
    let joined = Filter.join(filter, into: json)
    #expect(throws: Never.self) { try JSONPayload.decode(JSONValue.self, from: joined) }
    let parts = Filter.splitOne(joined)
    #expect(parts?.filter == filter && parts?.json == json)
    let spaced = Filter.splitOne(Array(#"{ "filters" : [ {} ], "filter" : {"kinds":[7]} }"#.utf8))
    #expect(spaced?.filter == Filter(kinds: [7]))
  }

  @Test(
    "One that is unusual is left to whoever reads the whole",
    arguments: [
      "", "{}", #"{"filters":{}}"#, #"{"filter":[]}"#, #"{"filter":[{}]}"#, #"{"filter":{}"#, #"{"filter":7}"#,
      #"{"filter":{},"filter":{}}"#, #"{"filter":{"limit":1e3}}"#, #"{"filter":{"limit":1,"limit":2}}"#,
      #"{"filter":{"colour":1}}"#, ##"{"filter":{"#p":["npub1xyz"]}}"##, #"{"filter":{"search":"\ud800"}}"#,
    ])
  func oneUnusual(_ text: String) { #expect(Filter.splitOne(Array(text.utf8)) == nil) }

  @Test("Bytes that are no UTF-8 are left as well, wherever they stand")
  func notUTF8() {
    for place in [#"{"filters":[{"search":"?"}]}"#, #"{"filters":[{}],"id":"?"}"#] {
      let bytes = place.utf8.map { $0 == UInt8(ascii: "?") ? 0xFF : $0 }
      #expect(Filter.split(bytes) == nil)
    }
  }

  @Test("White space and the order of members do not matter")
  func spaces() {
    let parts = Filter.split(Array(#" { "a" : [1, {"filters":2}] , "filters" : [ {"kinds":[1]} , {} ] } "#.utf8))
    #expect(parts?.filters == [Filter(kinds: [1]), Filter()])
    #expect(
      parts.map { String(decoding: $0.json, as: UTF8.self) } == #" { "a" : [1, {"filters":2}] , "filters" : [] } "#)
  }
}
