import Cryptography
import Glibc
import PushDelivery
import Storage
import TestSupport
import Testing

@testable import PushLedger

@Suite("What else the push ledger keeps")
struct KeepingTests {
  private let bench: LedgerBench
  private let alice = LedgerBench.alice
  private let bob = LedgerBench.bob
  private let carol = LedgerBench.carol

  init() throws { bench = try LedgerBench() }

  private func contacts(_ contacts: [PushOwner: ContactKind], _ policy: String?, at: Int64) -> ContactsCommand {
    ContactsCommand(
      message: bench.message(alice, at: at), contacts: contacts, policy: policy,
      keepUntil: LedgerBench.now + at + LedgerBench.month)
  }

  @Test("Contacts replace what was there, an older message does nothing and says so, and a wake is decided by them")
  func contacts() async throws {
    let (first, second) = (contacts([bob: .allowed], "open", at: 1), contacts([carol: .blocked], "contacts", at: 2))
    // The same message again is answered as it was.
    for command in [first, second, first] { #expect(try bench.run(.contacts(command)) == .contactsKept) }
    let late = contacts([:], nil, at: 1)
    for _ in 0..<2 { #expect(try bench.run(.contacts(late)) == .superseded()) }
    #expect(try await bench.ledger.contacts(of: alice) == PushContacts(contacts: [carol: .blocked], policy: "contacts"))
    #expect(try await bench.ledger.contacts(of: bob) == PushContacts())
    // A policy that is not named stays.
    #expect(try bench.run(.contacts(contacts([carol: .blocked], nil, at: 3))) == .contactsKept)
    #expect(try await bench.ledger.contacts(of: alice).policy == "contacts")
    try bench.register(alice, "phone", LedgerBench.token(1))
    let standing = Standing()
    for sender in [bob, carol] {
      var wake = bench.wake(sender, alice)
      wake.decide = standing.deciding(WakeRuling(.queued, isQueued: false, isTold: false))
      try bench.run(.wake(wake))
    }
    #expect(standing.seen.map(\.contact) == [nil, .blocked])
    #expect(standing.seen.map(\.policy) == ["contacts", "contacts"])
  }

  @Test("A registration sets the policy and leaves the contacts, also those that come after it and were signed before")
  func policy() async throws {
    var registration = bench.registration(alice, "phone", LedgerBench.token(1), at: 5)
    registration.policy = "contacts"
    try bench.run(.register(registration))
    try bench.run(.contacts(contacts([bob: .allowed], "open", at: 4)))
    #expect(try await bench.ledger.contacts(of: alice) == PushContacts(contacts: [bob: .allowed], policy: "contacts"))
  }

  @Test("Too many contacts are refused, and what there is goes when nothing keeps it any more")
  func bounds() async throws {
    let many = Dictionary(
      uniqueKeysWithValues: (0...PushLedger.contactMaximum).map {
        (PushOwner(.nostr, SHA256.hash(Array("\($0)".utf8))), ContactKind.allowed)
      })
    #expect(try bench.run(.contacts(contacts(many, nil, at: 1))) == .tooManyContacts)
    try bench.register(alice, "phone", LedgerBench.token(1))
    try bench.run(.contacts(contacts([bob: .allowed], "open", at: 1)))
    try bench.run(.sweep(now: (LedgerBench.now + LedgerBench.month) * 1_000, limit: 10))
    #expect(try bench.count("contact") == 1)
    try bench.run(.sweep(now: (LedgerBench.now + LedgerBench.month + 1) * 1_000, limit: 10))
    #expect(try bench.count("contact") == 0)
    #expect(try bench.count("account") == 0)
  }

  @Test("What an owner says before his first device is kept for an hour, and as long as the device when there is one")
  func beforeDevices() async throws {
    func said(_ at: Int64) async throws -> (bob: ContactKind?, rules: [UInt8]?) {
      try bench.run(.sweep(now: (LedgerBench.now + at) * 1_000, limit: 10))
      return (try await bench.ledger.contacts(of: alice).contacts[bob], try await bench.ledger.rules(of: alice))
    }
    let hour = PushLedger.devicelessSeconds
    func speak(at: Int64) throws {
      try bench.run(.contacts(contacts([bob: .blocked], "open", at: at)))
      let rules = RulesCommand(
        message: bench.message(alice, at: at), rules: [1, 2], keepUntil: LedgerBench.now + at + LedgerBench.month)
      #expect(try bench.run(.rules(rules)) == .rulesKept)
    }
    try speak(at: 0)
    #expect(try await said(hour - 1) == (.blocked, [1, 2]))
    #expect(try await said(hour) == (nil, nil))
    #expect(try bench.count("account") == 0)
    try speak(at: hour)
    try bench.register(alice, "phone", LedgerBench.token(1), at: hour + 5)
    #expect(try await said(hour + LedgerBench.month) == (.blocked, [1, 2]))
  }

  @Test("Lists of owners without a device are forgotten for others, the oldest first, and keep nobody from registering")
  func displacing() async throws {
    let squatters = (10..<14).map { LedgerBench.owner(UInt8($0)) }
    func write(_ owner: PushOwner, at: Int64) throws -> LedgerAnswer {
      let command = ContactsCommand(
        message: bench.message(owner, at: at), contacts: [carol: .allowed], policy: nil,
        keepUntil: LedgerBench.now + LedgerBench.month)
      return try bench.run(.contacts(command))
    }
    func kept() async throws -> [Bool] {
      var found: [Bool] = []
      for owner in [bob] + squatters { found.append(try await !bench.ledger.contacts(of: owner).contacts.isEmpty) }
      return found
    }
    try bench.register(bob, "phone", LedgerBench.token(1))
    #expect(try write(bob, at: 1) == .contactsKept)
    for (number, owner) in squatters.enumerated() { #expect(try write(owner, at: 10 + Int64(number)) == .contactsKept) }
    // Bounds are counted, so a counter is as good as the rows.
    try bench.setCounter("rows.contact", 4_000_000)
    #expect(try write(alice, at: 20) == .contactsKept)
    #expect(try await kept() == [true, false, true, true, true])
    try bench.setCounter("rows.account", 1_000_000)
    try bench.register(alice, "phone", LedgerBench.token(2), at: 21)
    #expect(try await kept() == [true, false, false, true, true])
    try bench.setCounter("rows.account", 1_000_002)
    #expect(try write(carol, at: 22) == .unavailable)
    #expect(try await kept() == [true, false, false, false, false], "those with a device stay")
  }

  @Test("Credentials come back after a start, sealed in between, and have bounds")
  func credentials() async throws {
    #expect(try await bench.ledger.credential("jwt") == nil)
    for value in [[1], [2, 3]] as [[UInt8]] {
      #expect(try bench.run(.saveCredential(name: "jwt", value: value, savedAt: 7)) == .done)
    }
    try bench.reopen()
    #expect(try await bench.ledger.credential("jwt") == SavedBytes(bytes: [2, 3], savedAt: 7))
    try bench.run(.saveCredential(name: "jwt", value: nil, savedAt: 8))
    #expect(try await bench.ledger.credential("jwt") == nil)
    let long = [UInt8](repeating: 1, count: PushLedger.credentialByteCountMaximum + 1)
    #expect(try bench.run(.saveCredential(name: "jwt", value: long, savedAt: 8)) == .unavailable)
    for number in 0..<PushLedger.credentialMaximum {
      #expect(try bench.run(.saveCredential(name: "\(number)", value: [1], savedAt: 8)) == .done)
    }
    #expect(try bench.run(.saveCredential(name: "more", value: [1], savedAt: 8)) == .unavailable)
    #expect(try bench.run(.saveCredential(name: "0", value: [2], savedAt: 8)) == .done)
  }

  @Test("Limits are clean after a clean end, once: whoever dies before the next word finds them unclean")
  func limits() throws {
    #expect(try bench.ledger.takeLimitsNow() == nil)
    try bench.run(.saveLimits(snapshot: [1, 2], savedAt: 3, isClean: true))
    try bench.reopen()
    #expect(try bench.ledger.takeLimitsNow() == SavedLimits(snapshot: [1, 2], savedAt: 3, isClean: true))
    #expect(try bench.killed("killed").takeLimitsNow() == SavedLimits(snapshot: [1, 2], savedAt: 3, isClean: false))
  }

  @Test("The operator sees devices by pages, and figures, without a token")
  func operators() async throws {
    try bench.register(alice, "phone", LedgerBench.token(1))
    try bench.register(alice, "pad", .google(String(repeating: "g", count: 40)), capabilities: ["wake"])
    try bench.register(bob, "phone", LedgerBench.token(1))
    let page = try await bench.ledger.page(after: 0, limit: 2)
    #expect(page.map(\.id) == ["phone", "pad"])
    let rest = try await bench.ledger.page(after: page[1].number, limit: 2)
    #expect(rest.map(\.owner) == [bob])
    #expect(!rest[0].isVerified && !rest[0].isQuarantined)
    #expect(!"\(page)".contains("gggg"))
    let figures = try await bench.ledger.statistics(now: LedgerBench.now + LedgerBench.month - 86_400)
    #expect(figures.devices == [.ios: 2, .android: 1])
    #expect(figures.totals[.registrations] == 3)
  }

  @Test("A transaction that fails has done nothing of any of its commands, and has counted nothing")
  func whole() async throws {
    let registration = bench.registration(alice, "phone", LedgerBench.token(1))
    // Two messages with one hash are answered once; two wakes with one id cannot both be kept.
    let wake = bench.wake(bob, alice)
    var twin = bench.wake(carol, alice)
    twin.wake.id = wake.wake.id
    let commands: [PushWrite] = [.register(registration), .wake(wake), .wake(twin)]
    #expect(throws: StorageFault.self) { try bench.ledger.writeNow(commands) }
    for table in ["device", "replay", "nonce", "wake", "status"] { #expect(try bench.count(table) == 0) }
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).totals[.registrations] == 0)
    #expect(try bench.ledger.writeNow(Array(commands.prefix(2))).last == .queued(id: wake.wake.id))
  }

  @Test("Case 52: a full disk is told as such, reading goes on, and so does writing when there is room again")
  func fullDisk() async throws {
    try bench.register(alice, "phone", LedgerBench.token(1))
    // Of all ways in which SQLite learns that there is no room, this one needs no disk.
    func allow(_ pages: Int) throws {
      try bench.ledger.file.writeNow { session in try session.execute("PRAGMA max_page_count = \(pages)") }
    }
    try allow(1)
    var fault: StorageFault?
    var wakes: [WakeCommand] = []
    for number in 0..<500 where fault == nil {
      let wake = bench.wake(bob, alice, payload: [UInt8](repeating: UInt8(number % 256), count: 3_000))
      do throws(StorageFault) {
        _ = try await bench.ledger.write([.wake(wake)])
        wakes.append(wake)
      } catch { fault = error }
    }
    #expect(fault?.kind == .full && fault?.mayPass == true)
    #expect(try await bench.openWakes().map(\.wake.id) == wakes.map(\.wake.id))
    #expect(try await bench.devices(alice).count == 1)
    try allow(1_000_000)
    let wake = bench.wake(bob, alice)
    #expect(try await bench.ledger.write([.wake(wake)]) == [.queued(id: wake.wake.id)])
  }

  @Test("Case 52: nothing is accepted into a file that somebody has moved away")
  func moved() async throws {
    #expect(rename(bench.path, bench.path + ".elsewhere") == 0)
    let wake = bench.wake(bob, alice)
    let fault = await #expect(throws: StorageFault.self) { _ = try await bench.ledger.write([.wake(wake)]) }
    #expect(fault?.reason.contains("removed or moved") == true)
  }
}
