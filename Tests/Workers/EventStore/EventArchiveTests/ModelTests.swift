import Clocks
import Cryptography
import EventArchive
import Nostr
import Reconciliation
import Storage
import TestSupport
import Testing

/// The archive held against a list that is searched from end to end.
@Suite("The archive and a slow, obvious model") struct ModelTests {
  @Test(
    "Random events, deletions, replacements, expiries, pages and reopenings give the model's answers",
    arguments: seeds(6))
  func anything(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    var world = World(seed)
    var archive = try world.open(directory.path)
    var model = Model()
    for _ in 0..<120 {
      switch world.random.below(10) {
      case 0:
        // As a death would: what is only in memory is gone, and a segment may be half written.
        try archive.close()
        archive = try world.open(directory.path)
        #expect(archive.lastSeq == model.lastSeq)
      case 1: try archive.writeSegmentSliceNow()
      case 2:
        try archive.indexSliceNow()
        try archive.trimSliceNow()
        if world.random.below(4) == 0 {
          let slice = try archive.evictNow(World.retention, now: world.now)
          let (gone, isExhausted) = model.evict(World.retention)
          #expect(Set(slice.gone) == gone && slice.isExhausted == isExhausted)
        }
      case 3...5:
        let filter = world.filter()
        #expect(try pages(of: filter, archive, &world) == model.query(filter, now: world.now), "\(filter)")
        if EventArchive.isSearch(filter) { try expectSearch(filter, archive, model, world.now) }
        try expectRecords(filter, archive, model, &world)
      default:
        world.now += Int64(world.random.below(3))
        let events = (0...world.random.below(6)).map { _ in world.event() }
        let ranks: [RetentionRank] = [.kept, .foreign, .foreign] + Array(repeating: .ordinary, count: 5)
        let rank = ranks[world.random.below(8)]
        let outcomes = try archive.storeNow(events.map { try verified($0, world.now, rank) }, now: world.now)
        #expect(outcomes == events.map { model.store($0, now: world.now, rank) })
        #expect(archive.foreignByteCount == model.foreignByteCount)
      }
    }
    #expect(try pages(of: Filter(), archive, &world) == model.query(Filter(), now: world.now))
  }

  /// By the index, when it has come to the end, the same is found as by looking at everything.
  private func expectSearch(_ filter: Filter, _ archive: EventArchive, _ model: Model, _ now: Int64) throws {
    while archive.hasSearchWork { try archive.indexSliceNow() }
    let found = try archive.searchNow(filter, now: now).map { seq in
      try #require(try archive.eventsNow([seq], now: now).first).indexed.id
    }
    #expect(Set(found) == Set(model.query(filter, now: now)) && Set(found).count == found.count, "\(filter)")
  }

  /// For reconciliation (NIP-77) the same is found, of a filter with a limit the first; one too many is too many.
  private func expectRecords(
    _ filter: Filter, _ archive: EventArchive, _ model: Model, _ world: inout World
  ) throws {
    let all = model.query(filter, now: world.now)
    let maximum = all.count + world.random.below(3) - 1
    let records = try archive.recordsNow(filter, maximum: maximum, now: world.now)
    #expect((records == nil) == (maximum < all.count), "\(filter)")
    if let records { #expect(Set(records.records.map(\.id)) == Set(all) && records.count == all.count, "\(filter)") }
    guard !EventArchive.isSearch(filter) else { return }
    var limited = filter
    limited.limit = world.random.below(4)
    let newest = try #require(try archive.recordsNow(limited, maximum: .max, now: world.now))
    #expect(Set(newest.records.map(\.id)) == Set(all.prefix(limited.limit ?? 0)), "\(limited)")
  }

  /// All results, a page of random size after the other.
  private func pages(of filter: Filter, _ archive: EventArchive, _ world: inout World) throws -> [EventID] {
    var found: [StoredEvent] = []
    while true {
      let limit = 1 + world.random.below(5)
      let page = try archive.queryNow(filter, after: found.last?.position, limit: limit, now: world.now)
      found += page
      if page.count < limit { return found.map(\.indexed.id) }
    }
  }

  private func verified(_ event: UnsignedEvent, _ now: Int64, _ rank: RetentionRank) throws -> VerifiedEvent {
    let signature = try #require(Signature(String(repeating: "0", count: 128)))
    let json = Event(event, signature: signature).json
    return try json.withUnsafeBytes { bytes in
      VerifiedEvent(trusted: bytes, try ScannedEvent(bytes), relay: 1, receivedAt: now, rank: rank)
    }
  }
}

/// What the archive must do, done the slow way.
struct Model {
  private(set) var lastSeq: Int64 = 0
  private var events: [(seq: Int64, event: UnsignedEvent, rank: RetentionRank)] = []
  /// What was deleted: ids for ever, addresses up to a second.
  private var buried: [String: Int64] = [:]

  /// Bytes of the foreign events, as they are stored.
  var foreignByteCount: Int64 {
    events.filter { $0.rank == .foreign }.reduce(0) { sum, entry in
      let signature = Signature(String(repeating: "0", count: 128))
      return sum + Int64(signature.map { Event(entry.event, signature: $0).json.count } ?? 0)
    }
  }

  mutating func store(_ event: UnsignedEvent, now: Int64, _ rank: RetentionRank) -> StoreOutcome {
    if let end = expiration(event), end <= now { return .expired }
    if let known = events.firstIndex(where: { $0.event.id == event.id }) {
      if rank == .kept { events[known].rank = .kept }
      if rank == .ordinary, events[known].rank == .foreign { events[known].rank = .ordinary }
      return .duplicate(seq: events[known].seq)
    }
    if event.kind != 5, names(of: event).contains(where: { buried[$0].map { event.createdAt <= $0 } ?? false }) {
      return .deleted
    }
    if let address = EventAddress(of: event),
      let rival = events.firstIndex(where: { EventAddress(of: $0.event) == address })
    {
      let other = events[rival].event
      let isNewer =
        event.createdAt > other.createdAt || event.createdAt == other.createdAt && event.id < other.id
      guard isNewer else { return .superseded }
      events.remove(at: rival)
    }
    lastSeq += 1
    events.append((lastSeq, event, rank))
    if event.kind == 5 {
      for (name, until) in burials(event) { buried[name] = max(buried[name] ?? .min, until) }
      events = events.filter { !deletes(event, $0.event) }
    }
    return .stored(seq: lastSeq)
  }

  /// Makes room: what is foreign; when there is nothing of it, all that is not protected; then all that goes last.
  mutating func evict(_ retention: ArchiveRetention) -> (gone: Set<EventID>, isExhausted: Bool) {
    for turn in 0..<3 {
      let going = events.indices.filter {
        let isNeeded = ArchiveRetention.neededKinds.contains(events[$0].event.kind)
        return switch events[$0].rank {
        case .foreign: turn == 0
        case .ordinary: turn == (isNeeded ? 2 : 1)
        case .kept: false
        }
      }
      guard !going.isEmpty else { continue }
      var gone = Set<EventID>()
      for index in going {
        if retention.keptAuthors.contains(events[index].event.pubkey) {
          events[index].rank = .kept
        } else {
          gone.insert(events[index].event.id)
        }
      }
      // A foreign deletion takes along what it has had remembered.
      for entry in events where gone.contains(entry.event.id) && entry.rank == .foreign && entry.event.kind == 5 {
        for (name, until) in burials(entry.event) where buried[name].map({ $0 <= until }) ?? false {
          buried[name] = nil
        }
      }
      events.removeAll { gone.contains($0.event.id) }
      return (gone, false)
    }
    return ([], true)
  }

  func query(_ filter: Filter, now: Int64) -> [EventID] {
    events.map(\.event).filter { event in
      filter.matches(indexed(event)) && expiration(event).map { $0 > now } ?? true && finds(filter.search, event)
    }.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }.map(\.id)
  }

  /// The slow way to search: words between blanks, each of which must be there.
  private func finds(_ search: String?, _ event: UnsignedEvent) -> Bool {
    guard let search else { return true }
    let isText = event.kind == 1
    let words = isText ? event.content.lowercased().split(separator: " ").map(String.init) : []
    return search.split(separator: " ").allSatisfy { term in
      term.first == "-" ? !words.contains(term.dropFirst().lowercased()) : words.contains(term.lowercased())
    }
  }

  private func expiration(_ event: UnsignedEvent) -> Int64? {
    event.tags.first { $0.count > 1 && $0[0] == "expiration" }.flatMap { Int64($0[1]) }
  }

  /// By which names an event may have been deleted.
  private func names(of event: UnsignedEvent) -> [String] {
    ["\(event.pubkey) e \(event.id)"] + (EventAddress(of: event).map { ["\(event.pubkey) a \($0)"] } ?? [])
  }

  private func burials(_ request: UnsignedEvent) -> [(name: String, until: Int64)] {
    request.tags.filter { ["e", "a"].contains($0[0]) }.map { tag in
      ("\(request.pubkey) \(tag[0]) \(tag[1])", tag[0] == "e" ? .max : request.createdAt)
    }
  }

  private func deletes(_ request: UnsignedEvent, _ event: UnsignedEvent) -> Bool {
    guard request.pubkey == event.pubkey, event.kind != 5 else { return false }
    return request.tags.contains { tag in
      tag[0] == "e" && tag[1] == event.id.description
        || tag[0] == "a" && event.createdAt <= request.createdAt
          && EventAddress(of: event).map { $0.description == tag[1] } ?? false
    }
  }

  private func indexed(_ event: UnsignedEvent) -> IndexedEvent {
    let tags = event.tags.compactMap { tag in
      tag.count > 1 ? TagLetter(tag[0]).map { IndexedEvent.Tag($0, TagValue(tag[1])) } : nil
    }
    return IndexedEvent(id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: event.kind, tags: tags)
  }
}

/// Events over so few values that they meet, and refer to each other.
struct World {
  static let retention = ArchiveRetention(byteLimit: 0, keptAuthors: [PublicKey(SHA256.hash([0]))])
  var random: SeededGenerator
  var now: Int64 = 100
  private let segmentEventCount: Int
  private var made: [UnsignedEvent] = []

  init(_ seed: UInt64) {
    random = SeededGenerator(seed: seed)
    segmentEventCount = 4 + random.below(20)
  }

  func open(_ directory: String) throws -> EventArchive {
    try EventArchive(path: directory + "/events.sqlite", segmentEventCount: segmentEventCount)
  }

  private mutating func author() -> PublicKey { PublicKey(SHA256.hash([UInt8(random.below(3))])) }
  private mutating func tag() -> [String] {
    [["e", "p", "d", "t"][random.below(4)], ["", "x", "y"][random.below(3)]]
  }

  private mutating func word() -> String { ["alpha", "Beta", "ГАММА", "3", "δ"][random.below(5)] }

  mutating func event() -> UnsignedEvent {
    if !made.isEmpty, random.below(4) == 0 { return made[random.below(made.count)] }
    let kind = [1, 1, 7, 5, 0, 10_002, 30_000, 30_000][random.below(8)] as UInt16
    var tags = (0..<random.below(3)).map { _ in tag() }
    if random.below(6) == 0 { tags.append(["expiration", "\(now - 2 + Int64(random.below(20)))"]) }
    if kind == 5, !made.isEmpty {
      let target = made[random.below(made.count)]
      tags.append(["e", target.id.description])
      if let address = EventAddress(of: target) { tags.append(["a", address.description]) }
    }
    let event = UnsignedEvent(
      pubkey: author(), createdAt: now - Int64(random.below(6)), kind: kind, tags: tags,
      content: (0..<random.below(4)).map { _ in word() }.joined(separator: " "))
    made.append(event)
    return event
  }

  mutating func filter() -> Filter {
    var filter = Filter()
    if random.below(5) == 0 {
      filter.ids = (0..<random.below(4)).compactMap { _ in made.randomElement(using: &random)?.id }
    }
    if random.below(2) == 0 { filter.authors = (0..<random.below(3)).map { _ in author() } }
    if random.below(2) == 0 { filter.kinds = (0..<random.below(4)).map { _ in [1, 7, 0, 30_000][random.below(4)] } }
    for _ in 0..<[0, 0, 0, 0, 1, 2][random.below(6)] {
      let tag = tag()
      if let letter = TagLetter(tag[0]) { filter.tags[letter] = [TagValue(tag[1])] }
    }
    if random.below(4) == 0 { filter.since = now - Int64(random.below(20)) }
    if random.below(4) == 0 { filter.until = now - Int64(random.below(20)) }
    if random.below(3) == 0 {
      filter.search = (0..<random.below(3)).map { _ in (random.below(5) == 0 ? "-" : "") + word() }
        .joined(separator: " ")
    }
    return filter
  }
}

extension SeededGenerator {
  /// A number from 0 up to a bound.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
