import Bus
import Clocks
import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

@testable import RoostClient

/// Where streams of events go on after they were cut off.
@Suite struct PlaceTests {
  /// Events of two authors and three kinds, many of one second; each is what a store would answer with.
  private func makeEvents(_ count: Int, using generator: inout SeededGenerator) throws -> [ReceivedEvent] {
    let authors = [SecretKey.generate(), SecretKey.generate()]
    return try (0..<count).map { number in
      let author = authors[Int.random(in: 0...1, using: &generator)]
      let event = UnsignedEvent(
        pubkey: author.publicKey, createdAt: Int64.random(in: 100...112, using: &generator),
        kind: UInt16.random(in: 1...3, using: &generator), content: "\(number)"
      ).signed(by: author)
      return try ReceivedEvent(json: event.json)
    }
  }

  /// The store, slow and obvious: each filter's newest up to its limit, all of them in one order, up to the whole
  /// limit.
  private func answer(_ filters: [Filter], limit: Int?, from events: [ReceivedEvent]) throws -> [ReceivedEvent] {
    let ordered = events.sorted { ($1.event.createdAt, $0.event.id) < ($0.event.createdAt, $1.event.id) }
    var matched = Set<EventID>()
    for filter in filters {
      let mine = try ordered.filter { received in
        try received.json.withUnsafeBytes { filter.matches(IndexedEvent(try ScannedEvent($0), in: $0)) }
      }
      matched.formUnion(mine.prefix(filter.limit ?? .max).map(\.event.id))
    }
    return Array(ordered.filter { matched.contains($0.event.id) }.prefix(limit ?? .max))
  }

  private func makeFilter(_ events: [ReceivedEvent], using generator: inout SeededGenerator) -> Filter {
    var filter = Filter()
    if Bool.random(using: &generator) { filter.kinds = [UInt16.random(in: 1...3, using: &generator)] }
    if Bool.random(using: &generator) { filter.authors = [events[0].event.pubkey] }
    if Bool.random(using: &generator) { filter.until = Int64.random(in: 102...113, using: &generator) }
    if Bool.random(using: &generator) { filter.limit = Int.random(in: 0...40, using: &generator) }
    return filter
  }

  @Test("A query that is cut off anywhere, again and again, gives the same as one that is not", arguments: seeds(1))
  func queries(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let events = try makeEvents(120, using: &generator)
    for round in 0..<60 {
      let filters = (0..<Int.random(in: 1...3, using: &generator)).map { _ in makeFilter(events, using: &generator) }
      let limit = Bool.random(using: &generator) ? Int.random(in: 1...60, using: &generator) : nil
      var place = QueryPlace(filters, limit: limit)
      var given: [EventID] = []
      for _ in 0..<200 {
        let parts = try answer(place.nextFilters, limit: place.nextLimit, from: events)
        let count = min(parts.count, Int.random(in: 1...30, using: &generator))
        for part in parts[..<count] where place.isNew(part) { given.append(part.event.id) }
        if count == parts.count { break }
      }
      let whole = try answer(filters, limit: limit, from: events).map(\.event.id)
      #expect(given == whole, "seed \(seed), round \(round)")
    }
  }

  /// Which of these events are new to an observer; nil is an ephemeral one.
  private func areNew(_ seqs: [Int64?], _ place: inout ObservedPlace) throws -> [Bool] {
    let author = SecretKey.generate()
    let event = UnsignedEvent(pubkey: author.publicKey, createdAt: 1, kind: 1).signed(by: author)
    return try seqs.map { place.isNew(.event(try ReceivedEvent(json: event.json, seq: $0))) }
  }

  /// Whether the end of what is stored is new to an observer.
  private func isNew(end seq: Int64, _ place: inout ObservedPlace) -> Bool { place.isNew(.storedEnd(seq: seq)) }

  @Test("An observer that is cut off among what is stored is given what it lacks, and the end once")
  func observing() throws {
    var place = ObservedPlace(after: nil)
    #expect(try areNew([9, 7], &place) == [true, true])
    #expect(place.resumeSeq == nil, "nothing says what is still missing")
    // Cut off, it asks anew; 10 came meanwhile.
    #expect(try areNew([10, 9, 7, 3], &place) == [true, false, false, true])
    #expect(isNew(end: 10, &place))
    #expect(place.resumeSeq == 10)
    #expect(try areNew([12, nil], &place) == [true, true])
    #expect(place.resumeSeq == 12)
    // Cut off again, it asks for what comes after 12.
    #expect(!isNew(end: 12, &place))
    // What was stored is news when a relay that counts sends it.
    #expect(try areNew([13, 2], &place) == [true, true])
    #expect(!isNew(end: 11, &place))
    #expect(place.resumeSeq == 13)
  }

  @Test("An observer that begins after a seq is told the end of what is stored once, however often it is cut off")
  func after() throws {
    var place = ObservedPlace(after: 5)
    #expect(try areNew([6], &place) == [true])
    #expect(place.resumeSeq == 6)
    #expect(isNew(end: 8, &place))
    #expect(!isNew(end: 8, &place))
    #expect(place.resumeSeq == 8)
  }

  @Test("Parts are read as the store writes them, and anything else is refused")
  func parts() throws {
    let author = SecretKey.generate()
    let event = UnsignedEvent(pubkey: author.publicKey, createdAt: 1, kind: 1, content: "}\"{").signed(by: author)
    let json = String(decoding: event.json, as: UTF8.self)
    func read(_ text: String) throws -> ObservedItem { try ObservedItem(part: Array(text.utf8)) }
    guard case .event(let kept) = try read("{\"seq\":17,\"event\":\(json)}") else { throw Refusal(.failed, "no event") }
    #expect(kept.seq == 17 && kept.event == event && kept.json == event.json)
    guard case .event(let passed) = try read("{\"event\":\(json)}") else { throw Refusal(.failed, "no event") }
    #expect(passed.seq == nil && passed.event == event)
    for end in [#"{"isStoredEnd":true,"seq":4}"#, #"{"isComplete":false,"isStoredEnd":true,"seq":4}"#] {
      #expect(try read(end) == .storedEnd(seq: 4))
    }
    for wrong in ["", "{}", "{\"seq\":1}", "{\"seq\":1,\"event\":{}}", "{\"event\":\(json)", "[]", "{\"isStoredEnd\""] {
      #expect(throws: Refusal.self) { try read(wrong) }
    }
  }

  @Test("What never began is given up after the client's patience; what has begun is waited for")
  func perseverance() {
    var generator = SeededGenerator(seed: 1)
    let away = Refusal(.unavailable, "nobody")
    func wait(_ perseverance: inout Perseverance, _ refusal: Refusal, _ milliseconds: UInt64) -> UInt64? {
      perseverance.wait(
        after: refusal, isConnected: true, patienceMilliseconds: 1_000,
        now: Instant(nanoseconds: milliseconds * 1_000_000), using: &generator)
    }
    var fresh = Perseverance(isLasting: true)
    #expect(wait(&fresh, away, 0) != nil && wait(&fresh, away, 999) != nil && wait(&fresh, away, 1_000) == nil)
    var begun = Perseverance(isLasting: true)
    begun.moved()
    #expect(wait(&begun, away, 0) != nil && wait(&begun, away, 86_400_000) != nil)
    #expect(wait(&begun, Refusal(.badRequest, "no filter"), 0) == nil)
    var query = Perseverance(isLasting: false)
    query.moved()
    #expect(wait(&query, away, 0) != nil && wait(&query, away, 2_000) == nil)
    query.moved()
    #expect(wait(&query, away, 2_000) != nil, "each part is a new beginning")
    let later = Refusal(.unavailable, "stopping", retryAfterMilliseconds: 60_000)
    #expect(wait(&begun, later, 0) == 60_000)
  }
}
