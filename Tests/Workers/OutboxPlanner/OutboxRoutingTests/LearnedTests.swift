import Addresses
import Contracts
import Cryptography
import Nostr
import OutboxRouting
import Testing

/// `selection = "learned"`, and single events by their ids.
@Suite("Learned relays, and places of events")
struct LearnedTests {
  private let alice = Someone("alice")
  private let people = (0..<40).map { Someone("person \($0)") }
  private static let week: Int64 = 604_800

  /// Everyone names an empty relay of which there are few, and a good one of which there are many.
  private func directory(_ beliefs: [NamedBelief] = [], monitor: Someone? = nil) -> RelayDirectory {
    var directory = RelayDirectory.sample([alice], relays: [.configured("wss://hub.org")])
    var settings = PlannerSettings()
    settings.selection = .learned
    settings.monitors = monitor.map { [$0.key.description] } ?? []
    directory.settingsAre(settings)
    directory.recall(beliefs)
    for (number, person) in people.enumerated() {
      _ = directory.learn(person.relayList(["wss://empty\(number % 12).org", "wss://good\(number % 20).org"]))
    }
    directory.want(Interest(own: "x", [Filter(authors: people.map(\.key), kinds: [1])]))
    _ = directory.selectRelays(at: 10 * Self.week)
    return directory
  }

  private var weeks: [CountedWeek] {
    (0..<4).map { number in
      let until = 10 * Self.week - Int64(number) * Self.week
      return CountedWeek(
        since: until - Self.week + 1, until: until,
        people: people.enumerated().map { number, person in
          AuthorDelivery(
            author: person.key.description, events: 30,
            relays: [
              AuthorDelivery.Relay(relay: "wss://empty\(number % 12).org", seconds: Self.week, known: 30, had: 0),
              AuthorDelivery.Relay(relay: "wss://good\(number % 20).org", seconds: Self.week, known: 10, had: 10),
            ])
        })
    }
  }

  private func open(_ directory: RelayDirectory) -> Set<String> {
    let visits = Set(directory.visits.map(\.text))
    let filters = [Filter(authors: people.map(\.key), kinds: [1])]
    return Set(directory.route(filters).stops.map(\.choice.url.text)).subtracting(visits)
  }

  @Test("Relays that a monitor of the settings calls alive come first; a stranger's word and an old one count nothing")
  func monitors() {
    let (monitor, stranger) = (Someone("monitor"), Someone("stranger"))
    let wall = 10 * Self.week + 1
    func tell(_ author: Someone, _ relay: String, _ at: Int64, _ directory: inout RelayDirectory) {
      directory.learnMonitored(author.event(30_166, [["d", relay]], at: at))
    }
    var directory = directory(monitor: monitor)
    for number in 0..<20 { tell(monitor, "wss://good\(number).org/", wall - 3_600, &directory) }
    for number in 0..<12 {
      tell(stranger, "wss://empty\(number).org", wall, &directory)
      tell(monitor, "wss://empty\(number).org", wall - 3 * 86_400, &directory)
    }
    tell(monitor, "no relay", wall, &directory)
    _ = directory.selectRelays(at: wall)
    let chosen = open(directory)
    #expect(chosen.count { $0.contains("good") } == 12 && !chosen.contains { $0.contains("empty") }, "\(chosen)")
  }

  @Test("Relays that had nothing of their people give way to those that had all, and a restart remembers it")
  func learns() {
    var directory = directory()
    directory.teach(weeks, at: 10 * Self.week)
    _ = directory.selectRelays(at: 10 * Self.week + 1)
    let chosen = open(directory)
    #expect(chosen.count { $0.contains("good") } == 12 && !chosen.contains { $0.contains("empty") }, "\(chosen)")
    let again = self.directory(directory.beliefs)
    #expect(open(again).allSatisfy { !$0.contains("empty") })
    #expect(Set(again.beliefs) == Set(directory.beliefs))
  }

  @Test("Beliefs with impossible numbers and names are left out, and do not stop the choice")
  func impossible() {
    let wrong = [
      (0, "nonsense", people[0].key.description, 1.0), (0, "wss://good0.org", "no key", 1),
      (1, "wss://good0.org", "", .infinity), (2, "wss://good0.org", "", -1), (77, "wss://good0.org", "", 1),
    ].map {
      NamedBelief(subject: $0.0, relay: $0.1, person: $0.2, successes: $0.3, failures: 0, minute: 0, latency: 0)
    }
    let directory = directory(wrong)
    #expect(directory.beliefs.isEmpty)
    #expect(!open(directory).isEmpty)
  }

  @Test("The census asks each relay once, also after a restart, and never a blocked one")
  func census() throws {
    var directory = directory()
    _ = directory.learn(alice.blockedList(["wss://good3.org"]))
    _ = directory.selectRelays(at: 10 * Self.week)
    var asked: [String] = []
    while asked.count < 100, let next = directory.nextCensus() {
      #expect(!next.people.isEmpty)
      asked.append(next.relay.text)
      directory.wasCounted(next.relay, at: 10 * Self.week)
    }
    #expect(asked.count == 31 && Set(asked).count == 31 && !asked.contains("wss://good3.org"))
    var again = self.directory(directory.beliefs)
    #expect(again.nextCensus()?.relay.text == "wss://good3.org", "no list blocks it in the second directory")
  }

  @Test("12: an event is asked for at hints, and at its author's relays; private and blocked hints are not used")
  func places() throws {
    let (bob, carol) = (Someone("bob"), Someone("carol"))
    let note = bob.event(1)
    var directory = RelayDirectory.sample([alice], relays: [.configured("wss://hub.org")])
    _ = directory.learn(alice.blockedList(["wss://blocked.org"]))
    _ = directory.learn(bob.relayList(["wss://b.org"]))
    let interest = Interest(own: "x", [Filter(ids: [note.id])])
    directory.want(interest)
    #expect(directory.events.nextUnread == [note.id])
    func relays() -> [String] { directory.route(interest.filters).stops.map(\.choice.url.text) }
    #expect(relays() == ["wss://hub.org"], "nothing is known of it")
    let hints = ["wss://blocked.org", "ws://10.0.0.1", "nonsense", "", "wss://dead.org"]
    for hint in hints {
      let answer = carol.event(1, [["e", note.id.description, hint, "reply", bob.key.description]])
      directory.events.learn(answer, seenAt: hint == "" ? ["wss://hub.org", "wss://seen.org"] : [])
    }
    directory.events.wereRead([note.id])
    #expect(directory.events.nextUnread == [])
    directory.want(interest)
    _ = directory.selectRelays(at: 1_000)
    #expect(relays() == ["wss://b.org", "wss://dead.org", "wss://hub.org", "wss://seen.org"])
    // The relay of the hint is dead: the author's stays.
    #expect(directory.route(interest.filters).stops.allSatisfy { $0.filters == interest.filters })
  }
}
