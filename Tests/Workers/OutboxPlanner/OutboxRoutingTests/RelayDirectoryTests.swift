import Addresses
import Contracts
import Cryptography
import Nostr
import OutboxRouting
import Testing

@Suite("The relay directory")
struct RelayDirectoryTests {
  private let alice = Someone("alice")
  private let bob = Someone("bob")
  private let carol = Someone("carol")
  private let hub = RelayStates.Relay.configured("wss://hub.org")

  private func url(_ text: String) throws -> RelayURL { try RelayURL(text) }
  private func note(by author: Someone, _ tags: [[String]] = []) -> UnsignedEvent {
    UnsignedEvent(pubkey: author.key, createdAt: 1, kind: 1, tags: tags)
  }
  private func wrap(to recipients: [Someone]) -> UnsignedEvent {
    UnsignedEvent(
      pubkey: carol.key, createdAt: 1, kind: GiftWrap.kind, tags: recipients.map { ["p", $0.key.description] })
  }
  private func urls(_ choices: [RelayChoice]) -> [String] { choices.map(\.url.text) }

  // MARK: Writing

  @Test("An account writes to its own list first, then to what is configured and added")
  func writes() throws {
    var directory = RelayDirectory.sample(
      [alice, bob], relays: [hub, .configured("wss://search.org", writes: false)])
    let isNew = directory.learn(alice.relayList(["wss://a.org", "-wss://inbox.org", "+wss://hub.org"]))
    #expect(isNew)
    let isAdded = directory.add(RelayDirectory.Added(try url("wss://mine.org")))
    #expect(isAdded)
    let choices = directory.writes(by: alice.key)
    #expect(urls(choices) == ["wss://a.org", "wss://hub.org", "wss://mine.org"])
    #expect(choices.map(\.reason) == ["alice's list", "alice's list, configured", "added"])
    #expect(choices.map(\.connector) == ["others", "main", "others"])
    #expect(choices.allSatisfy { $0.account == alice.key && !$0.isForeign })
    #expect(urls(directory.writes(by: bob.key)) == ["wss://hub.org", "wss://mine.org"])
    let stranger = directory.writes(by: carol.key)
    #expect(urls(stranger) == ["wss://hub.org", "wss://mine.org"] && stranger.allSatisfy { $0.account == nil })
  }

  @Test("A new list of relays goes to those that it names, blocked ones too, and to those that were there before")
  func newList() throws {
    var directory = RelayDirectory.sample([alice], relays: [hub])
    _ = directory.learn(alice.relayList(["wss://old.org"], at: 1))
    _ = directory.learn(alice.blockedList(["wss://hub.org"]))
    let list = alice.relayList(["wss://new.org", "-wss://inbox.org", "wss://old.org"], at: 2)
    let choices = try directory.route(list).get()
    #expect(urls(choices) == ["wss://new.org", "wss://old.org"])
    #expect(choices.map(\.reason) == ["alice's new list", "alice's new list, alice's list"])
    #expect(choices.allSatisfy { $0.account == alice.key && !$0.isForeign })
    let back = directory.plan(alice.relayList(["wss://hub.org"], at: 3).unsigned)
    #expect(urls(back.choices) == ["wss://hub.org", "wss://old.org"] && back.skipped.isEmpty)
    let stranger = try directory.route(carol.relayList(["wss://elsewhere.org", "wss://hub.org"])).get()
    #expect(urls(stranger) == ["wss://hub.org"], "only what our own accounts say is believed")
    let named = try directory.route(list, named: [url("wss://b.org")]).get()
    #expect(urls(named) == ["wss://b.org"], "whoever names relays means those")
  }

  @Test("Nothing is published to configured relays before there is an account, unless they are named")
  func noAccount() throws {
    var directory = RelayDirectory.sample([], relays: [hub])
    let reason = "nothing is published to configured relays before there is an account"
    #expect(directory.route(note(by: alice)) == .failure(NoRoute("every relay is left out: \(reason)")))
    let named = try directory.route(note(by: alice), named: [url("wss://hub.org")]).get()
    #expect(urls(named) == ["wss://hub.org"] && named[0].why == ["named"])
    _ = directory.add(RelayDirectory.Added(try url("wss://mine.org")))
    #expect(urls(try directory.route(note(by: alice)).get()) == ["wss://mine.org"])
    #expect(urls(directory.reads()) == ["wss://hub.org", "wss://mine.org"], "reading tells nobody who one is")
  }

  @Test("What an account blocks is not used for it, unless its own list names the relay")
  func blocked() throws {
    var directory = RelayDirectory.sample([alice, bob], relays: [hub])
    _ = directory.learn(alice.blockedList(["wss://hub.org", "wss://own.org"]))
    _ = directory.learn(alice.relayList(["wss://own.org"]))
    let plan = directory.plan(note(by: alice))
    #expect(urls(plan.choices) == ["wss://own.org"])
    #expect(plan.skipped.map(\.reason) == ["blocked by alice's list (kind 10006)"])
    #expect(urls(directory.writes(by: bob.key)) == ["wss://hub.org"], "it is not his list")
    #expect(urls(directory.reads()) == ["wss://own.org"])
    let named = directory.route(note(by: alice), named: [try url("wss://hub.org")])
    #expect(named == .failure(NoRoute("every relay is left out: blocked by alice's list (kind 10006)")))
  }

  @Test("This Roost's own relay is in no plan, whoever names it, and the plan says so")
  func home() throws {
    var directory = RelayDirectory.sample([alice], relays: [hub, .configured("ws://127.0.0.1:4869/inbox")])
    _ = directory.learn(alice.relayList(["ws://localhost:4869", "wss://a.org"]))
    _ = directory.learn(alice.messageList(["ws://[::1]:4869", "wss://dm.org"]))
    _ = directory.learn(bob.messageList(["ws://localhost:4869"]))
    _ = directory.add(RelayDirectory.Added(try url("ws://added.localhost:4869")))
    let before = directory.revision
    #expect(directory.writes(by: alice.key).count == 5)
    directory.ownAddressesAre(OwnAddresses(["127.0.0.1:4869"]))
    directory.ownAddressesAre(OwnAddresses(["127.0.0.1:4869"]))
    #expect(directory.revision == before + 1)
    let home = ["ws://127.0.0.1:4869/inbox", "ws://added.localhost:4869", "ws://localhost:4869"]

    let plan = directory.plan(note(by: alice))
    #expect(urls(plan.choices) == ["wss://a.org", "wss://hub.org"])
    #expect(urls(plan.skipped).sorted() == home && plan.skipped.allSatisfy { $0.why == [OwnAddresses.reason] })
    #expect(urls(directory.reads()) == ["wss://a.org", "wss://hub.org"])
    let asked = directory.route([Filter(kinds: [1])], named: [try url("ws://localhost:4869")])
    #expect(asked.stops.map(\.choice.url.text) == ["wss://a.org", "wss://hub.org"])
    #expect(asked.skipped.allSatisfy { $0.why == [OwnAddresses.reason] } && asked.skipped.count == 4)

    let list = UnsignedEvent(
      pubkey: alice.key, createdAt: 9, kind: EventKind.relayList, tags: [["r", "ws://localhost:4869/new"]])
    #expect(urls(directory.plan(list).choices) == ["wss://a.org", "wss://hub.org"])
    let nowhere = NoRoute("every relay is left out: that is this Roost's own relay")
    #expect(directory.route(note(by: alice), named: [try url("ws://localhost:4869")]) == .failure(nowhere))
    #expect(directory.route(wrap(to: [bob])) == .failure(nowhere))
    #expect(urls(try directory.route(wrap(to: [alice])).get()) == ["wss://dm.org"])
    let wraps = Filter(kinds: [GiftWrap.kind], tags: [try #require(TagLetter("p")): [TagValue(alice.key.description)]])
    #expect(directory.route([wraps]).stops.map(\.choice.url.text) == ["wss://dm.org"])
    #expect(try !directory.isHome(url("ws://localhost:4870")) && directory.isHome(url("wss://127.1.2.3:4869")))
  }

  @Test("Of two lists the newer counts, of one second the one with the lower id, in whatever order they come")
  func newest() throws {
    let old = alice.relayList(["wss://old.org"], at: 1)
    let twins = [alice.relayList(["wss://x.org"], at: 5), alice.relayList(["wss://y.org"], at: 5)]
      .sorted { $0.id < $1.id }
    for order in [[old, twins[0], twins[1]], [twins[1], twins[0], old], [twins[0], old, twins[1]]] {
      var directory = RelayDirectory.sample([alice], relays: [])
      for event in order { _ = directory.learn(event) }
      let expected = try RelayList(twins[0]).writeRelays.map(\.text)
      #expect(urls(directory.writes(by: alice.key)) == expected)
    }
    var directory = RelayDirectory.sample([alice], relays: [])
    _ = directory.learn(carol.relayList(["wss://evil.org"]))
    #expect(directory.writes(by: carol.key).isEmpty, "a stranger's list says nothing about where one's own events go")
  }

  @Test("A protected event goes only where its author shows himself, and must be of an account")
  func protected() throws {
    let directory = RelayDirectory.sample([alice], relays: [hub])
    let choices = try directory.route(note(by: alice, [["-"]])).get()
    #expect(choices.allSatisfy { $0.isProtected && $0.account == alice.key } && choices.count == 1)
    guard case .failure(let reason) = directory.route(note(by: bob, [["-"]])) else {
      Issue.record("nobody can show himself as bob")
      return
    }
    #expect(reason.description.contains(bob.key.npub) && reason.description.contains("NIP-70"))
  }

  @Test("Messages without their wrap, and answers to a challenge, are not published", arguments: [13, 14, 15, 22_242])
  func never(_ kind: UInt16) throws {
    let directory = RelayDirectory.sample([alice], relays: [hub])
    let event = UnsignedEvent(pubkey: alice.key, createdAt: 1, kind: kind)
    #expect(directory.plan(event).problem != nil)
    #expect(directory.plan(event, named: [try url("wss://hub.org")]).problem != nil)
  }

  // MARK: Gift wraps

  @Test("A gift wrap goes to three relays of its recipient's message list, and no account authenticates there")
  func wraps() throws {
    var directory = RelayDirectory.sample([alice], relays: [hub])
    _ = directory.learn(bob.messageList(["wss://1.org", "wss://2.org", "wss://3.org", "wss://4.org"]))
    let choices = try directory.route(wrap(to: [bob])).get()
    #expect(urls(choices) == ["wss://1.org", "wss://2.org", "wss://3.org"])
    #expect(choices.allSatisfy { $0.isForeign && $0.account == nil && $0.people == [bob.key] })
    #expect(choices[0].why == ["dm-list of \(bob.key.npub)"])
    #expect(
      directory.directMessageRelays(of: bob.key)?.count == 3 && directory.directMessageRelays(of: carol.key) == nil)
  }

  @Test("A gift wrap to an account of ours may go to a private address, since the list is our own")
  func ownWraps() throws {
    var directory = RelayDirectory.sample([alice], relays: [])
    _ = directory.learn(alice.messageList(["ws://127.0.0.1:7777"]))
    let choices = try directory.route(wrap(to: [alice])).get()
    #expect(urls(choices) == ["ws://127.0.0.1:7777"] && choices[0].account == alice.key && !choices[0].isForeign)
  }

  @Test("A deletion of gift wraps goes to the relays where their recipient gets them, and nowhere else")
  func wrapDeletions() throws {
    var directory = RelayDirectory.sample([alice], relays: [hub])
    func deletion(_ kinds: String...) -> UnsignedEvent {
      UnsignedEvent(
        pubkey: alice.key, createdAt: 1, kind: 5, tags: [["e", "1"]] + kinds.map { ["k", $0] }, content: "")
    }
    let usual = urls(try directory.route(deletion("1")).get())
    #expect(urls(try directory.route(deletion("1059")).get()) == usual, "without a list for direct messages")
    _ = directory.learn(alice.messageList(["wss://1.org", "wss://2.org"]))
    let choices = try directory.route(deletion("1059")).get()
    #expect(urls(choices) == ["wss://1.org", "wss://2.org"] && choices.allSatisfy { $0.account == alice.key })
    for event in [deletion("1"), deletion("1059", "1"), deletion()] {
      #expect(urls(try directory.route(event).get()) == usual)
    }
    #expect(urls(try directory.route(deletion("1059"), named: [try url("wss://3.org")]).get()) == ["wss://3.org"])
  }

  @Test("Without a list there is no way, whatever else is known of the recipient")
  func missingList() throws {
    var directory = RelayDirectory.sample([alice], relays: [hub])
    for _ in 0..<2 {
      let route = directory.plan(wrap(to: [bob]), named: [try url("wss://hub.org")])
      #expect(route.choices.isEmpty && route.problem?.missingList == bob.key)
      #expect(
        route.problem?.description == "\(bob.key.npub) has no list of relays for direct messages (kind 10050)")
      _ = directory.learn(bob.messageList([]))
    }
    _ = directory.learn(bob.messageList(["wss://1.org"], at: 2_000))
    #expect(directory.plan(wrap(to: [bob]), named: [try url("wss://hub.org")]).problem != nil)
    #expect(urls(directory.plan(wrap(to: [bob]), named: [try url("wss://1.org")]).choices) == ["wss://1.org"])
  }

  @Test("A gift wrap has one recipient")
  func recipients() {
    var directory = RelayDirectory.sample([alice], relays: [hub])
    _ = directory.learn(bob.messageList(["wss://1.org"]))
    #expect(directory.plan(wrap(to: [])).problem != nil && directory.plan(wrap(to: [bob, alice])).problem != nil)
  }

  @Test("A stranger's list leads to no private address, unless the user has chosen that relay himself")
  func privateAddresses() throws {
    var directory = RelayDirectory.sample([alice], relays: [])
    _ = directory.learn(bob.messageList(["ws://192.168.1.1", "ws://relay.local", "wss://1.org"]))
    let route = directory.plan(wrap(to: [bob]))
    #expect(urls(route.choices) == ["wss://1.org"] && route.skipped.count == 2)
    #expect(route.skipped.allSatisfy { $0.why == ["a private address, and named by others"] })
    _ = directory.add(RelayDirectory.Added(try url("ws://192.168.1.1")))
    #expect(urls(directory.plan(wrap(to: [bob])).choices) == ["ws://192.168.1.1", "wss://1.org"])
  }

  @Test("The lists of strangers that are remembered are bounded, and the first told goes")
  func strangers() {
    var directory = RelayDirectory()
    let people = (0...AuthorBook.idleMaximum).map { Someone("\($0)") }
    for person in people { _ = directory.learn(person.messageList(["wss://1.org"])) }
    #expect(directory.directMessageRelays(of: people[0].key) == nil)
    #expect(directory.directMessageRelays(of: people[1].key) != nil)
  }

  // MARK: Questions

  @Test("Filters are asked at the relays for reading and at those that are named, or at the named ones only")
  func questions() throws {
    var directory = RelayDirectory.sample(
      [alice], relays: [hub, .configured("wss://out.org", reads: false)])
    _ = directory.learn(alice.relayList(["-wss://inbox.org", "+wss://outbox.org"]))
    let filters = [Filter(kinds: [1]), Filter(kinds: [])]
    let route = directory.route(filters, named: [try url("wss://z.org")])
    #expect(route.stops.map(\.choice.url.text) == ["wss://hub.org", "wss://inbox.org", "wss://z.org"])
    #expect(route.stops.map(\.choice.account) == [alice.key, alice.key, nil])
    #expect(route.stops.allSatisfy { $0.filters == [filters[0]] }, "what matches nothing is asked nowhere")
    let exclusive = directory.route(filters, named: [try url("wss://hub.org")], isExclusive: true)
    #expect(exclusive.stops.map(\.choice.url.text) == ["wss://hub.org"] && exclusive.stops[0].choice.why == ["named"])
    #expect(directory.route([Filter(kinds: [])]).problem == NoRoute("no event can match these filters"))
    #expect(RelayDirectory().route([Filter(kinds: [1])]).problem != nil)
  }

  @Test("At a relay where two accounts receive gift wraps each asks for its own")
  func sharedMessageRelay() throws {
    var directory = RelayDirectory.sample([alice, bob], relays: [hub])
    for account in [alice, bob] { _ = directory.learn(account.messageList(["wss://hub.org"])) }
    let tag = try #require(TagLetter("p"))
    func wraps(to people: [Someone]) -> Filter {
      Filter(kinds: [GiftWrap.kind], tags: [tag: people.map { TagValue($0.key.description) }])
    }
    let notes = Filter(kinds: [1])
    let stops = directory.route([wraps(to: [alice, bob]), notes]).stops
    #expect(stops.map(\.choice.url.text) == ["wss://hub.org", "wss://hub.org"])
    for (account, filters) in [(alice, [wraps(to: [alice]), notes]), (bob, [wraps(to: [bob])])] {
      let stop = stops.first { $0.choice.account == account.key }
      #expect(stop.map { Set($0.filters) } == Set(filters), "\(account.name)")
    }
    let named = directory.route([wraps(to: [bob])], named: [try url("wss://hub.org")]).stops
    #expect(named.map(\.choice.account) == [bob.key] && named.map(\.choice.why) == [["named", "dm-list of bob"]])
  }

  @Test("One's own gift wraps are asked for where one receives them, and nowhere else")
  func wrapQuestions() throws {
    var directory = RelayDirectory.sample([alice, bob], relays: [hub])
    let tag = try #require(TagLetter("p"))
    let mine = Filter(kinds: [GiftWrap.kind], tags: [tag: [TagValue(alice.key.description)]])
    #expect(directory.route([mine]).stops.map(\.choice.url.text) == ["wss://hub.org"], "no list is known yet")
    _ = directory.learn(alice.messageList(["wss://dm.org"]))
    let route = directory.route([mine, Filter(kinds: [1])])
    #expect(route.stops.map(\.choice.url.text) == ["wss://dm.org", "wss://hub.org"])
    #expect(route.stops.map(\.filters) == [[mine], [Filter(kinds: [1])]])
    #expect(route.stops[0].choice.account == alice.key)
    let wide = Filter(
      kinds: [1, GiftWrap.kind], tags: [tag: [TagValue(alice.key.description), TagValue(bob.key.description)]])
    #expect(directory.route([wide]).stops.map(\.filters) == [[mine], [wide]])
  }

  // MARK: What is known

  @Test("A relay belongs to its group's connector, also while that is dead; when it is gone, to the one for all others")
  func connectors() throws {
    var directory = RelayDirectory.sample([], relays: [hub])
    let relay = try url("wss://hub.org")
    #expect(directory.connector(of: relay) == "main" && directory.isConfigured(relay))
    #expect(directory.state(of: relay)?.state == "open")
    directory.connectorsAre(["others"])
    #expect(directory.connector(of: relay) == "others" && !directory.isConfigured(relay))
    directory.connectorReported("others", [hub], isWhole: false, dialsOthers: true)
    directory.connectorReported("others", [], isWhole: false, dialsOthers: true)
    #expect(directory.isConfigured(relay))
    directory.connectorReported("others", [], isWhole: true, dialsOthers: true)
    #expect(!directory.isConfigured(relay))
  }

  @Test("What is not known yet is told, so that nobody takes it for nothing")
  func settling() {
    var directory = RelayDirectory()
    #expect(directory.unsettled != nil)
    directory.connectorsAre(["main"])
    #expect(directory.unsettled == "main has not said which relays it has")
    directory.connectorReported("main", [hub], isWhole: true, dialsOthers: true)
    #expect(directory.unsettled == "the signer has not said which accounts there are")
    directory.accountsAre([("alice", alice.key)])
    #expect(directory.unsettled == "the lists of alice have not been looked up")
    directory.lookedUp([alice.key])
    #expect(directory.unsettled == nil)
  }

  @Test("Lists of accounts that stay are kept, also under another name")
  func accounts() {
    var directory = RelayDirectory.sample([alice], relays: [])
    _ = directory.learn(alice.relayList(["wss://a.org"]))
    directory.accountsAre([("bob", bob.key), ("alicia", alice.key)])
    #expect(directory.writes(by: alice.key).map(\.reason) == ["alicia's list"])
    directory.accountsAre([("bob", bob.key)])
    #expect(directory.writes(by: alice.key).isEmpty && directory.account(alice.key) == nil)
  }

  @Test("What the lists of an account name of which only the public key is here is foreign; what the user chose is not")
  func readOnly() throws {
    var directory = RelayDirectory.sample([alice, bob], relays: [hub])
    _ = directory.learn(alice.relayList(["wss://a.org", "wss://hub.org"]))
    _ = directory.learn(bob.relayList(["wss://b.org"]))
    func foreign() -> [String] { directory.reads().filter(\.isForeign).map(\.url.text) }
    #expect(foreign().isEmpty)
    directory.accountsAre([("alice", alice.key), ("bob", bob.key)], readOnly: [alice.key])
    #expect(foreign() == ["wss://a.org"])
    #expect(directory.writes(by: alice.key).filter(\.isForeign).map(\.url.text) == ["wss://a.org"])
    directory.accountsAre([("alice", alice.key), ("bob", bob.key)])
    #expect(foreign().isEmpty, "its secret key has come")
  }

  @Test("All that is known can be listed, each relay once with its sources")
  func list() throws {
    var directory = RelayDirectory.sample([alice], relays: [hub])
    _ = directory.learn(alice.relayList(["+wss://hub.org"]))
    _ = directory.learn(alice.messageList(["wss://dm.org"]))
    _ = directory.add(RelayDirectory.Added(try url("wss://mine.org"), writes: false))
    let list = directory.list()
    #expect(list.map(\.relay) == ["wss://dm.org", "wss://hub.org", "wss://mine.org"])
    #expect(list[1].sources == ["supervisor.conf [worker.main]", "alice's list"] && list[1].state?.state == "open")
    #expect(list[2].reads && !list[2].writes)
    let isGone = directory.remove(try url("wss://mine.org"))
    let isGoneTwice = directory.remove(try url("wss://mine.org"))
    #expect(isGone && !isGoneTwice && directory.list().count == 2)
  }
}
