import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("Filters") struct FilterTests {
  @Test("A filter comes back from its JSON", arguments: seeds(20))
  func roundTrip(seed: UInt64) throws {
    var generator = FilterGenerator(seed: seed)
    for _ in 0..<50 {
      let filter = generator.filter()
      #expect(try Filter(json: filter.json) == filter)
    }
  }

  @Test("The names of a filter with each kind are those of that filter", arguments: seeds(3))
  func eachKind(seed: UInt64) {
    var generator = FilterGenerator(seed: seed)
    var filter = generator.filter()
    filter.search = "\"kinds\":[0]"
    var names: [FilterKey] = []
    FilterKey.forEachKind(of: filter) { names.append($0) }
    #expect(names.count == 65_536)
    for kind in [0, 1, 9, 10, 1_059, 30_023, 65_535] as [UInt16] {
      filter.kinds = [kind]
      #expect(names[Int(kind)] == FilterKey([filter]))
    }
  }

  @Test(
    "What is no filter is refused with its field",
    arguments: [
      ("[]", "expected"), ("{\"ids\":[\"ab\"]}", "ids"), ("{\"ids\":\"ab\"}", "ids"), ("{\"kinds\":[65536]}", "kinds"),
      ("{\"kinds\":[1.5]}", "kinds"), ("{\"authors\":null}", "authors"), ("{\"since\":-1}", "since"),
      ("{\"until\":\"now\"}", "until"), ("{\"limit\":1,\"limit\":2}", "twice"), ("{\"#ee\":[]}", "#ee"),
      ("{\"kindss\":[1]}", "kindss"), ("{\"#e\":[1]}", "#e"), ("{\"search\":7}", "search"), ("{} x", "end"),
      ("{\"#t\":[\"\\ud800\"]}", "surrogate"), ("{\"limit\":99999999999999999999}", "limit"),
    ])
  func refused(json: String, word: String) {
    do throws(FilterFault) {
      _ = try Filter(json: Array(json.utf8))
      Issue.record("taken: \(json)")
    } catch { #expect(error.description.contains(word), "\(error)") }
  }

  @Test("What people write for keys, ids and addresses is told with what a filter has there; a secret key is not")
  func spelling() throws {
    let key = try #require(PublicKey("7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"))
    let id = EventID(key.octets)
    func fault(_ field: String, _ value: String) -> String {
      do throws(FilterFault) {
        try Filter(json: Array(#"{"\#(field)":["\#(value)"]}"#.utf8)).checkReferences()
        return ""
      } catch { return "\(error)" }
    }
    for (field, value) in [("authors", key.npub), ("#p", key.npub), ("#P", "nostr:" + key.npub)] {
      #expect(fault(field, value).hasSuffix("\(key.npub) is \(key)"), "\(fault(field, value))")
    }
    for field in ["ids", "#e", "#E", "#q"] {
      #expect(fault(field, id.note).hasSuffix("\(id.note) is \(id)"), "\(fault(field, id.note))")
    }
    #expect(fault("#p", id.note).contains("\(id.note) is not valid: "))
    #expect(fault("#p", key.npub + "x").contains("is not valid: "))
    let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    #expect(!fault("authors", nsec).contains("vl029"))
    // NIP-01 gives other tags any value, and these any text that looks like none.
    for (field, value) in [("#t", key.npub), ("#p", "\(key)"), ("#p", "anybody"), ("#a", "30023:\(key):x")] {
      #expect(fault(field, value).isEmpty, "\(field) \(value)")
    }
  }

  @Test("A filter in broken UTF-8 is refused")
  func brokenUTF8() {
    for part in ["search\":\"", "#t\":[\""] {
      let json = Array("{\"\(part)".utf8) + [0xFF] + Array((part.hasSuffix("[\"") ? "\"]}" : "\"}").utf8)
      #expect(throws: FilterFault.notUTF8) { try Filter(json: json) }
    }
  }

  @Test("An empty list matches nothing, a missing one everything, and a limit of 0 is no condition")
  func emptyLists() {
    var generator = FilterGenerator(seed: 1)
    let event = generator.event()
    #expect(Filter().matches(event) && Filter(limit: 0).matches(event))
    for filter in [Filter(ids: []), Filter(authors: []), Filter(kinds: []), Filter(tags: [FilterGenerator.e: []])] {
      #expect(filter.matchesNothing && !filter.matches(event) && !FilterMatcher(filter).matches(event))
    }
    #expect(Filter(since: 5, until: 4).matchesNothing)
  }

  @Test("The matcher made ready says what the filter says", arguments: seeds(20))
  func matcher(seed: UInt64) {
    var generator = FilterGenerator(seed: seed)
    let events = (0..<200).map { _ in generator.event() }
    for _ in 0..<50 {
      let filter = generator.filter()
      let matcher = FilterMatcher(filter)
      for event in events { #expect(matcher.matches(event) == filter.matches(event)) }
      if filter.matchesNothing { #expect(!events.contains(where: filter.matches)) }
    }
  }

  @Test("Merged filters match what one of them matched, and nothing else", arguments: seeds(20))
  func merging(seed: UInt64) {
    var generator = FilterGenerator(seed: seed)
    let events = (0..<200).map { _ in generator.event() }
    for _ in 0..<50 {
      var filters = (0..<generator.below(6)).map { _ in generator.filter() }
      if generator.below(2) == 0 {
        for index in filters.indices { filters[index].limit = nil }
      }
      let merged = Filter.merge(filters)
      #expect(merged.count <= filters.count)
      for event in events {
        #expect(merged.contains { $0.matches(event) } == filters.contains { $0.matches(event) })
      }
    }
  }

  @Test(
    "What is left of a filter after another is asked for by the first, and is all the second leaves",
    arguments: seeds(20))
  func difference(seed: UInt64) {
    var generator = FilterGenerator(seed: seed)
    let events = (0..<200).map { _ in generator.event() }
    for _ in 0..<200 {
      var (first, second) = (generator.filter(), generator.filter())
      if generator.below(2) == 0 { second = generator.change(first) }
      first.limit = nil
      second.limit = nil
      let rest = first.subtracting(second)
      for event in events {
        if rest.matches(event) { #expect(first.matches(event)) }
        if first.matches(event) && !second.matches(event) { #expect(rest.matches(event)) }
        if first.covers(second) && second.matches(event) { #expect(first.matches(event)) }
      }
    }
  }

  @Test("Two authors' notes merge; one author's notes and another's reactions do not; limits are left alone")
  func examples() throws {
    var generator = FilterGenerator(seed: 3)
    let (alice, bob) = (generator.key(), generator.key())
    #expect(
      Filter(authors: [alice], kinds: [1]).union(Filter(authors: [bob], kinds: [1]))
        == Filter(authors: [alice, bob], kinds: [1]))
    #expect(Filter(authors: [alice], kinds: [1]).union(Filter(authors: [bob], kinds: [7])) == nil)
    #expect(Filter(authors: [alice], limit: 10).union(Filter(authors: [bob], limit: 10)) == nil)
    #expect(Filter(since: 1, until: 5).union(Filter(since: 6, until: 9)) == Filter(since: 1, until: 9))
    #expect(Filter(since: 1, until: 5).union(Filter(since: 7)) == nil)
    #expect(Filter(authors: []).union(Filter(authors: [bob])) == Filter(authors: [bob]))
    #expect(
      Filter(authors: [alice, bob], kinds: [1]).subtracting(Filter(authors: [alice], kinds: [1]))
        == Filter(authors: [bob], kinds: [1]))
  }
}

/// Filters and events over so few values that they often meet.
struct FilterGenerator {
  private var random: EventGenerator

  static let e = TagLetter("e")!
  static let p = TagLetter("p")!

  init(seed: UInt64) { random = EventGenerator(seed: seed) }

  mutating func below(_ bound: Int) -> Int { random.below(bound) }
  private mutating func octets() -> Octets32 { SHA256.hash([UInt8(below(5))]) }
  mutating func key() -> PublicKey { PublicKey(octets()) }
  private mutating func value() -> TagValue { ["", "é", "e\u{301}", "\"", "x"][below(5)] }

  private mutating func some<Value>(_ make: (inout FilterGenerator) -> Value) -> [Value]? {
    guard below(2) == 0 else { return nil }
    return (0..<below(4)).map { _ in make(&self) }
  }

  mutating func filter() -> Filter {
    var filter = Filter(
      ids: below(4) == 0 ? some { EventID($0.octets()) } : nil, authors: some { $0.key() },
      kinds: some { UInt16($0.below(4)) })
    for letter in [Self.e, Self.p] { filter.tags[letter] = below(2) == 0 ? some { $0.value() } : nil }
    if below(3) == 0 { filter.since = Int64(below(10)) }
    if below(3) == 0 { filter.until = Int64(below(10)) }
    if below(4) == 0 { filter.limit = below(3) }
    return filter
  }

  /// The same filter with one condition changed.
  mutating func change(_ filter: Filter) -> Filter {
    var changed = filter
    switch below(4) {
    case 0: changed.authors = some { $0.key() }
    case 1: changed.kinds = some { UInt16($0.below(4)) }
    case 2: changed.tags[Self.e] = some { $0.value() }
    default: changed.since = Int64(below(10))
    }
    return changed
  }

  mutating func event() -> IndexedEvent {
    let tags = (0..<below(4)).map { _ in
      IndexedEvent.Tag([Self.e, Self.p, TagLetter("t")!][below(3)], value())
    }
    return IndexedEvent(
      id: EventID(octets()), pubkey: key(), createdAt: Int64(below(10)), kind: UInt16(below(4)), tags: tags)
  }
}
