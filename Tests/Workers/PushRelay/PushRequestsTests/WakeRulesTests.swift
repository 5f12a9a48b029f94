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

  @Test("A word is measured as it is kept: some letters are longer in lower case")
  func lowerCase() throws {
    // Two bytes, in lower case three.
    for name in ["words", "hashtags"] {
      for (count, isTaken) in [(21, true), (22, false), (32, false)] {
        let word = String(repeating: "\u{130}", count: count)
        let refusal = Sample.refusal {
          let rules = try WakeRules(Sample.body(#"{"mute":{"\#(name)":["\#(word)"]}}"#))
          #expect(try WakeRules(RequestBody(PushReply.rules(rules))) == rules)
        }
        #expect((refusal == nil) == isTaken, "\(name) \(count)")
        if let refusal { #expect(refusal.message.contains("'\(name)[0]'"), "\(refusal.message)") }
      }
    }
  }

  @Test("Whatever a body of rules holds is kept, and read again")
  func kept() throws {
    func list(_ count: Int, _ entry: (Int) -> String) -> String {
      "[" + (0..<count).map { "\"\(entry($0))\"" }.joined(separator: ",") + "]"
    }
    func key(_ number: Int) -> String { SHA256.hash(Array("\(number)".utf8)).description }
    // Every letter of every word is written as two: a backslash and a quotation mark.
    func word(_ number: Int) -> String {
      (0..<64).map { number >> min($0, 8) & 1 == 0 || $0 > 8 ? #"\""# : #"\\"# }.joined()
    }
    let mute =
      #"{"pubkeys":\#(list(1_000, key)),"events":\#(list(500, key)),"hashtags":\#(list(200, word)),"#
      + #""words":\#(list(200, word))}"#
    let maximum = PushRoute.writeRules.bodyByteCountMaximum
    let rules = try WakeRules(RequestBody(Array(#"{"mute":\#(mute)}"#.utf8), byteCountMaximum: maximum))
    #expect(rules.mutedWords.count == 200 && rules.mutedHashtags.count == 200)
    let bytes = PushReply.rules(rules)
    #expect(bytes.count > 150_000 && bytes.count <= maximum)
    #expect(try WakeRules(RequestBody(bytes, byteCountMaximum: maximum)) == rules)
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
