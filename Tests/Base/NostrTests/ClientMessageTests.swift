import JSON
import Nostr
import TestSupport
import Testing

@Suite struct ClientMessageTests {
  @Test("Filters are written as more relays understand them: the widest limit last, none of them empty")
  func understood() {
    func written(_ filters: [Filter]) -> String? {
      RawFilters(matchingSomething: filters).map { String(decoding: $0.bytes, as: UTF8.self) }
    }
    let filters = [
      Filter(kinds: [1]), Filter(kinds: [0], limit: 1), Filter(kinds: [3], limit: 9), Filter(kinds: [7]),
      Filter(kinds: [4], limit: 1),
    ]
    #expect(
      written(filters)
        == #"{"kinds":[0],"limit":1},{"kinds":[4],"limit":1},{"kinds":[3],"limit":9},{"kinds":[1]},{"kinds":[7]}"#)
    #expect(written([Filter(), Filter(limit: 5)]) == #"{"since":0,"limit":5},{"since":0}"#)
    #expect(written([Filter(authors: [])]) == nil)
  }

  @Test("Messages are written as NIP-01 shows them")
  func written() throws {
    let one = try RawFilters(json: Array(#" {"kinds":[1]} "#.utf8))
    let two = try RawFilters(json: Array(#" [ {"kinds":[1]} , {"limit":3} ] "#.utf8))
    #expect(one.count == 1 && two.count == 2)
    #expect(text(ClientMessage.request(subscription: "a\"b", one)) == #"["REQ","a\"b",{"kinds":[1]}]"#)
    #expect(text(ClientMessage.request(subscription: "s", two)) == #"["REQ","s", {"kinds":[1]} , {"limit":3}]"#)
    #expect(text(ClientMessage.close(subscription: "s")) == #"["CLOSE","s"]"#)
    #expect(text(ClientMessage.publish(Array("{}".utf8))) == #"["EVENT",{}]"#)
    #expect(text(ClientMessage.count(subscription: "s", one)) == #"["COUNT","s",{"kinds":[1]}]"#)
    #expect(text(ClientMessage.authenticate(Array("{}".utf8))) == #"["AUTH",{}]"#)
    #expect(
      text(ClientMessage.openReconciliation(subscription: "s", Filter(kinds: [1]), message: [0x61, 0]))
        == #"["NEG-OPEN","s",{"kinds":[1]},"6100"]"#)
    #expect(text(ClientMessage.continueReconciliation(subscription: "s", message: [0x61])) == #"["NEG-MSG","s","61"]"#)
    #expect(text(ClientMessage.closeReconciliation(subscription: "s")) == #"["NEG-CLOSE","s"]"#)
  }

  @Test("Filters that are no filters are refused", arguments: ["", "[]", "[1]", "5", "{} {}", "[{},]", "[{}", "[{}]]"])
  func filters(json: String) {
    #expect(throws: JSONFault.self) { try RawFilters(json: Array(json.utf8)) }
  }

  @Test("Filters beyond the bound are refused")
  func tooMany() {
    let json = "[" + Array(repeating: "{}", count: RawFilters.countMaximum + 1).joined(separator: ",") + "]"
    #expect(throws: JSONFault.self) { try RawFilters(json: Array(json.utf8)) }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("Every message is read as what it is, whatever the white space")
  func read() throws {
    let one = Filter(kinds: [1])
    let two = Filter(limit: 3)
    let cases: [(String, ClientMessage)] = [
      (#"["REQ","s",{"kinds":[1]}]"#, .subscription(id: "s", filters: [one])),
      (
        " [ \"R\\u0045Q\" , \"\\u0073\" ,\n{\"kinds\" : [1]} , {\"limit\":3} ] ",
        .subscription(id: "s", filters: [one, two])
      ),
      (#"["COUNT","s",{"kinds":[1]},{"limit":3}]"#, .counting(id: "s", filters: [one, two])),
      (#"["CLOSE","s"]"#, .closing(id: "s")), (#"["CLOSE","s",1]"#, .closing(id: "s")),
      (#"["EVENT",{"a":[]}]"#, .event(event: 9..<17)), (#"["AUTH", {"a":[]}, 5]"#, .authentication(event: 9..<17)),
      (#"["NEG-OPEN","s",{"kinds":[1]},"61"]"#, .reconciliation(id: "s", filter: one, message: [0x61])),
      (#"["NEG-MSG","s","6100"]"#, .reconciliationMessage(id: "s", message: [0x61, 0])),
      (#"["NEG-CLOSE","s"]"#, .reconciliationEnd(id: "s")), (#"["PING",{}]"#, .unknown(label: "PING")),
      ("[\"\(String(repeating: "x", count: 65))\"]", .unknown(label: "")),
    ]
    for (json, message) in cases { #expect(try read(json) == message, "\(json)") }
    let longest = String(repeating: "\u{1F600}", count: 64)
    #expect(try read("[\"CLOSE\",\"\(longest)\"]") == .closing(id: longest))
  }

  @Test("Every message that a client writes is read as what was written", arguments: seeds(2))
  func readWritten(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<300 {
      let id = generator.text(1 + generator.below(30))
      let filters = try (0...generator.below(3)).map { _ in
        Filter(
          ids: generator.oneIn(2) ? [EventID(try generator.octets())] : nil,
          tags: generator.oneIn(2) ? [TagLetter("t")!: [TagValue(generator.text(9))]] : [:], limit: generator.below(9))
      }
      let raw = try RawFilters(
        json: Array("[".utf8) + filters.map(\.json).joined(separator: Array(",".utf8)) + Array("]".utf8))
      let bytes = (0..<generator.below(40)).map { _ in UInt8(generator.below(256)) }
      let cases: [([UInt8], ClientMessage)] = [
        (ClientMessage.request(subscription: id, raw), .subscription(id: id, filters: filters)),
        (ClientMessage.count(subscription: id, raw), .counting(id: id, filters: filters)),
        (ClientMessage.close(subscription: id), .closing(id: id)),
        (
          ClientMessage.openReconciliation(subscription: id, filters[0], message: bytes),
          .reconciliation(id: id, filter: filters[0], message: bytes)
        ),
        (
          ClientMessage.continueReconciliation(subscription: id, message: bytes),
          .reconciliationMessage(id: id, message: bytes)
        ), (ClientMessage.closeReconciliation(subscription: id), .reconciliationEnd(id: id)),
      ]
      for (json, message) in cases { #expect(try read(text(json)) == message, "\(text(json))") }
      let event = try Event(json: generator.json()).json
      for (json, isEvent) in [(ClientMessage.publish(event), true), (ClientMessage.authenticate(event), false)] {
        switch try read(text(json)) {
        case .event(let range) where isEvent: #expect(Array(json[range]) == event)
        case .authentication(let range) where !isEvent: #expect(Array(json[range]) == event)
        default: Issue.record("\(text(json))")
        }
      }
    }
  }

  @Test(
    "What is wrong is told with the subscription it concerns",
    arguments: [
      ("", nil, "invalid", "too early"), ("{}", nil, "invalid", "'['"), ("[]", nil, "invalid", "a string"),
      (#"["EVENT"]"#, nil, "invalid", "','"), (#"["EVENT",[]]"#, nil, "invalid", "an event object"),
      (#"["REQ"]"#, nil, "invalid", "','"), (#"["REQ",5,{}]"#, nil, "invalid", "a string"),
      (#"["REQ","",{}]"#, nil, "invalid", "1 to 64"), (#"["REQ","s"]"#, "s", "invalid", "no filter"),
      (#"["REQ","s",5]"#, "s", "invalid", "'{'"), (#"["REQ","s",{"kinds":[-1]}]"#, "s", "invalid", "kinds"),
      (#"["REQ","s",{},{"nope":1}]"#, "s", "unsupported", "nope"), (#"["REQ","s",{}]]"#, "s", "invalid", "the end"),
      (#"["COUNT","s",{"ids":["x"]}]"#, "s", "invalid", "ids"), (#"["CLOSE"]"#, nil, "invalid", "','"),
      (#"["NEG-OPEN","s",{}]"#, "s", "invalid", "','"), (#"["NEG-OPEN","s",{},"6"]"#, "s", "invalid", "hexadecimal"),
      (#"["NEG-OPEN","s",[],"61"]"#, "s", "invalid", "'{'"), (#"["NEG-MSG","s","xy"]"#, "s", "invalid", "hexadecimal"),
      (#"["NEG-CLOSE",null]"#, nil, "invalid", "a string"), (#"["PING",]"#, nil, "invalid", "a value"),
    ])
  func refused(json: String, subscription: String?, word: String, part: String) throws {
    do throws(ClientMessageFault) {
      let message = try read(json)
      Issue.record("\(json) was read as \(message)")
    } catch {
      #expect(error.subscription == subscription && error.reason.word == word)
      #expect(error.description.contains(part), "\(error)")
    }
  }

  @Test("Ids and filters beyond the bounds are refused")
  func bounds() {
    let id = String(repeating: "x", count: 65)
    for text in [id, String(repeating: "x", count: 9_999)] {
      #expect(throws: ClientMessageFault.self) { try read("[\"CLOSE\",\"\(text)\"]") }
    }
    let filters = Array(repeating: "{}", count: RawFilters.countMaximum + 1).joined(separator: ",")
    do throws(ClientMessageFault) {
      _ = try read("[\"REQ\",\"s\",\(filters)]")
      Issue.record("taken")
    } catch { #expect(error.problem == .tooManyFilters && error.subscription == "s") }
  }

  private func read(_ json: String) throws(ClientMessageFault) -> ClientMessage {
    let result = Array(json.utf8).withUnsafeBytes { bytes -> Result<ClientMessage, ClientMessageFault> in
      do throws(ClientMessageFault) { return .success(try ClientMessage(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

extension EventGenerator {
  /// A text of printable ASCII, quotes and line ends, and letters of other alphabets.
  mutating func text(_ count: Int) -> String {
    String(
      String.UnicodeScalarView(
        (0..<count).map { _ in
          oneIn(6) ? ["\"", "\\", "\n", "é", "🪶"][below(5)] : UnicodeScalar(UInt8(0x20 + below(0x5F)))
        }))
  }
}
