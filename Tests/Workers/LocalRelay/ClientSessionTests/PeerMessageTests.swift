import ClientSession
import Cryptography
import Nostr
import Testing

@Suite("Another Roost of the same owner, as a client of the local relay")
struct PeerMessageTests {
  private let alice = SecretKey.generate()
  private let guest = SecretKey.generate()
  private let question = #"["PUBLICATIONS","p",{"after":0}]"#

  private func peer() -> Visit {
    Visit(
      requirement: .closed(why: "only accounts"), isPeer: true,
      house: ClientEnvironment(accounts: [alice.publicKey], guests: [guest.publicKey]))
  }

  @Test("It must be an account: a guest is not enough, and before that nothing is answered")
  func access() {
    let visit = peer()
    let said = visit.say(question)
    #expect(
      said.count == 2 && said[0] == #"["AUTH","c0ffee"]"# && said[1].hasPrefix(#"["CLOSED","p","auth-required: "#))
    visit.authenticate(guest)
    #expect(visit.say(question)[0].hasPrefix(#"["CLOSED","p","restricted: "#))
    #expect(visit.say(#"["REQ","a",{"kinds":[1]}]"#)[0].hasPrefix(#"["CLOSED","a","restricted: "#))
    visit.authenticate(alice)
    #expect(visit.say(question).isEmpty)
    #expect(visit.taken().contains { if case .exchange(_, _, [alice.publicKey]) = $0 { true } else { false } })
  }

  @Test("Gift wraps of an account that has not authenticated are refused, and do not seem to be missing")
  func wraps() {
    let bob = SecretKey.generate()
    let visit = Visit(
      requirement: .closed(why: "only accounts"), isPeer: true,
      house: ClientEnvironment(accounts: [alice.publicKey, bob.publicKey]))
    visit.authenticate(alice)
    func ask(_ key: SecretKey) -> [String] {
      visit.say(##"["NEG-OPEN","n",{"kinds":[1059],"#p":["\##(key.publicKey)"]},"6100000200"]"##)
    }
    #expect(ask(alice).isEmpty)
    #expect(ask(bob).last?.hasPrefix(#"["NEG-ERR","n","auth-required: "#) == true)
    visit.authenticate(bob)
    #expect(ask(bob).isEmpty)
  }

  @Test("What it sends is stored as one's own, and never published, by whichever author")
  func events() {
    let visit = peer()
    visit.authenticate(alice)
    visit.say(event(by: alice))
    visit.say(event())
    #expect(visit.taking.map(\.destination) == [.shared(isOwn: true), .shared(isOwn: false)])
  }

  @Test("Each exchange has one answer; four at a time; elsewhere the message is refused")
  func exchanges() {
    let visit = peer()
    visit.authenticate(alice)
    _ = visit.taken()
    for _ in 0..<4 { #expect(visit.say(question).isEmpty) }
    #expect(visit.say(question)[0].hasPrefix(#"["CLOSED","p","rate-limited: "#))
    let works = visit.taken().compactMap { if case .exchange(let work, _, _) = $0 { work } else { nil } }
    #expect(visit.note { $0.exchanged(works[0], Array("{}".utf8)) } == [#"["PUBLICATIONS","p",{}]"#])
    #expect(visit.note { $0.exchanged(works[0], Array("{}".utf8)) }.isEmpty)
    #expect(visit.note { $0.exchangeFailed(works[1], RelayReason("error: x")) } == [#"["CLOSED","p","error: x"]"#])
    #expect(visit.say(#"["PUBLICATIONS","p",7]"#)[0].hasPrefix(#"["CLOSED","p","invalid: "#))
    let client = Visit(house: ClientEnvironment(accounts: [alice.publicKey]))
    #expect(client.say(question)[0].hasPrefix(#"["CLOSED","p","restricted: "#))
  }
}
