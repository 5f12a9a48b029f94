import Cryptography
import Nostr
import Testing

@Suite("Private messages (NIP-17)")
struct NIP17Tests {
  private let alice = SecretKey.generate().publicKey
  private let bob = SecretKey.generate().publicKey
  private let carol = SecretKey.generate().publicKey

  private func rumor(_ kind: UInt16, _ tags: [[String]], _ content: String = "hello") -> UnsignedEvent {
    UnsignedEvent(pubkey: alice, createdAt: 1_700_000_000, kind: kind, tags: tags, content: content)
  }

  @Test("The author and the keys in p are the members of a chat, for each reader")
  func members() throws {
    let made = PrivateMessage.rumor(
      "hello", to: [bob, carol], subject: "tea", answering: rumor(14, []).id, by: alice, at: 1_700_000_000)
    for account in [alice, bob, carol] {
      let message = try PrivateMessage(made, for: account)
      #expect(message.members == [alice, bob, carol].sorted())
      #expect(message.body == .text("hello") && message.subject == "tea" && message.answered == rumor(14, []).id)
      #expect(message.author == alice && message.about == nil)
    }
    #expect(try PrivateMessage(rumor(14, [["p", "\(bob)"], ["p", "\(bob)"]]), for: bob).members.count == 2)
    #expect(try PrivateMessage(rumor(14, [["p", "\(alice)"]]), for: alice).members == [alice], "a note to oneself")
  }

  @Test("Files, reactions and deletions name what they are about")
  func others() throws {
    let id = rumor(14, []).id
    let tags = [["p", "\(bob)"], ["e", "\(id)"]]
    #expect(
      try PrivateMessage(rumor(15, tags, "https://example.com/f"), for: bob).body == .file("https://example.com/f"))
    #expect(try PrivateMessage(rumor(7, tags, ""), for: bob).body == .reaction("+", to: id))
    #expect(try PrivateMessage(rumor(5, tags), for: bob).about == id)
  }

  @Test("What breaks a rule is refused, with the reason")
  func faults() {
    func fault(_ rumor: UnsignedEvent) -> PrivateMessageFault? {
      do throws(PrivateMessageFault) {
        _ = try PrivateMessage(rumor, for: bob)
        return nil
      } catch { return error }
    }
    #expect(fault(rumor(1, [])) == .otherKind(1))
    #expect(fault(rumor(4, [["p", "\(bob)"]])) == .otherKind(4), "kind 4 is no rumor")
    #expect(fault(rumor(14, [["p", "bob"]])) == .badMember)
    #expect(fault(rumor(7, [["p", "\(bob)"]], "+")) == .namesNoMessage)
    #expect(fault(rumor(5, [["e", "x"]])) == .namesNoMessage)
    #expect(fault(rumor(14, [], String(repeating: "x", count: PrivateMessage.textByteCountMaximum + 1))) == .tooLong)
    let crowd = (0...PrivateMessage.memberMaximum).map { _ in ["p", "\(SecretKey.generate().publicKey)"] }
    #expect(fault(rumor(14, crowd)) == .tooManyMembers)
  }

  @Test("A message of kind 4 has two members; without a recipient it is refused")
  func legacy() throws {
    let event = rumor(4, [["p", "\(bob)"]])
    #expect(try PrivateMessage(legacy: event, for: bob).members == [alice, bob].sorted())
    #expect(throws: PrivateMessageFault.badMember) { try PrivateMessage(legacy: rumor(4, []), for: bob) }
    #expect(throws: PrivateMessageFault.tooManyMembers) { try PrivateMessage(legacy: event, for: carol) }
  }
}
