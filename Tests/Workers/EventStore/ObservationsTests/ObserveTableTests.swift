import Clocks
import Contracts
import Cryptography
import Nostr
import NostrContracts
import Observations
import TestSupport
import Testing

@Suite("The set of active observes")
struct ObserveTableTests {
  private let notes = ObservePlan([Filter(kinds: [1])])
  private let profiles = ObservePlan([Filter(kinds: [0])])

  @Test("The order of values, of filters and of relays does not count, and nor does saying one twice")
  func plans() {
    let authors = [1, 2, 3].map { PublicKey(SHA256.hash([$0])) }
    let one = ObservePlan(
      [Filter(authors: authors, kinds: [1, 7]), Filter(kinds: [0])], relays: ["wss://b", "wss://a", "wss://b"])
    let other = ObservePlan(
      [Filter(kinds: [0, 0]), Filter(authors: authors.reversed() + authors, kinds: [7, 1]), Filter(kinds: [0])],
      relays: ["wss://a", "wss://b"])
    #expect(one == other && one.key == other.key && one.filters.count == 2)
    let different = [
      ObservePlan([Filter(kinds: [0])]), ObservePlan([Filter(kinds: [0])], policy: .networkOnly),
      ObservePlan([Filter(kinds: [0])], relays: ["wss://a"]),
      ObservePlan([Filter(kinds: [0])], relays: ["wss://a"], isExclusive: true),
      ObservePlan([Filter(kinds: [0], limit: 1)]), ObservePlan([Filter(kinds: [])]), ObservePlan([Filter()]),
    ]
    #expect(Set(different.map(\.key)).count == different.count)
    #expect(different[0].fetchKey == different[1].fetchKey && different[0].fetchKey != different[2].fetchKey)
    #expect(different[2].fetchKey == different[3].fetchKey)
  }

  @Test("The network is asked unless the policy forbids it, or it was asked within the age that is allowed")
  func network() {
    func needs(_ policy: ObservePolicy, _ maxAge: Int64, _ fetchedAt: Int64?) -> Bool {
      ObservePlan([Filter()], policy: policy).needsNetwork(maxAge: maxAge, fetchedAt: fetchedAt, now: 1_000)
    }
    #expect(needs(.cacheWithNetwork, 0, 1_000) && needs(.cacheWithNetwork, 60, nil))
    #expect(!needs(.cacheWithNetwork, 60, 940) && needs(.cacheWithNetwork, 60, 939))
    #expect(needs(.cacheWithNetwork, 60, 1_001), "a time that lies ahead says nothing")
    #expect(needs(.networkOnly, 60, 1_000) && !needs(.cacheOnly, 0, nil))
  }

  @Test("Many observers of one plan are one entry, which goes with the last of them")
  func sharing() throws {
    var table = ObserveTable(generation: 7)
    for number in 1...3 as ClosedRange<UInt64> {
      let replaced = table.begin(number, notes, maxAge: Int64(60 * number), fetchedAt: 990, now: 1_000)
      #expect(replaced == nil)
    }
    var next = table.takeChanges(byteMaximum: 1 << 20)
    var message = try #require(next)
    #expect(message.generation == 7 && message.version == 1 && message.removed.isEmpty)
    #expect(message.changed.map(\.observers) == [3] && message.changed[0].maxAge == 60)
    #expect(!message.changed[0].needsNetwork && message.changed[0].key == "\(notes.key)")
    _ = table.begin(4, notes, now: 1_000)
    next = table.takeChanges(byteMaximum: 1 << 20)
    message = try #require(next)
    #expect(message.changed[0].needsNetwork && message.changed[0].maxAge == 0)
    table.end(4)
    table.end(4)
    let list = table.takeList()
    #expect(list.map(\.observers) == [3] && !list[0].needsNetwork)
    for number in 1...3 as ClosedRange<UInt64> { table.end(number) }
    next = table.takeChanges(byteMaximum: 1 << 20)
    message = try #require(next)
    #expect(message.removed == ["\(notes.key)"] && message.changed.isEmpty && message.version == 3)
    next = table.takeChanges(byteMaximum: 1 << 20)
    #expect(next == nil && table.entryCount == 0)
  }

  @Test("Who observes anew under his name replaces himself, and nobody else")
  func names() {
    var table = ObserveTable(generation: 1)
    let name = ObserverName(caller: 5, id: "feed")
    let replaced = [
      table.begin(1, notes, name: name, now: 0),
      table.begin(2, notes, name: ObserverName(caller: 6, id: "feed"), now: 0),
      table.begin(3, profiles, name: name, now: 0),
    ]
    #expect(replaced == [nil, nil, 1])
    table.end(1)
    #expect(table.plan(of: name) == profiles.key, "the end of the one replaced does not end the other")
    table.end(3)
    #expect(table.plan(of: name) == nil)
  }

  @Test("An entry that came and went before it was told is not heard of, and long ones go in messages of their own")
  func messages() throws {
    var table = ObserveTable(generation: 1)
    _ = table.begin(1, notes, now: 0)
    table.end(1)
    #expect(!table.hasChanges)
    for number in 0..<5 as Range<UInt64> {
      _ = table.begin(number + 2, ObservePlan([Filter(kinds: [UInt16(number)])]), now: 0)
    }
    var versions: [Int64] = []
    while let message = table.takeChanges(byteMaximum: 1) {
      #expect(message.changed.count == 1)
      versions.append(message.version)
    }
    #expect(versions == [1, 2, 3, 4, 5])
  }

  @Test(
    "Whoever takes a list at any moment and the messages behind its version knows what is observed",
    arguments: seeds(20))
  func reconciling(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = ObserveTable(generation: 1)
    var (living, next): ([UInt64], UInt64) = ([], 1)
    /// What subscribers know who began at different times: each is a list with a version, and its messages since.
    var copies: [(version: Int64, entries: [String: ActiveObserve])] = []
    /// Messages made, and on their way.
    var onTheirWay: [ObserveChanges] = []
    for _ in 0..<300 {
      switch random.next() % 6 {
      case 0...1:
        _ = table.begin(next, ObservePlan([Filter(kinds: [UInt16(random.next() % 6)])]), now: 0)
        living.append(next)
        next += 1
      case 2...3:
        guard let ended = living.randomElement(using: &random) else { continue }
        table.end(ended)
        living.removeAll { $0 == ended }
      case 4:
        let byteMaximum = random.next() % 2 == 0 ? 1 : 1 << 20
        if let message = table.takeChanges(byteMaximum: byteMaximum) { onTheirWay.append(message) }
        if random.next() % 2 == 0, !onTheirWay.isEmpty { deliver(onTheirWay.removeFirst(), to: &copies) }
      default:
        // Subscribed before; what is on its way is still to come.
        let list = table.takeList()
        copies.append((table.version, Dictionary(uniqueKeysWithValues: list.map { ($0.key, $0) })))
      }
    }
    while let message = table.takeChanges(byteMaximum: 1_000) { onTheirWay.append(message) }
    for message in onTheirWay { deliver(message, to: &copies) }
    let truth = Dictionary(uniqueKeysWithValues: table.takeList().map { ($0.key, $0) })
    #expect(copies.allSatisfy { $0.entries == truth })
    #expect(table.observerCount == living.count)
  }

  private func deliver(
    _ message: ObserveChanges, to copies: inout [(version: Int64, entries: [String: ActiveObserve])]
  ) {
    for index in copies.indices where message.version > copies[index].version {
      #expect(message.version == copies[index].version + 1)
      copies[index].version = message.version
      for entry in message.changed { copies[index].entries[entry.key] = entry }
      for key in message.removed { copies[index].entries[key] = nil }
    }
  }
}

@Suite("Named observations and sightings")
struct MarkTests {
  private let plan = ObservePlan([Filter(kinds: [1])]).key

  @Test("A name goes on after the highest seq acknowledged, and with other filters begins anew")
  func resuming() {
    var marks = ObserveMarks()
    _ = marks.acknowledge(owner: "client", id: "feed", plan: plan, seq: 10, now: 1)
    let later = marks.acknowledge(owner: "client", id: "feed", plan: plan, seq: 7, now: 2)
    #expect(later.mark.seq == 10 && later.mark.time == 2 && later.forgotten == nil)
    #expect(marks.resumeSeq(owner: "client", id: "feed", plan: plan) == 10)
    #expect(marks.resumeSeq(owner: "dvm-tracker", id: "feed", plan: plan) == nil)
    let other = ObservePlan([Filter(kinds: [7])]).key
    #expect(marks.resumeSeq(owner: "client", id: "feed", plan: other) == nil)
    let anew = marks.acknowledge(owner: "client", id: "feed", plan: other, seq: 3, now: 3)
    #expect(anew.mark.seq == 3)
    #expect(ObserveMarks([later.mark]).resumeSeq(owner: "client", id: "feed", plan: plan) == 10)
  }

  @Test("When there is one name too many, the one not used for longest is forgotten")
  func bound() {
    var marks = ObserveMarks()
    for number in 0..<ObserveMarks.maximum {
      _ = marks.acknowledge(owner: "client", id: "\(number)", plan: plan, seq: 1, now: Int64(number))
    }
    _ = marks.acknowledge(owner: "client", id: "0", plan: plan, seq: 2, now: 100_000)
    let forgotten = marks.acknowledge(owner: "client", id: "new", plan: plan, seq: 1, now: 100_001).forgotten
    #expect(forgotten?.id == "1" && marks.count == ObserveMarks.maximum)
  }

  @Test("Each reader of the sightings reads each once, and one who is too late is told so")
  func sightings() {
    var log = SightingLog(capacity: 10)
    let place = log.end
    for seq in 1...10 { log.append(Sighting(seq: Int64(seq), relay: 1, isNew: true)) }
    #expect(log.page(from: place, count: 4)?.map(\.seq) == [1, 2, 3, 4])
    log.append(Sighting(seq: 11, relay: 1, isNew: false))
    #expect(log.page(from: place, count: 4) == nil)
    #expect(log.page(from: place + 1, count: 100)?.map(\.seq) == (2...11).map { Int64($0) })
    #expect(log.page(from: log.end, count: 4) == [])
  }
}
