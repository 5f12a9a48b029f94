import Addresses
import Contracts
import Cryptography
import Nostr
import OutboxRouting
import Testing

@Suite("Reading people where their lists say")
struct ReadingTests {
  private let alice = Someone("alice")
  private let bob = Someone("bob")
  private let carol = Someone("carol")
  private let dave = Someone("dave")

  private func directory(_ lists: [Event], wanting filters: [Filter]) -> RelayDirectory {
    var directory = RelayDirectory.sample([alice], relays: [.configured("wss://hub.org")])
    for list in lists { _ = directory.learn(list) }
    directory.want(Interest(own: "x", filters))
    _ = directory.selectRelays(at: 1_000)
    return directory
  }

  /// The authors that each relay is asked for, or the people whose mentions it is asked for.
  private func people(_ route: FilterRoute) -> [String: Set<String>] {
    let names = Dictionary(uniqueKeysWithValues: [alice, bob, carol, dave].map { ($0.key.description, $0.name) })
    var people: [String: Set<String>] = [:]
    for stop in route.stops {
      for filter in stop.filters {
        let keys = filter.authors?.map(\.description) ?? filter.tags.values.flatMap { $0.map(\.description) }
        people[stop.choice.url.text, default: []].formUnion(keys.map { names[$0] ?? $0 })
      }
    }
    return people
  }

  @Test("Authors are asked for at their relays for writing, and those without a list at one's own and the largest")
  func authors() {
    let filters = [Filter(authors: [bob, carol, dave].map(\.key), kinds: [1])]
    let directory = directory(
      [bob.relayList(["wss://b.org", "-wss://inbox.org"]), carol.relayList(["wss://b.org", "wss://hub.org"])],
      wanting: filters)
    let route = directory.route(filters)
    #expect(people(route) == ["wss://b.org": ["bob", "carol", "dave"], "wss://hub.org": ["carol", "dave"]])
    #expect(route.stops.map(\.choice.isForeign) == [true, false])
    #expect(route.stops.map(\.choice.account) == [nil, alice.key], "no account shows itself where others write")
  }

  @Test("Mentions are asked for where those who are mentioned read")
  func mentions() throws {
    let tag = try #require(TagLetter(UInt8(ascii: "p")))
    let filters = [Filter(kinds: [1], tags: [tag: [bob, alice].map { TagValue($0.key.description) }])]
    let directory = directory(
      [bob.relayList(["+wss://b.org", "-wss://inbox.org"]), alice.relayList(["-wss://mine.org"])], wanting: filters)
    #expect(
      people(directory.route(filters)) == [
        "wss://inbox.org": ["bob"], "wss://hub.org": ["alice"], "wss://mine.org": ["alice"],
      ])
  }

  @Test("Without autopilot, and for a filter that names nobody, one's own relays are asked")
  func own() {
    let filters = [Filter(authors: [bob.key]), Filter(kinds: [1])]
    var directory = directory([bob.relayList(["wss://b.org"])], wanting: filters)
    #expect(directory.route([filters[1]]).stops.map(\.choice.url.text) == ["wss://hub.org"])
    #expect(directory.route([filters[0]]).stops.map(\.choice.url.text) == ["wss://b.org"])
    var settings = PlannerSettings()
    settings.autopilot = false
    directory.settingsAre(settings)
    _ = directory.selectRelays(at: 1_000)
    #expect(directory.route(filters).stops.map(\.choice.url.text) == ["wss://hub.org"])
  }

  @Test("Of a list of a hundred thousand entries eight relays count, and no private or blocked one")
  func hostile() {
    let filters = [Filter(authors: [bob.key])]
    let blocked = (0..<5).map { "wss://r\($0).org" }
    let entries =
      ["ws://127.0.0.1:1", "ws://169.254.169.254", "wss://x.onion", "ws://router.lan", "nonsense"]
      + (0..<100_000).map { "wss://r\($0).org" }
    let directory = directory([alice.blockedList(blocked), bob.relayList(entries)], wanting: filters)
    let relays = directory.route(filters).stops.map(\.choice.url.text)
    #expect(
      relays.count == AuthorBook.relayMaximum && relays.allSatisfy { !blocked.contains($0) && $0.contains("//r") })
  }

  @Test("At most twelve relays of others are chosen, those that most people name")
  func bound() {
    let people = (0..<100).map { Someone("p\($0)") }
    let lists = people.enumerated().map { index, person in
      person.relayList((0...(index % 20)).map { "wss://r\($0).org" })
    }
    let filters = [Filter(authors: people.map(\.key))]
    let relays = directory(lists, wanting: filters).route(filters).stops.map(\.choice.url.text)
    #expect(Set(relays) == Set((0..<8).map { "wss://r\($0).org" }), "eight of each list count")
    let many = people.enumerated().map { index, person in person.relayList(["wss://r\(index % 30).org"]) }
    let chosen = directory(many, wanting: filters).route(filters).stops.map(\.choice.url.text)
    #expect(
      chosen.count == 15 && chosen.contains("wss://hub.org"),
      "and two visits; who is at none of them is asked for at one's own")
  }

  @Test("A relay that cannot be reached makes room, and is chosen again later")
  func down() throws {
    let filters = [Filter(authors: [bob.key])]
    var directory = directory([bob.relayList(["wss://dead.org"])], wanting: filters)
    directory.relayFailed(try RelayURL("wss://dead.org"), at: 1_000)
    #expect(directory.isSelectionDue)
    #expect(directory.selectRelays(at: 1_000) == [bob.key])
    #expect(directory.route(filters).stops.map(\.choice.url.text) == ["wss://hub.org"])
    directory.relayReached(try RelayURL("wss://dead.org"), at: 1)
    #expect(directory.selectRelays(at: 1_001) == [bob.key])
    #expect(directory.route(filters).stops.map(\.choice.url.text) == ["wss://dead.org"])
  }

  @Test("A relay that serves forgeries is left out for a day, and one's own is asked all the same")
  func forgeries() throws {
    let filters = [Filter(authors: [bob.key], kinds: [1])]
    var directory = directory([bob.relayList(["wss://b.org", "wss://hub.org", "wss://c.org"])], wanting: filters)
    func places(at wall: Int64) -> Set<String> {
      _ = directory.selectRelays(at: wall)
      return Set(people(directory.route(filters)).keys)
    }
    let forger = try RelayURL("wss://b.org")
    directory.relayForged(forger, count: 2, at: 1_000)
    directory.relayForged(try RelayURL("wss://hub.org"), count: 9, at: 1_000)
    #expect(places(at: 1_001) == ["wss://b.org", "wss://hub.org", "wss://c.org"])
    directory.relayForged(forger, count: 3, at: 1_002)
    #expect(places(at: 1_003) == ["wss://hub.org", "wss://c.org"])
    let skipped = directory.cover(of: filters, at: 1_003).skipped
    #expect(skipped.map(\.why) == [["it has sent events that no author has signed"]])
    directory.relayForged(forger, count: 4, at: 90_000)
    _ = directory.learn(carol.relayList(["wss://c.org"]))
    #expect(places(at: 90_000).contains("wss://b.org"), "one more is not three more")
    directory.relayForged(forger, count: 6, at: 90_001)
    #expect(!places(at: 90_002).contains("wss://b.org"))
    directory.relayForged(forger, count: 1, at: 180_000)
    _ = directory.learn(carol.relayList(["wss://d.org"], at: 2_000))
    #expect(places(at: 180_000).contains("wss://b.org"), "a new link counts from 0")
  }

  @Test("Relays that do not stay open are visited two at a time, until they have sent all, and later again")
  func visits() throws {
    var directory = RelayDirectory.sample([alice], relays: [.configured("wss://hub.org")])
    var people: [Someone] = []
    for relay in 0..<17 {
      // Twelve relays have two people each, the other five one each.
      for number in 0..<(relay < 12 ? 2 : 1) {
        people.append(Someone("\(relay) \(number)"))
        _ = directory.learn(people.last!.relayList(["wss://\(relay).org"]))
      }
    }
    let filters = [Filter(authors: people.map(\.key))]
    directory.want(Interest(own: "x", filters))
    func asked() -> [String: Int] {
      Dictionary(
        uniqueKeysWithValues: directory.route(filters).stops.map {
          (String($0.choice.url.text.dropFirst(6)), $0.filters[0].authors?.count ?? 0)
        })
    }
    var visited: [String] = []
    _ = directory.selectRelays(at: 1_000)
    while !directory.visits.isEmpty {
      #expect(directory.visits.count <= 2)
      for visit in directory.visits { #expect(asked()[String(visit.text.dropFirst(6))] == 1) }
      #expect(asked().count == 13 + directory.visits.count && asked()["hub.org"] == 5, "\(asked())")
      visited += directory.visits.map(\.text)
      let before = directory.visits
      for visit in before { directory.visitEnded(visit, at: 1_010) }
      #expect(directory.selectRelays(at: 1_010).count >= before.count)
    }
    #expect(visited.sorted() == (12..<17).map { "wss://\($0).org" })
    #expect(asked().count == 13, "the twelve, and one's own")
    directory.visitsMayBeDue()
    #expect(directory.selectRelays(at: 1_909).isEmpty && directory.visits.isEmpty)
    directory.visitsMayBeDue()
    _ = directory.selectRelays(at: 1_910)
    #expect(directory.visits.count == 2)
    directory.visitsMayBeDue()
    _ = directory.selectRelays(at: 2_031)
    #expect(directory.visits.count == 2 && directory.visits.allSatisfy { !visited.prefix(2).contains($0.text) })
  }

  @Test("The store is asked for everybody who is wanted, then indexers, and again after a day")
  func lookUps() {
    var directory = RelayDirectory.sample([alice], relays: [])
    let people = (0..<1_200).map { Someone("p\($0)") }
    directory.want(Interest(own: "x", [Filter(authors: people.map(\.key) + [alice.key])]))
    directory.noteWanted()
    var read: Set<PublicKey> = []
    while !directory.book.isRead {
      let next = directory.book.nextUnread(maximum: 500)
      #expect(next.count <= 500)
      read.formUnion(next)
      directory.book.wereRead(next)
    }
    #expect(read == Set(people.map(\.key)), "an account's lists are read elsewhere")
    var batches = 0
    while case let due = directory.book.due(at: 5_000), !due.isEmpty {
      directory.book.wereAsked(due, at: 5_000)
      batches += 1
    }
    #expect(batches == 3)
    #expect(directory.book.due(at: 5_000 + 86_399).isEmpty)
    #expect(directory.book.due(at: 5_000 + 86_400).count == 500)
    directory.unwant("own:x")
    directory.noteWanted()
    #expect(directory.book.due(at: 5_000 + 86_400).isEmpty && directory.book.count == 1_200)
  }

  @Test("Indexers are asked without an account, also where the user has one")
  func indexers() throws {
    var directory = RelayDirectory.sample([alice], relays: [.configured("wss://hub.org")])
    var settings = PlannerSettings()
    settings.indexers = ["wss://hub.org", "wss://index.org"]
    directory.settingsAre(settings)
    let route = directory.route([Filter(authors: [bob.key])], named: directory.indexers, isExclusive: true)
    #expect(
      route.stops.map(\.choice.account) == [nil, nil] && route.stops.map(\.choice.why) == [["indexer"], ["indexer"]])
  }

  @Test("What a name leads to counts for an hour, for reading, until there is a list; of no use thrice, not for a day")
  func names() throws {
    let filters = [Filter(authors: [bob.key], kinds: [1])]
    var directory = directory([alice.event(EventKind.follows, [["p", bob.key.description]])], wanting: filters)
    #expect(directory.dueNames(at: 1_000).isEmpty, "the store and the indexers come first")
    directory.book.wereRead([bob.key])
    directory.book.wereAsked([bob.key], at: 1_000)
    #expect(directory.dueNames(at: 1_000).isEmpty && !directory.needsName(bob.key), "and they have to answer")
    directory.book.wereAnswered([bob.key])
    #expect(directory.dueNames(at: 1_000) == [bob.key] && directory.needsName(bob.key))
    directory.namesWereAsked([bob.key], at: 1_000)
    #expect(directory.dueNames(at: 4_599).isEmpty && directory.dueNames(at: 4_600) == [bob.key])
    let home = try RelayURL("wss://b.org")
    func places(at wall: Int64) -> Set<String> {
      _ = directory.selectRelays(at: wall)
      return Set(people(directory.route(filters)).filter { $0.value.contains("bob") }.keys)
    }
    directory.named(bob.key, [ForeignRelayURL(home)], at: 1_000)
    #expect(places(at: 1_001) == ["wss://b.org"])
    let mention = bob.event(1, [["p", bob.key.description]]).unsigned
    #expect(!directory.plan(mention).choices.contains { $0.url == home }, "nothing is sent there")
    func delivered(_ held: Int, _ known: Int, at wall: Int64) {
      directory.delivered([(bob.key, home, held, known), (carol.key, home, 0, 9)], at: wall)
    }
    for _ in 0..<2 { delivered(0, 4, at: 1_010) }
    for _ in 0..<9 { delivered(0, 0, at: 1_015) }
    delivered(3, 0, at: 1_020)
    for _ in 0..<2 { delivered(0, 4, at: 1_030) }
    directory.named(bob.key, [ForeignRelayURL(home)], at: 1_030)
    #expect(places(at: 1_031) == ["wss://b.org"], "not three in a row")
    directory.relayFailed(home, at: 1_040)
    directory.relayReached(home, at: 1_041)
    #expect(places(at: 1_042) == ["wss://hub.org"])
    directory.named(bob.key, [ForeignRelayURL(home)], at: 87_441)
    #expect(places(at: 87_442) == ["wss://b.org"], "a day later it counts again")
    _ = directory.learn(bob.relayList(["wss://own.org"]))
    #expect(places(at: 87_443) == ["wss://own.org"] && !directory.needsName(bob.key))
  }
}
