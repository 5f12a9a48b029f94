import Cryptography
import Nostr
import PushDelivery
import PushRequests
import PushRules
import Testing

@Suite("Rules for events of Nostr") struct WakeRulesTests {
  private let key = String(repeating: "ab", count: 32)

  @Test("What is not named is as it is by default, and what is read is written again the same")
  func reading() throws {
    #expect(try WakeRules(Sample.body("{}")) == WakeRules())
    let rules = try WakeRules(
      Sample.body(
        #"{"wake":{"reaction":true,"mention":false},"mute":{"pubkeys":["\#(key)"],"events":["\#(key)"],"#
          + #""hashtags":["Spam"],"words":["Buy NOW"]}}"#))
    #expect(rules.topics == [.message, .reply, .zap, .reaction])
    #expect(rules.mutedPeople.map(\.description) == [key] && rules.mutedThreads.map(\.description) == [key])
    #expect(rules.mutedHashtags == ["spam"] && rules.mutedWords == ["buy now"])
    #expect(try WakeRules(RequestBody(PushReply.rules(rules))) == rules)
    #expect(try WakeRules(RequestBody(PushReply.rules(WakeRules()))) == WakeRules())
  }

  @Test(
    "A switch that is none, and a list that is none or too long, are refused by name",
    arguments: [
      (#"{"wakes":{}}"#, "wakes"), (#"{"wake":{"mentions":true}}"#, "mentions"),
      (#"{"wake":{"mention":1}}"#, "mention"),
      (#"{"wake":true}"#, "wake"), (#"{"mute":{"people":[]}}"#, "people"),
      (#"{"mute":{"pubkeys":["npub1"]}}"#, "pubkeys[0]"), (#"{"mute":{"words":["a",""]}}"#, "words[1]"),
      (#"{"mute":{"hashtags":"a"}}"#, "hashtags"),
    ])
  func refusals(json: String, name: String) throws {
    let refusal = try #require(Sample.refusal { _ = try WakeRules(Sample.body(json)) })
    #expect(refusal.code == .invalidRequest && refusal.message.contains("'\(name)'"), "\(refusal.message)")
  }

  @Test("The largest rules fit their body, and one entry more is refused")
  func bounds() throws {
    var rules = WakeRules()
    rules.mutedPeople = Set((0..<1_000).map { PublicKey(SHA256.hash(Array("\($0)".utf8))) })
    rules.mutedThreads = Set((0..<500).map { EventID(SHA256.hash(Array("\($0)".utf8))) })
    rules.mutedWords = Set((0..<200).map { String(repeating: "a", count: 60) + "\($0 + 1_000)" })
    rules.mutedHashtags = rules.mutedWords
    let bytes = PushReply.rules(rules)
    let maximum = PushRoute.writeRules.bodyByteCountMaximum
    #expect(bytes.count <= maximum)
    #expect(try WakeRules(RequestBody(bytes, byteCountMaximum: maximum)) == rules)
    rules.mutedPeople.insert(PublicKey(SHA256.hash([])))
    let more = PushReply.rules(rules)
    #expect(Sample.refusal { _ = try WakeRules(RequestBody(more, byteCountMaximum: maximum)) }?.status == 400)
  }

  @Test("A registration may bring its owner's rules")
  func registration() throws {
    let token = String(repeating: "0", count: 64)
    let json = #"{"platform":"ios","token":"\#(token)","rules":{"wake":{"zap":false}}}"#
    #expect(try DeviceRegistration(Sample.body(json)).rules?.topics == [.message, .mention, .reply])
    #expect(try DeviceRegistration(Sample.body(#"{"platform":"ios","token":"\#(token)"}"#)).rules == nil)
  }
}
