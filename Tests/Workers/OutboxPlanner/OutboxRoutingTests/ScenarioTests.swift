import Addresses
import Contracts
import Cryptography
import Nostr
import RelaySelection
import TestSupport
import Testing

@testable import OutboxRouting

/// The scenarios of the plan for this planner that need no process, under its numbers. 6 to 9, 11 and 13 are process
/// tests, 12 is in LearnedTests.
@Suite("Scenarios of the outbox plan")
struct ScenarioTests {
  private let alice = Someone("alice")
  private let bob = Someone("bob")
  private let carol = Someone("carol")

  private func directory(_ lists: [Event], wanting people: [Someone]) -> RelayDirectory {
    var directory = RelayDirectory.sample([alice], relays: [.configured("wss://hub.org")])
    for list in lists { _ = directory.learn(list) }
    directory.want(Interest(own: "feed", [Filter(authors: people.map(\.key), kinds: [1])]))
    _ = directory.selectRelays(at: 1_000)
    return directory
  }

  private func relays(_ directory: RelayDirectory, of person: Someone) -> Set<String> {
    let stops = directory.route([Filter(authors: [person.key], kinds: [1])]).stops
    return Set(stops.map(\.choice.url.text))
  }

  @Test("1: a person's own list decides, then the name, then one's own relays; a blocked relay is in none of it")
  func resolver() throws {
    let blocked = alice.blockedList(["wss://blocked.org"])
    let lists = [bob.relayList(["+wss://b.org", "wss://blocked.org", "-wss://inbox.org"]), blocked]
    var directory = directory(
      lists + [bob.messageList(["wss://dm.org", "wss://blocked.org"])], wanting: [bob, carol])
    #expect(relays(directory, of: bob) == ["wss://b.org"])
    #expect(relays(directory, of: carol) == ["wss://hub.org", "wss://b.org"], "the fallback and the largest relay")
    #expect(directory.directMessageRelays(of: bob.key)?.count == 2)
    let wrap = carol.event(1_059, [["p", bob.key.description]]).unsigned
    #expect(directory.plan(wrap).choices.map(\.url.text) == ["wss://dm.org"])
    directory.named(carol.key, [ForeignRelayURL(try RelayURL("wss://named.org"))], at: 1_000)
    _ = directory.selectRelays(at: 1_001)
    #expect(relays(directory, of: carol) == ["wss://named.org"])
  }

  @Test("2: no list at all, one relay for all, one connection, and only blocked relays")
  func selection() throws {
    #expect(relays(directory([], wanting: [bob, carol]), of: bob) == ["wss://hub.org"])
    let people = (0..<50).map { Someone("someone \($0)") }
    let same = directory(people.map { $0.relayList(["wss://one.org"]) }, wanting: people)
    let filter = Filter(authors: people.map(\.key), kinds: [1])
    let route = same.route([filter])
    #expect(route.stops.map(\.choice.url.text) == ["wss://one.org"] && route.stops[0].filters[0].authors?.count == 50)
    let shut = directory(
      [bob.relayList(["wss://blocked.org"]), alice.blockedList(["wss://blocked.org"])], wanting: [bob])
    #expect(relays(shut, of: bob) == ["wss://hub.org"])
    #expect(shut.cover(of: [filter], at: 1_000).cover?.unlistedCount == 50)
    for mode in SelectionMode.allCases {
      var candidates = RelayCandidates(relayCount: 3)
      for (author, list) in [[0, 1], [1, 2], [1]].enumerated() {
        candidates.add(Int32(author), list.map { Int32($0) })
      }
      var selector = RelaySelector(mode: mode, seed: 1)
      let chosen = selector.select(candidates, budget: SelectionBudget(live: 1), at: 0)
      #expect(chosen.live.map(\.relay) == [1] && chosen.live[0].authors == [0, 1, 2], "\(mode)")
    }
  }

  @Test("14: of 2,000 people at 600 relays twelve stay open and two are visited, and nothing is left when they go")
  func largeGraph() {
    let people = (0..<2_000).map { Someone("someone \($0)") }
    let lists = people.enumerated().map { number, person in
      person.relayList((1...4).map { "wss://r\((number * $0 * $0) % (600 / $0)).org" })
    }
    var directory = directory(lists, wanting: people)
    let filters = [Filter(authors: people.map(\.key), kinds: [1])]
    for minute in 0..<20 as Range<Int64> {
      let outside = Set(directory.route(filters).stops.map(\.choice.url.text)).subtracting(["wss://hub.org"])
      #expect(outside.count == ReadingPlan.relayMaximum + ReadingPlan.visitMaximum)
      let asked = Set(directory.route(filters).stops.flatMap { Interest.people($0.filters) })
      #expect(asked.count == 2_000, "everyone is asked for somewhere")
      #expect(directory.awaitVisits(filters))
      for relay in directory.visits { directory.visitEnded(relay, at: 1_000 + 60 * minute) }
      _ = directory.selectRelays(at: 1_000 + 60 * minute)
    }
    directory.unwant(Interest.ownPrefix + "feed")
    _ = directory.selectRelays(at: 9_000)
    #expect(directory.visits.isEmpty && directory.reading.chosen.isEmpty && directory.book.wantedCount == 0)
  }

  @Test("16: of a list of thirty relays eight count")
  func hostileList() {
    let many = bob.relayList((0..<30).map { "wss://r\($0).org" })
    let directory = directory([many], wanting: [bob])
    #expect(relays(directory, of: bob).count == AuthorBook.relayMaximum)
  }

  @Test("Of the real lists (kind 10002) each gives eight relays at most, none of them private; all follows are covered")
  func realLists() throws {
    var (lists, follows) = ([Event](), [Event]())
    for line in SharedFolder.lines(of: "events/valid.jsonl") ?? [] {
      let event = try Event(json: line)
      if event.kind == EventKind.relayList { lists.append(event) }
      if event.kind == EventKind.follows { follows.append(event) }
    }
    var directory = RelayDirectory.sample([alice], relays: [.configured("wss://hub.org")])
    for list in lists { _ = directory.learn(list) }
    for list in lists {
      let writes = directory.writeRelays(of: list.pubkey, at: 1_000)
      #expect(writes.count <= AuthorBook.relayMaximum && writes.allSatisfy(\.isPublic))
    }
    for event in follows {
      let people = Set(try FollowList(event).follows.map(\.pubkey)).union(lists.map(\.pubkey))
      let filters = [Filter(authors: people.sorted(), kinds: [1])]
      directory.want(Interest(own: "feed", filters))
      _ = directory.selectRelays(at: 1_000)
      let route = directory.route(filters)
      #expect(Set(route.stops.flatMap { Interest.people($0.filters) }) == people)
      #expect(route.stops.count <= 1 + ReadingPlan.relayMaximum + ReadingPlan.visitMaximum)
    }
  }
}
