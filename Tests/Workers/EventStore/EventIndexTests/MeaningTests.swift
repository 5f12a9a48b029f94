import Clocks
import Cryptography
import EventIndex
import Nostr
import TestSupport
import Testing

@Suite("Plans and listeners") struct MeaningTests {
  private static let maker = TermMaker(SipHash(key: 1, 2))

  @Test("Every event a filter matches stands under its plan's terms, and under those beside them", arguments: seeds(20))
  func plans(seed: UInt64) {
    var generator = IndexGenerator(seed)
    let events = (0..<100).map { _ in generator.event() }
    for _ in 0..<100 {
      let filter = generator.filter()
      let plan = QueryPlan(filter, Self.maker)
      for event in events where filter.matches(event) {
        switch plan {
        case .nothing: Issue.record("\(filter) matches, and its plan says nothing can")
        case .ids(let ids): #expect(ids.contains(event.id))
        case .terms(let terms, let others):
          for list in [terms, others] where !list.isEmpty {
            #expect(!Set(list).isDisjoint(with: Self.maker.terms(of: event)))
            #expect(Set(list).count == list.count)
          }
        }
      }
    }
  }

  @Test("Those who listen hear what a filter of theirs matches, and nothing else", arguments: seeds(20))
  func listeners(seed: UInt64) {
    var generator = IndexGenerator(seed)
    var live = LiveFilters<Int>()
    var model: [Int: [Filter]] = [:]
    for _ in 0..<200 {
      let listener = generator.random.below(20)
      if generator.random.below(3) == 0 {
        live.remove(listener)
        model[listener] = nil
      } else {
        let filters = (0..<generator.random.below(4)).map { _ in generator.filter() }
        live.add(listener, filters)
        model[listener] = filters
      }
      let event = generator.event()
      let expected = model.filter { $0.value.contains { $0.matches(event) } }.keys.sorted()
      #expect(live.listeners(for: event) { SearchedText(json: []) } == expected)
      #expect(live.count == model.count)
    }
  }

  @Test("Terms of different things differ")
  func terms() throws {
    let key = PublicKey(SHA256.hash([1]))
    let maker = Self.maker
    let letter = try #require(TagLetter("e"))
    let terms: [UInt64] = [
      TermMaker.everything, maker.term(kind: 1), maker.term(author: key), maker.term(author: key, kind: 1),
      maker.term(author: key, kind: 0), maker.term(letter, "x"), maker.term(letter, ""),
      maker.term(address: key, kind: 1, identifier: ""), maker.term(address: key, kind: 1, identifier: "x"),
      maker.term(id: EventID(key.octets)), maker.term(id: EventID(key.octets), author: key),
    ]
    #expect(Set(terms).count == terms.count)
  }
}

/// Filters and events over so few values that they often meet.
struct IndexGenerator {
  var random: SeededGenerator

  init(_ seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func octets() -> Octets32 { SHA256.hash([UInt8(random.below(5))]) }
  private mutating func tag() -> IndexedEvent.Tag {
    IndexedEvent.Tag([TagLetter("e")!, TagLetter("p")!][random.below(2)], ["", "x", "y"][random.below(3)])
  }

  private mutating func some<Value>(_ make: (inout IndexGenerator) -> Value) -> [Value]? {
    guard random.below(2) == 0 else { return nil }
    return (0..<random.below(4)).map { _ in make(&self) }
  }

  mutating func filter() -> Filter {
    var filter = Filter(
      ids: random.below(4) == 0 ? some { EventID($0.octets()) } : nil, authors: some { PublicKey($0.octets()) },
      kinds: some { UInt16($0.random.below(4)) })
    for _ in 0..<random.below(3) {
      let tag = tag()
      filter.tags[tag.letter, default: []].append(tag.value)
    }
    if random.below(3) == 0 { filter.since = Int64(random.below(10)) }
    if random.below(3) == 0 { filter.until = Int64(random.below(10)) }
    return filter
  }

  mutating func event() -> IndexedEvent {
    IndexedEvent(
      id: EventID(octets()), pubkey: PublicKey(octets()), createdAt: Int64(random.below(10)),
      kind: UInt16(random.below(4)),
      tags: (0..<random.below(4)).map { _ in tag() })
  }
}
