import ClientSession
import Cryptography
import Nostr
import Testing

@Suite("EVENT, as a client of the local relay sends it")
struct EventMessageTests {
  @Test("A stranger's event is kept, an account's goes to the world, and so does what comes over its connection")
  func destinations() {
    let alice = SecretKey.generate()
    let visit = Visit(house: ClientEnvironment(accounts: [alice.publicKey]))
    visit.say(event())
    visit.say(event(by: alice))
    #expect(visit.taking.map(\.destination) == [.store, .world])
    _ = visit.taken()
    visit.authenticate(alice)
    visit.say(event())
    #expect(visit.taking.map(\.destination) == [.world])
    let guest = Visit(house: ClientEnvironment(accounts: [alice.publicKey]))
    guest.authenticate(SecretKey.generate())
    guest.say(event())
    #expect(guest.taking.map(\.destination) == [.store], "anybody can show some key")
  }

  @Test("An event that was taken for a stranger's is for the world once its author is known for an account")
  func lateDestination() throws {
    let alice = SecretKey.generate()
    let visit = Visit()
    visit.say(event(by: alice))
    visit.say(event())
    let works = visit.taking.map(\.work)
    #expect(works.map { visit.session.destination(of: $0, visit.house) } == [.store, .store])
    visit.house.accounts = [alice.publicKey]
    #expect(works.map { visit.session.destination(of: $0, visit.house) } == [.world, .store])
    visit.note { $0.settled(works[0], .taken(note: "")) }
    #expect(visit.session.destination(of: works[0], visit.house) == nil, "nobody waits for it")
  }

  @Test(
    "Each outcome has its OK, in the words of NIP-01",
    arguments: [
      (EventOutcome.taken(note: ""), #"true,"""#), (.taken(note: "kept here only"), #"true,"kept here only""#),
      (.duplicate, #"true,"duplicate: the event is here already""#),
      (.superseded, #"false,"duplicate: a newer version of the event is here""#),
      (.deleted, #"false,"blocked: its author has deleted it""#),
      (.expired, #"false,"invalid: its time is over (NIP-40)""#),
      (.invalid("the signature is wrong"), #"false,"invalid: the signature is wrong""#),
      (.failed("the disk is full"), #"false,"error: the disk is full""#),
    ])
  func outcomes(outcome: EventOutcome, words: String) throws {
    let visit = Visit()
    let event = event()
    #expect(visit.say(event).isEmpty)
    let work = try #require(visit.taking.first?.work)
    #expect(visit.note { $0.settled(work, outcome) } == [#"["OK","\#(event.id)",\#(words)]"#])
    #expect(visit.note { $0.settled(work, outcome) }.isEmpty, "once")
  }

  @Test("A protected event is taken from its author alone, and a repost that carries one from nobody")
  func protected() {
    let alice = SecretKey.generate()
    let visit = Visit()
    let secret = event(by: alice, tags: [["-"]])
    let first = visit.say(secret)
    #expect(first.count == 2 && first[0] == #"["AUTH","c0ffee"]"# && first[1].contains("false,\"auth-required: "))
    visit.authenticate(SecretKey.generate())
    let second = visit.say(secret)
    #expect(second.count == 1 && second[0].contains("false,\"restricted: "), "\(second)")
    visit.authenticate(alice)
    #expect(visit.say(secret).isEmpty && visit.taking.count == 1)
    let repost = event(kind: 6, content: String(decoding: secret.json, as: UTF8.self))
    #expect(visit.say(repost)[0].contains("false,\"blocked: "))
  }

  @Test("What is no event is refused under its id if it has one, else by a NOTICE, and never for ever")
  func garbage() {
    let visit = Visit()
    let id = String(repeating: "a", count: 64)
    #expect(visit.say(#"["EVENT",{"id":"\#(id)","kind":1}]"#)[0].hasPrefix(#"["OK","\#(id)",false,"invalid: "#))
    for text in [
      #"["EVENT",{}]"#, #"["EVENT"]"#, "[]", "{", "", "null", #"["EVENT",[]]"#, #"["HELLO"]"#,
      #"["CLOSE"]"#, #"["EVENT",{"id":"\#(id)","id":"\#(id)","kind":1}]"#, "\u{1}", #"[1]"#, #"[["EVENT"]]"#,
    ] {
      let said = visit.say(text)
      #expect(said.count == 1 && said[0].hasPrefix(#"["NOTICE",""#), "\(text): \(said)")
    }
    for _ in 0..<200 { visit.say("x") }
    #expect(visit.closing?.code == 1008 && visit.texts.count == 101)
    #expect(visit.say(event()).isEmpty && visit.taking.isEmpty)
  }

  @Test("A client that sends faster than events are kept is read no further, until half of them are")
  func backPressure() {
    var limits = ClientLimits()
    limits.waitingEventMaximum = 10
    let visit = Visit(limits: limits)
    for _ in 0..<10 { visit.say(event()) }
    let works = visit.taking.map(\.work)
    #expect(visit.taken().last == .pauseReading)
    // What was read before the pause is taken all the same.
    visit.say(event())
    #expect(visit.taking.count == 1)
    for work in works.prefix(5) { visit.note { $0.settled(work, .taken(note: "")) } }
    #expect(!visit.actions.contains(.resumeReading))
    visit.note { $0.settled(works[5], .taken(note: "")) }
    #expect(visit.taken().contains(.resumeReading))
  }

  @Test("Beyond its rate it is told so, and goes on a little later")
  func rate() {
    var limits = ClientLimits()
    limits.eventsPerSecond = 10
    limits.eventBurst = 5
    let visit = Visit(limits: limits)
    for _ in 0..<5 { #expect(visit.say(event()).isEmpty) }
    #expect(visit.say(event())[0].contains(#"false,"rate-limited: at most 10 events a second are taken""#))
    visit.advance(milliseconds: 100)
    #expect(visit.say(event()).isEmpty)
    #expect(visit.say(event()).count == 1)
  }

  @Test("Events that are too large, and those that belong into AUTH, are refused")
  func refused() {
    var limits = ClientLimits()
    limits.eventByteCountMaximum = 1_000
    let visit = Visit(limits: limits)
    #expect(
      visit.say(event(content: String(repeating: "x", count: 1_000)))[0].contains("false,\"invalid: the event has"))
    #expect(visit.say(event(kind: 22_242))[0].contains("false,\"invalid: "))
  }
}
