import ClientSession
import Cryptography
import Nostr
import Testing

@Suite("REQ, COUNT and AUTH, as a client of the local relay sends them")
struct RequestMessageTests {
  @Test("A REQ is observed with a limit, ended by CLOSE, and its EOSE says what NIP-67 wants")
  func request() throws {
    let visit = Visit()
    #expect(visit.say(#"["REQ","a",{"kinds":[1]},{"limit":5}]"#).isEmpty)
    let observe = try #require(visit.observes.first)
    #expect(observe.question.filters.map(\.limit) == [100_000, 5] && observe.question.recipients.isEmpty)
    #expect(visit.session.subscription(of: observe.work) == "a")
    #expect(visit.note { $0.storedEnd(observe.work, isComplete: true) } == [#"["EOSE","a",["finish"]]"#])
    #expect(visit.note { $0.storedEnd(observe.work, isComplete: true) }.isEmpty, "one EOSE")
    #expect(visit.say(#"["CLOSE","a"]"#).isEmpty && visit.ends == [observe.work])
    #expect(visit.say(#"["CLOSE","a"]"#).isEmpty && visit.ends.count == 1)
    #expect(visit.session.subscription(of: observe.work) == nil && visit.session.subscriptionCount == 0)
  }

  @Test("A REQ under a name in use takes its place, also when it is refused")
  func replaced() throws {
    let visit = Visit()
    visit.say(#"["REQ","a",{"kinds":[1]}]"#)
    visit.say(#"["REQ","a",{"kinds":[2]}]"#)
    #expect(visit.observes.count == 2 && visit.ends == [visit.observes[0].work])
    #expect(visit.note { $0.storedEnd(visit.observes[0].work, isComplete: nil) }.isEmpty)
    #expect(visit.note { $0.storedEnd(visit.observes[1].work, isComplete: nil) } == [#"["EOSE","a"]"#])
    #expect(visit.say(#"["REQ","a",{"kinds":["x"]}]"#)[0].hasPrefix(#"["CLOSED","a","invalid: "#))
    #expect(visit.ends.count == 2)
  }

  @Test(
    "What cannot be asked is closed under its name",
    arguments: [
      #"{"ids":["abc"]}"#, #"{"authors":["00"]}"#, #"{"kinds":[70000]}"#, #"{"since":"x"}"#, #"{"nonsense":1}"#,
      #"{"limit":-1}"#, "7", "null", #"{"ids":[7]}"#, #"{"#,
    ])
  func refused(filter: String) {
    let visit = Visit()
    let said = visit.say(#"["REQ","a",\#(filter)]"#)
    #expect(said.count == 1 && said[0].hasPrefix(#"["CLOSED","a","invalid: "#), "\(said)")
    let count = visit.say(#"["COUNT","a",\#(filter)]"#)
    #expect(count.count == 1 && count[0].hasPrefix(#"["CLOSED","a","invalid: "#), "\(count)")
  }

  @Test("Names are 1 to 64 characters, and a name that is none is answered by a NOTICE")
  func names() {
    let visit = Visit()
    let long = String(repeating: "x", count: 65)
    for name in ["\"\"", "\"\(long)\"", "7", "null"] {
      #expect(visit.say(#"["REQ",\#(name),{}]"#)[0].hasPrefix(#"["NOTICE",""#), "\(name)")
    }
    visit.say(#"["REQ","\#(long.dropLast())",{}]"#)
    #expect(visit.observes.count == 1)
  }

  @Test("Bounds of a connection are held, and told")
  func bounds() {
    var limits = ClientLimits()
    limits.subscriptionMaximum = 2
    limits.filterMaximum = 2
    limits.valueMaximum = 3
    limits.standingValueMaximum = 4
    limits.countMaximum = 1
    let visit = Visit(limits: limits)
    #expect(visit.say(#"["REQ","a",{},{},{}]"#)[0].contains("at most 2 are taken"))
    #expect(visit.say(#"["REQ","a",{"kinds":[1,2,3,4]}]"#)[0].contains("more than 3 values"))
    visit.say(#"["REQ","a",{"kinds":[1,2,3]}]"#)
    #expect(visit.say(#"["REQ","b",{"kinds":[1,2]}]"#)[0].contains("of this connection name more than 4"))
    visit.say(#"["REQ","b",{"kinds":[1]}]"#)
    #expect(visit.say(#"["REQ","c",{}]"#)[0].hasPrefix(#"["CLOSED","c","error: 2 subscriptions"#))
    visit.say(#"["CLOSE","a"]"#)
    #expect(visit.say(#"["REQ","c",{"kinds":[1]}]"#).isEmpty, "room is given back")
    #expect(visit.say(#"["COUNT","x",{}]"#).isEmpty)
    #expect(visit.say(#"["COUNT","y",{}]"#)[0].hasPrefix(#"["CLOSED","y","rate-limited: "#))
  }

  @Test("Requests have a rate")
  func rate() {
    var limits = ClientLimits()
    limits.requestsPerSecond = 10
    limits.requestBurst = 2
    let visit = Visit(limits: limits)
    visit.say(#"["REQ","a",{}]"#)
    visit.say(#"["REQ","a",{}]"#)
    #expect(visit.say(#"["REQ","a",{}]"#)[0].contains("rate-limited: "))
    visit.advance(milliseconds: 200)
    #expect(visit.say(#"["REQ","a",{}]"#).isEmpty)
  }

  @Test("Gift wraps are asked of nobody who has not shown himself, and only for him who has")
  func wraps() {
    let alice = SecretKey.generate()
    let visit = Visit()
    let said = visit.say(#"["REQ","dm",{"kinds":[1059]}]"#)
    #expect(said.count == 2 && said[0] == #"["AUTH","c0ffee"]"#)
    #expect(said.last?.hasPrefix(#"["CLOSED","dm","auth-required: "#) == true)
    #expect(visit.say(#"["COUNT","dm",{"kinds":[1059,21059]}]"#)[0].hasPrefix(#"["CLOSED","dm","auth-required: "#))
    #expect(visit.say(#"["REQ","all",{"kinds":[1,1059]}]"#).isEmpty && visit.observes.last?.question.recipients == [])
    #expect(visit.authenticate(alice)[0].contains(",true,"))
    visit.say(#"["REQ","dm",{"kinds":[1059]}]"#)
    #expect(visit.observes.last?.question.recipients == [alice.publicKey])
    let other = Visit()
    #expect(other.say(#"["REQ","x",{"kinds":[1,1059]}]"#) == [#"["AUTH","c0ffee"]"#], "a hint, and an answer")
    #expect(other.observes.count == 1)
  }

  @Test("AUTH is for this relay, this connection and this time")
  func authentication() {
    let alice = SecretKey.generate()
    let visit = Visit()
    #expect(visit.authenticate(alice, challenge: "other")[0].contains("false,\"invalid: the challenge"))
    #expect(
      visit.authenticate(alice, relay: "wss://elsewhere.example")[0].contains("false,\"invalid: the event is for"))
    #expect(visit.session.shown.isEmpty)
    #expect(visit.authenticate(alice)[0].contains(",true,\"\""))
    #expect(visit.session.shown == [alice.publicKey])
    #expect(visit.say(#"["AUTH","x"]"#)[0].hasPrefix(#"["NOTICE",""#))
    for _ in 0..<20 { visit.authenticate(SecretKey.generate()) }
    #expect(visit.session.shown.count == 16)
  }

  @Test("Before a required authentication nothing is done for anybody but accounts and guests")
  func requirement() {
    let (alice, guest) = (SecretKey.generate(), SecretKey.generate())
    let house = ClientEnvironment(accounts: [alice.publicKey], guests: [guest.publicKey])
    let requirement = ClientRequirement.closed(why: "pages of https://x.example must be allowed")
    let visit = Visit(requirement: requirement, house: house)
    let note = event()
    #expect(
      visit.say(#"["REQ","a",{}]"#) == [
        #"["AUTH","c0ffee"]"#, #"["CLOSED","a","auth-required: pages of https://x.example must be allowed"]"#,
      ])
    #expect(
      visit.say(note) == [
        #"["OK","\#(note.id)",false,"auth-required: pages of https://x.example must be allowed"]"#
      ])
    #expect(visit.say(#"["COUNT","a",{}]"#)[0].hasPrefix(#"["CLOSED","a","auth-required"#))
    visit.authenticate(SecretKey.generate())
    #expect(visit.say(#"["REQ","a",{}]"#)[0].hasPrefix(#"["CLOSED","a","restricted"#), "any key is no account")
    #expect(visit.observes.isEmpty && visit.taking.isEmpty)
    visit.authenticate(guest)
    visit.say(#"["REQ","a",{}]"#)
    visit.say(event())
    #expect(visit.observes.count == 1 && visit.taking.map(\.destination) == [.store])
  }

  @Test(
    "Before a required authentication it is asked once, before OK, whether a key that is not known is an account by now"
  )
  func identifying() throws {
    let (alice, stranger) = (SecretKey.generate(), SecretKey.generate())
    let visit = Visit(requirement: .closed(why: "it must be shown"))
    #expect(visit.authenticate(alice).isEmpty)
    #expect(visit.authenticate(stranger).isEmpty)
    let works = visit.actions.compactMap { if case .identify(let work) = $0 { work } else { nil } }
    #expect(works.count == 2)
    visit.house.accounts = [alice.publicKey]
    for work in works {
      let said = visit.note { $0.identified(work) }
      #expect(said.count == 1 && said[0].contains(",true,\"\""), "\(said)")
      #expect(visit.note { $0.identified(work) }.isEmpty, "once")
    }
    #expect(visit.say(#"["REQ","a",{}]"#).isEmpty && visit.observes.count == 1)
    #expect(visit.authenticate(stranger)[0].contains(",true,"), "it was asked about that key")
    #expect(visit.authenticate(SecretKey.generate())[0].contains(",true,"), "nothing more is required")
    let open = Visit()
    #expect(open.authenticate(alice)[0].contains(",true,"), "nothing depends on it")
  }

  @Test("What ends by itself is closed under its name, and a lost connection ends all")
  func ends() throws {
    let visit = Visit()
    visit.say(#"["REQ","a",{}]"#)
    visit.say(#"["REQ","b",{}]"#)
    visit.say(#"["COUNT","n",{}]"#)
    let observes = visit.observes
    let closed = visit.note { $0.observeEnded(observes[0].work, RelayReason("error: the store is away")) }
    #expect(closed == [#"["CLOSED","a","error: the store is away"]"#])
    let count = try #require(visit.counts.first)
    #expect(visit.note { $0.counted(count.work, 7) } == [#"["COUNT","n",{"count":7}]"#])
    _ = visit.taken()
    visit.note { $0.disconnected() }
    #expect(visit.ends == [observes[1].work])
    #expect(visit.note { $0.storedEnd(observes[1].work, isComplete: true) }.isEmpty)
  }
}
