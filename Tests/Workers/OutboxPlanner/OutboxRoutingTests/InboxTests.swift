import Addresses
import Contracts
import Cryptography
import Nostr
import OutboxRouting
import Testing

@Suite("Where an event of ours goes beside our own relays")
struct InboxTests {
  private let alice = Someone("alice")
  private let people = (0..<12).map { Someone("person \($0)") }

  /// Alice writes to `wss://a.org`; the lists of the first people say where they read.
  private func directory(_ reads: [[String]], indexers: [String] = []) throws -> RelayDirectory {
    var directory = RelayDirectory.sample([alice], relays: [.configured("wss://hub.org", writes: false)])
    var settings = PlannerSettings()
    settings.indexers = indexers
    directory.settingsAre(settings)
    _ = directory.learn(alice.relayList(["wss://a.org"]))
    for (person, relays) in zip(people, reads) {
      _ = directory.learn(person.relayList(relays.map { "-" + $0 } + ["+wss://elsewhere.org"]))
    }
    return directory
  }

  private func event(_ kind: UInt16 = 1, naming count: Int) -> UnsignedEvent {
    UnsignedEvent(
      pubkey: alice.key, createdAt: 1, kind: kind, tags: people.prefix(count).map { ["p", $0.key.description] })
  }

  private func relays(_ route: EventRoute) -> [String] { route.choices.map { String($0.url.text.dropFirst(6)) } }

  @Test("A note goes to the relays where those read whom it names, two of each and six in all, in alice's name")
  func notes() throws {
    let one = try directory([["wss://1.org", "wss://2.org", "wss://3.org"]]).plan(event(naming: 1))
    #expect(relays(one) == ["a.org", "1.org", "2.org"])
    #expect(one.choices[1].why == ["\(people[0].key.npub)'s list, for reading"])
    #expect(one.choices[1].people == [people[0].key] && one.choices[1].isForeign && one.choices[1].account == alice.key)
    let many = try directory((0..<9).map { ["wss://\($0)a.org", "wss://\($0)b.org"] }).plan(event(naming: 9))
    #expect(relays(many) == ["a.org", "0a.org", "1a.org", "2a.org", "3a.org", "4a.org", "5a.org"])
  }

  @Test("A relay where several read serves them all, and one's own counts for its readers")
  func shared() throws {
    let all = try directory([
      ["wss://x.org", "wss://both.org", "wss://y.org"], ["wss://both.org"], ["wss://a.org", "wss://z.org"],
    ]).plan(event(naming: 3))
    #expect(relays(all) == ["a.org", "both.org", "x.org", "z.org"])
    #expect(all.choices[1].people == [people[0].key, people[1].key])
  }

  @Test("A crowd, a list, a report and what no relay keeps go to one's own relays alone; so does all without autopilot")
  func own() throws {
    let lists = (0..<12).map { ["wss://\($0).org"] }
    #expect(relays(try directory(lists).plan(event(naming: 9))).count == 7)
    #expect(relays(try directory(lists).plan(event(naming: 10))) == ["a.org"])
    for kind: UInt16 in [3, 10_000, 30_000, EventKind.report, 20_001] {
      #expect(relays(try directory(lists).plan(event(kind, naming: 1))) == ["a.org"], "kind \(kind)")
    }
    for kind: UInt16 in [4, 7, 1_111, 30_023] {
      #expect(relays(try directory(lists).plan(event(kind, naming: 1))) == ["a.org", "0.org"], "kind \(kind)")
    }
    var off = try directory(lists)
    var settings = PlannerSettings()
    settings.autopilot = false
    off.settingsAre(settings)
    #expect(relays(off.plan(event(naming: 1))) == ["a.org"])
    let named = try directory(lists).plan(event(naming: 1), named: [try RelayURL("wss://n.org")])
    #expect(relays(named) == ["n.org"])
  }

  @Test("An answer in a crowd goes to the inbox of the one whom it answers, if it names that one")
  func crowd() throws {
    let lists = (0..<12).map { ["wss://\($0).org"] }
    let parent = ["e", String(repeating: "0", count: 64), "", "reply", people[7].key.description]
    func crowded(_ kind: UInt16, _ tags: [[String]]) -> UnsignedEvent {
      let plain = event(kind, naming: 12)
      return UnsignedEvent(pubkey: plain.pubkey, createdAt: plain.createdAt, kind: kind, tags: plain.tags + tags)
    }
    let directory = try directory(lists)
    #expect(relays(directory.plan(crowded(1, [parent]))) == ["a.org", "7.org"])
    #expect(relays(directory.plan(crowded(1_111, []))) == ["a.org", "0.org"])
    let stranger = ["e", String(repeating: "0", count: 64), "", "reply", String(repeating: "1", count: 64)]
    #expect(relays(directory.plan(crowded(1, [stranger]))) == ["a.org"])
    #expect(relays(directory.plan(crowded(1, []))) == ["a.org"])
  }

  @Test("A relay that is blocked stays shut for inboxes and wraps even if alice lists it for herself")
  func blocked() throws {
    var directory = try directory([["wss://a.org", "wss://shut.org", "ws://127.0.0.1:1", "wss://open.org"]])
    _ = directory.learn(alice.relayList(["wss://a.org", "wss://shut.org"], at: 2_000))
    _ = directory.learn(alice.blockedList(["wss://shut.org"]))
    let route = directory.plan(event(naming: 1))
    #expect(relays(route) == ["a.org", "shut.org", "open.org"], "her own notes go where she writes")
    #expect(route.choices[1].why == ["alice's list"])
    #expect(
      Set(route.skipped.map(\.reason)) == [
        "blocked by alice's list (kind 10006)", "a private address, and named by others",
      ])
    _ = directory.learn(people[0].messageList(["wss://shut.org", "wss://dm.org"]))
    let wrap = UnsignedEvent(
      pubkey: people[1].key, createdAt: 1, kind: 1_059, tags: [["p", people[0].key.description]])
    #expect(relays(directory.plan(wrap)) == ["dm.org"])
    _ = directory.learn(people[0].messageList(["wss://shut.org"], at: 2_000))
    #expect(directory.plan(wrap).problem?.description.contains("blocked by alice's list") == true)
  }

  @Test("What only the signer can read of the list of blocked relays counts, until a newer list comes")
  func privately() throws {
    var directory = try directory([["wss://shut.org", "wss://open.org"]])
    let list = alice.event(EventKind.blockedRelays)
    _ = directory.learn(list)
    directory.learnBlocked([try RelayURL("wss://shut.org")], by: alice.key, of: list.id)
    #expect(relays(directory.plan(event(naming: 1))) == ["a.org", "open.org"])
    directory.learnBlocked([], by: alice.key, of: alice.event(EventKind.blockedRelays, at: 5).id)
    #expect(relays(directory.plan(event(naming: 1))) == ["a.org", "open.org"], "that is another version")
    _ = directory.learn(alice.event(EventKind.blockedRelays, at: 2_000))
    #expect(relays(directory.plan(event(naming: 1))) == ["a.org", "shut.org", "open.org"])
  }

  @Test("What an account is looked up by goes to the indexers too, where no account shows itself")
  func indexers() throws {
    let directory = try directory([], indexers: ["wss://index.org", "wss://a.org"])
    for kind: UInt16 in [0, 3, 10_002, 10_050] {
      let route = directory.plan(UnsignedEvent(pubkey: alice.key, createdAt: 1, kind: kind))
      #expect(relays(route) == ["a.org", "index.org"], "kind \(kind)")
      #expect(route.choices.map(\.account) == [alice.key, nil])
    }
    #expect(relays(directory.plan(UnsignedEvent(pubkey: alice.key, createdAt: 1, kind: 1))) == ["a.org"])
    #expect(relays(directory.plan(UnsignedEvent(pubkey: alice.key, createdAt: 1, kind: 10_000))) == ["a.org"])
    let secret = UnsignedEvent(pubkey: alice.key, createdAt: 1, kind: 0, tags: [["-"]])
    #expect(relays(directory.plan(secret)) == ["a.org"])
  }

  @Test("A route names the people whose lists are not known")
  func unlisted() throws {
    let directory = try directory([["wss://1.org"]])
    #expect(directory.unlisted(directory.addressees(of: event(naming: 3))) == people[1...2].map(\.key))
  }

  @Test("A relay is sent a version of a relay list once a day, a failed one after ten minutes, and few are remembered")
  func sentLists() throws {
    var sent = SentRelayLists()
    let list = alice.relayList(["wss://a.org"]).id
    func place(_ number: Int) -> SentRelayLists.Place { .init(author: alice.key, relay: "wss://\(number).org") }
    #expect(sent.isDue(list, at: place(1), 1_000))
    sent.sent(list, to: place(1), at: 1_000)
    #expect(!sent.isDue(list, at: place(1), 1_000 + 86_399) && sent.isDue(list, at: place(1), 1_000 + 86_400))
    #expect(sent.isDue(alice.relayList(["wss://b.org"]).id, at: place(1), 1_001), "another version")
    sent.failed(place(1), at: 2_000)
    #expect(!sent.isDue(list, at: place(1), 2_599) && sent.isDue(list, at: place(1), 2_600))
    for number in 2...SentRelayLists.maximum + 1 { sent.sent(list, to: place(number), at: 1_000) }
    #expect(sent.isDue(list, at: place(1), 1_000) && !sent.isDue(list, at: place(2), 1_000))
  }
}
