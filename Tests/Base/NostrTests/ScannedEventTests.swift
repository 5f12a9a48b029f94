import Cryptography
import FoundationEssentials
import Nostr
import TestSupport
import Testing

@Suite("Scanning and verifying events") struct ScannedEventTests {
  /// Two real events, for where the folder with seven thousand is not.
  private static var own: [[UInt8]] {
    SharedFolder.bytes(ofFile: SharedFolder.repository + "/Tests/Peers/events.jsonl").map {
      $0.split(separator: UInt8(ascii: "\n")).map(Array.init)
    } ?? []
  }

  @Test("Every real event verifies, and reads as JSONDecoder reads it")
  func realEvents() throws {
    let lines = SharedFolder.lines(of: "events/valid.jsonl") ?? Self.own
    #expect(!lines.isEmpty)
    let verifier = EventVerifier()
    for line in lines {
      let event = try ScannedEvent.read(line)
      #expect(line.withUnsafeBytes { verifier.fault(of: event, in: $0) } == nil)
      try expectAgreement(event, line)
    }
  }

  @Test("Every invalid event that was found is refused, for its reason")
  func invalidEvents() throws {
    struct Found: Decodable {
      let category: String
      let reason: String
      let raw: String
    }
    let verifier = EventVerifier()
    for line in SharedFolder.lines(of: "events/invalid.jsonl") ?? [] {
      let found = try JSONDecoder().decode(Found.self, from: Data(line))
      let raw = Array(found.raw.utf8)
      var fault: EventFault?
      do throws(EventFault) {
        let event = try ScannedEvent.read(raw)
        fault = raw.withUnsafeBytes { verifier.fault(of: event, in: $0) }
      } catch { fault = error }
      let seen = try #require(fault, "\(found.reason): \(found.raw)")
      // Some were found with line ends inside their strings, and judged as if these were not there.
      let isJSON = (try? OracleEvent(raw)) != nil
      let category = category(of: seen, found.reason)
      #expect(
        category == found.category || !isJSON && category == "malformed", "\(found.reason): \(seen): \(found.raw)")
    }
  }

  /// The category's name in the list of what was found. An id that is wrong is said before the signature is looked at.
  private func category(of fault: EventFault, _ reason: String) -> String {
    switch fault {
    case .wrongID: reason.contains(", and ") ? "bad-id-and-sig" : "bad-id"
    case .badSignature, .badPublicKey: "bad-sig"
    default: "malformed"
    }
  }

  @Test("Generated events read, hash and come back compact as JSONDecoder and a slow writer say", arguments: seeds(4))
  func generatedEvents(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<Self.generatedCount {
      let json = generator.json()
      let event: ScannedEvent
      do throws(EventFault) { event = try ScannedEvent.read(json) } catch {
        Issue.record("\(error): \(String(decoding: json, as: UTF8.self))")
        return
      }
      try expectAgreement(event, json)
      let compact = event.compactForm(in: json)
      let again = try ScannedEvent.read(compact)
      #expect(again.isCompact && again.isCanonical)
      #expect(again.canonicalForm(in: compact) == event.canonicalForm(in: json))
    }
  }

  /// 4 seeds of it; `ROOST_EVENTS=25000` makes it 100,000 in all.
  private static let generatedCount = amount("ROOST_EVENTS", standard: 1_000)

  private func expectAgreement(_ event: ScannedEvent, _ json: [UInt8]) throws {
    let oracle = try OracleEvent(json)
    let text = String(decoding: json, as: UTF8.self)
    #expect(event.id.description == oracle.id && event.pubkey.description == oracle.pubkey, "\(text)")
    #expect(event.createdAt == oracle.createdAt && event.kind == oracle.kind, "\(text)")
    #expect(json.withUnsafeBytes { event.signature(in: $0)?.description } == oracle.sig, "\(text)")
    let texts = event.texts(in: json)
    // Scalar by scalar: Swift's == takes é and e + accent for the same.
    #expect(texts.content.unicodeScalars.elementsEqual(oracle.content.unicodeScalars), "\(text)")
    #expect(texts.tags.map { $0.map { Array($0.utf8) } } == oracle.tags.map { $0.map { Array($0.utf8) } }, "\(text)")
    #expect(Array(event.canonicalForm(in: json).utf8) == Array(oracle.canonicalForm.utf8), "\(text)")
  }

  @Test(
    "What two readers could read in two ways is refused",
    arguments: [
      (#""kind":1"#, #""kind":1,"kind":1"#, "twice"), (#""kind":1"#, #""kind":1,"\u006bind":2"#, "twice"),
      (#""kind":1"#, #""kind":1.0"#, "kind"), (#""kind":1"#, #""kind":1e0"#, "kind"),
      (#""kind":1"#, #""kind":01"#, "kind"), (#""kind":1"#, #""kind":65536"#, "kind"),
      (#""kind":1"#, #""kind":"1""#, "kind"), (#""kind":1"#, #""kind":-1"#, "kind"), (#""kind":1,"#, "", "no \"kind\""),
      (#""created_at":5"#, #""created_at":-5"#, "created_at"),
      (#""created_at":5"#, #""created_at":9223372036854775808"#, "created_at"),
      (#""tags":[["t","x"]]"#, #""tags":[[]]"#, "tags"), (#""tags":[["t","x"]]"#, #""tags":[["t",1]]"#, "tags"),
      (#""tags":[["t","x"]]"#, #""tags":["t"]"#, "tags"), (#""tags":[["t","x"]]"#, #""tags":null"#, "tags"),
      (#""content":"c""#, #""content":"\ud800""#, "surrogate"), (#""content":"c""#, #""content":"\x""#, "escape"),
      (#""content":"c""#, "\"content\":\"\n\"", "control"), (#""content":"c""#, #""content":null"#, "content"),
    ])
  func refused(part: String, replacement: String, word: String) throws {
    let hexadecimal = String(repeating: "ab", count: 32)
    let json =
      #"{"id":"\#(hexadecimal)","pubkey":"\#(hexadecimal)","created_at":5,"kind":1,"tags":[["t","x"]],"content":"c","#
      + #""sig":"\#(hexadecimal)\#(hexadecimal)"}"#
    _ = try ScannedEvent.read(Array(json.utf8))
    let changed = json.replacing(part, with: replacement)
    #expect(changed != json)
    do throws(EventFault) {
      _ = try ScannedEvent.read(Array(changed.utf8))
      Issue.record("taken: \(changed)")
    } catch { #expect(error.description.contains(word), "\(error)") }
  }

  @Test("Broken UTF-8, wherever it stands, is refused")
  func brokenUTF8() throws {
    let line = try #require(Self.own.first)
    let start = try #require(line.firstRange(of: Array(#""content":""#.utf8))).upperBound
    for broken in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]] {
      #expect(throws: EventFault.notUTF8) { try ScannedEvent.read(line[..<start] + broken + line[start...]) }
    }
  }

  @Test("A byte changed anywhere in an event that verified is noticed", arguments: seeds(2))
  func changedByte(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    let verifier = EventVerifier()
    for line in Self.own.prefix(200) {
      var changed = line
      let place = generator.below(line.count)
      changed[place] = UInt8(0x20 + generator.below(0x5F))
      guard changed[place] != line[place] else { continue }
      let event: ScannedEvent
      do throws(EventFault) { event = try ScannedEvent.read(changed) } catch { continue }
      let fault = changed.withUnsafeBytes { verifier.fault(of: event, in: $0) }
      #expect(fault != nil, "\(String(decoding: changed, as: UTF8.self))")
    }
  }
}
