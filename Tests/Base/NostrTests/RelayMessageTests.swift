import Clocks
import Nostr
import TestSupport
import Testing

enum Samples {
  static let id = "d1de98733de2b412549aa64454722d9b66ab3c68e9e0d0f9c5d42e7bd54c30a0"
  /// The shape of an event; id and signature are invented.
  static let event = """
    {"id":"\(id)","pubkey":"\(String(repeating: "ab", count: 32))","created_at":1700000000,"kind":1,\
    "tags":[["e","\(id)","wss://relay.example.com"],["t","x"]],"content":"caf\\u00e9 \\"]\\\\ \\ud83d\\ude00","sig":"00"}
    """
}

@Suite struct RelayMessageTests {
  @Test("An event message names its subscription and the event's place, whatever the white space")
  func event() throws {
    for text in [
      "[\"EVENT\",\"sub\",\(Samples.event)]", " [ \"\\u0045VENT\" ,\n\"su\\u0062\"\t, \(Samples.event) , 5 ]\r\n",
    ] {
      guard case .event(let subscription, let range) = try read(text) else {
        Issue.record("not an event: \(text)")
        continue
      }
      #expect(subscription == "sub")
      #expect(Array(text.utf8)[range].elementsEqual(Samples.event.utf8))
    }
  }

  @Test("Every kind of message is told apart")
  func kinds() throws {
    let id = try #require(EventID(Samples.id))
    #expect(try read(#"["EOSE","s"]"#) == .endOfStoredEvents(subscription: "s", completeness: .unstated))
    #expect(
      try read(#"["EOSE","s",["x","finish",3]]"#) == .endOfStoredEvents(subscription: "s", completeness: .finished))
    #expect(try read(#"["EOSE","s",["more"],{}]"#) == .endOfStoredEvents(subscription: "s", completeness: .partial))
    #expect(try read(#"["EOSE","s",[]]"#) == .endOfStoredEvents(subscription: "s", completeness: .unstated))
    #expect(try read("[\"OK\",\"\(id)\",true,\"\"]") == .ok(id: id, isAccepted: true, reason: RelayReason("")))
    #expect(try read("[\"OK\",\"\(id)\",true]") == .ok(id: id, isAccepted: true, reason: RelayReason("")))
    #expect(
      try read(#"["OK","",false,"invalid: x"]"#) == .ok(id: nil, isAccepted: false, reason: RelayReason("invalid: x")))
    #expect(try read(#"["CLOSED","s"]"#) == .closed(subscription: "s", reason: RelayReason("")))
    #expect(
      try read(#"["CLOSED","s","auth-required: no"]"#)
        == .closed(subscription: "s", reason: RelayReason("auth-required: no")))
    #expect(try read(#"["NOTICE","a\nb"]"#) == .notice(RelayReason("a\nb")))
    #expect(try read(#"["NOTICE",{"a":1}]"#) == .notice(RelayReason("")))
    #expect(try read(#"["AUTH","c"]"#) == .authentication(challenge: "c"))
    let count = #"["COUNT","s",{"count":5,"approximate":true,"hll":"00"}]"#
    guard case .count("s", 5, true, let body) = try read(count) else {
      Issue.record("not a count")
      return
    }
    #expect(Array(count.utf8)[body].elementsEqual(#"{"count":5,"approximate":true,"hll":"00"}"#.utf8))
    #expect(try read(#"["NEG-MSG","s","61aF"]"#) == .reconciliation(subscription: "s", message: [0x61, 0xAF]))
    let refusal = RelayReason("blocked: too big")
    #expect(
      try read(#"["NEG-ERR","s","blocked: too big",500]"#)
        == .reconciliationRefused(subscription: "s", reason: refusal, recordCountMaximum: 500))
    #expect(
      try read(#"["NEG-ERR","s","blocked: too big",null,1]"#)
        == .reconciliationRefused(subscription: "s", reason: refusal, recordCountMaximum: nil))
    #expect(
      try read(#"["NEG-ERR","s"]"#)
        == .reconciliationRefused(subscription: "s", reason: RelayReason(""), recordCountMaximum: nil))
    #expect(try read(#"["LIMITS",{"max":1}]"#) == .unknown(label: "LIMITS"))
  }

  @Test("Every message that a server writes is read as what was written", arguments: seeds(2))
  func written(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<300 {
      let name = generator.text(1 + generator.below(20))
      let reason = RelayReason(generator.text(generator.below(40)))
      let id = EventID(try generator.octets())
      let isTrue = generator.oneIn(2)
      let event = try Event(json: generator.json()).json
      let eventMessage = RelayMessage.writeEvent(event, subscription: name)
      guard case .event(name, let range) = try read(eventMessage) else {
        Issue.record("no event")
        return
      }
      #expect(Array(eventMessage[range]) == event)
      let completeness = [RelayMessage.Completeness.unstated, .finished, .partial][generator.below(3)]
      let count = generator.below(1 << 40)
      let bytes = (0..<generator.below(40)).map { _ in UInt8(generator.below(256)) }
      let cases: [([UInt8], RelayMessage)] = [
        (
          RelayMessage.writeEndOfStoredEvents(subscription: name, completeness: completeness),
          .endOfStoredEvents(subscription: name, completeness: completeness)
        ),
        (
          RelayMessage.writeOK(id: id, isAccepted: isTrue, reason: reason),
          .ok(id: id, isAccepted: isTrue, reason: reason)
        ), (RelayMessage.writeClosed(subscription: name, reason: reason), .closed(subscription: name, reason: reason)),
        (RelayMessage.writeNotice(reason), .notice(reason)),
        (RelayMessage.writeAuthentication(challenge: name), .authentication(challenge: name)),
        (
          RelayMessage.writeReconciliation(subscription: name, message: bytes),
          .reconciliation(subscription: name, message: bytes)
        ),
        (
          RelayMessage.writeReconciliationRefused(
            subscription: name, reason: reason, recordCountMaximum: isTrue ? count : nil),
          .reconciliationRefused(subscription: name, reason: reason, recordCountMaximum: isTrue ? count : nil)
        ),
      ]
      for (json, message) in cases { #expect(try read(json) == message, "\(String(decoding: json, as: UTF8.self))") }
      let counting = try read(RelayMessage.writeCount(subscription: name, count: count, isApproximate: isTrue))
      guard case .count(name, count, isTrue, _) = counting else {
        Issue.record("\(counting)")
        return
      }
    }
    let finished = RelayMessage.writeEndOfStoredEvents(subscription: "s", completeness: .finished)
    #expect(String(decoding: finished, as: UTF8.self) == #"["EOSE","s",["finish"]]"#)
  }

  private func read(_ json: [UInt8]) throws -> RelayMessage { try json.withUnsafeBytes { try RelayMessage($0) } }

  @Test("A reason's machine-readable word is told from a sentence")
  func reasons() {
    #expect(RelayReason("rate-limited: slow down").word == "rate-limited")
    #expect(RelayReason("blocked:").word == "blocked")
    for text in ["", "no colon", ": x", "Two words: x", "http://x: y".uppercased()] {
      #expect(RelayReason(text).word == nil)
    }
    let long = RelayReason(String(repeating: "é", count: 9_999))
    #expect(long.text.utf8.count <= RelayReason.byteCountMaximum && long.text.hasSuffix("…"))
  }

  @Test(
    "Garbage is refused with what and where",
    arguments: [
      "", "[]", "{}", "[1]", "null", "\"EVENT\"", "[\"EVENT\"]", "[\"EVENT\",\"s\"]", "[\"EVENT\",5,{}]",
      "[\"EVENT\",\"s\",[]]", "[\"EVENT\",\"s\",{]", "[\"EOSE\"]", "[\"EOSE\",null]", "[\"OK\",\"x\"]",
      "[\"OK\",\"x\",\"true\"]",
      "[\"COUNT\",\"s\",{}]", "[\"COUNT\",\"s\",{\"count\":-1}]", "[\"AUTH\"]", "[\"EOSE\",\"s\"]x", "[\"EOSE\",\"s\"",
      "[\"X\",]", "[\"EOSE\" \"s\"]", "[\"NEG-MSG\",\"s\"]", "[\"NEG-MSG\",\"s\",\"6\"]", "[\"NEG-MSG\",\"s\",\"6g\"]",
      "[\"NEG-MSG\",\"s\",\"\\u0036\"]", "[\"NEG-ERR\",\"s\",\"x\",1.5]",
    ])
  func garbage(text: String) {
    do {
      let message = try read(text)
      Issue.record("\(text) was read as \(message)")
    } catch let fault as RelayMessageFault {
      #expect(fault.description.contains("at byte"))
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("A subscription id beyond the bound is refused before it is copied")
  func longSubscription() {
    #expect(throws: RelayMessageFault.self) { try read("[\"EOSE\",\"\(String(repeating: "s", count: 257))\"]") }
  }

  @Test("Random and mutilated bytes never do harm, and ranges stay inside", arguments: seeds(2))
  func fuzz(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let text = Array("[\"EVENT\",\"sub\",\(Samples.event)]".utf8)
    for round in 0..<20_000 {
      var bytes = text
      if round.isMultiple(of: 4) {
        bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
        }
      } else {
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
        if !bytes.isEmpty {
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
        }
      }
      bytes.withUnsafeBytes { buffer in
        if case .event(_, let range)? = try? RelayMessage(buffer) {
          #expect(range.upperBound <= buffer.count && buffer[range.lowerBound] == UInt8(ascii: "{"))
        }
        _ = try? EventGlance(buffer)
      }
    }
  }

  private func read(_ text: String) throws -> RelayMessage {
    try Array(text.utf8).withUnsafeBytes { try RelayMessage($0) }
  }
}

@Suite struct EventGlanceTests {
  @Test("Id and kind are found wherever they stand")
  func found() throws {
    let glance = try read(Samples.event)
    #expect(glance.id.description == Samples.id && glance.kind == 1)
    let other = try read("{\"kind\":65535,\"x\":{\"id\":1},\"\\u0069d\":\"\(Samples.id)\"}")
    #expect(other.kind == 65_535)
  }

  @Test("What is no event says why")
  func refused() {
    let cases = [
      ("", "too early"), ("[]", "expected '{'"), ("{}", "no \"id\""), ("{\"id\":\"\(Samples.id)\"}", "no \"kind\""),
      ("{\"id\":\"\(Samples.id.uppercased())\",\"kind\":1}", "lower-case"), ("{\"id\":5}", "expected a string"),
      ("{\"id\":\"abc\"}", "64"), ("{\"kind\":65536}", "65535"), ("{\"kind\":1.0}", "number"),
      ("{\"kind\":1,\"k\\u0069nd\":2}", "twice"), (Samples.event + "{}", "the end"),
    ]
    for (text, word) in cases {
      do {
        let glance = try read(text)
        Issue.record("took \(text) as \(glance)")
      } catch {
        #expect("\(error)".contains(word), "\(error)")
      }
    }
  }

  @Test("Real events are read, and malformed ones do no harm")
  func real() throws {
    for line in SharedFolder.lines(of: "events/valid.jsonl") ?? [] {
      let glance = try line.withUnsafeBytes { bytes throws(EventGlanceFault) in try EventGlance(bytes) }
      #expect(line.prefix(80).contains(subsequence: glance.id.description.utf8) || line.count > 80)
    }
    for line in SharedFolder.lines(of: "events/invalid.jsonl") ?? [] {
      line.withUnsafeBytes { bytes in _ = try? EventGlance(bytes) }
    }
  }

  private func read(_ text: String) throws -> EventGlance {
    try Array(text.utf8).withUnsafeBytes { try EventGlance($0) }
  }
}

extension Collection where Element == UInt8 {
  func contains(subsequence: some Collection<UInt8>) -> Bool {
    indices.contains { self[$0...].starts(with: subsequence) }
  }
}
