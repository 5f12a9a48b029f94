public import EventIndex
public import Nostr
public import Storage

/// A relay's number in the archive; `seen` refers to relays by it.
public struct RelayNumber: Hashable, Sendable {
  /// The number, from 1.
  public let number: Int64
  /// The canonical URL.
  public let url: String

  /// A number for a URL.
  public init(number: Int64, url: String) {
    self.number = number
    self.url = url
  }

  func insert(_ session: StorageSession) throws {
    try session.run("INSERT OR IGNORE INTO relay (number, url) VALUES (?, ?)", number, url)
  }
}

/// Where and when an event was seen.
public struct EventSighting: Hashable, Sendable {
  /// The relay's URL.
  public let relay: String
  /// When it first came from there, seconds since 1970.
  public let firstSeenAt: Int64
}

/// Events in the order of their commits.
public struct CommittedPage: Sendable {
  /// The events that match.
  public internal(set) var block: EventBlock
  /// The last seq that was looked at.
  public let lastSeq: Int64
}

extension EventArchive {
  /// The seqs of stored ids; nil for ids that are not stored. Waits on this thread, for microseconds per id.
  public func seqsNow(of ids: [EventID]) throws(StorageFault) -> [Int64?] {
    let (memory, maker) = (memory, maker)
    return try file.readNow { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return try ids.map { id in
        guard let seq = try reader.seq(of: id) else { return nil }
        guard !memory.vanishing.isEmpty else { return seq }
        return try reader.event(seq) == nil ? nil : seq
      }
    }
  }

  /// The JSON of seqs as stored, damaged or not; without those that are gone. Waits on this thread.
  public func storedNow(_ seqs: [Int64]) throws(StorageFault) -> [Int64: [UInt8]] {
    try file.readNow { session in
      let statement = try session.statement("SELECT json FROM event WHERE seq = ?")
      var stored: [Int64: [UInt8]] = [:]
      for seq in seqs {
        statement.bind(seq)
        guard try statement.step() else { continue }
        stored[seq] = statement.bytes(0)
        statement.reset()
      }
      return stored
    }
  }

  /// The events committed after one seq, up to another, that any of the filters matches, in order: one page.
  ///
  /// - Parameters:
  ///   - seq: the last seq of the page before.
  ///   - filters: at least one must match.
  ///   - recipients: the only recipients whose gift wraps are returned; nil: all.
  ///   - now: events that expired before are left out.
  ///   - end: the last seq to look at.
  ///   - limit: the most events of this page.
  ///   - byteLimit: once the page has this many bytes of JSON, it ends.
  ///   - scanLimit: the most events looked at.
  public func committed(
    after seq: Int64, upTo end: Int64, matching filters: [Filter], for recipients: Recipients? = nil, limit: Int,
    byteLimit: Int = .max, scanLimit: Int, now: Int64
  ) async throws(StorageFault) -> CommittedPage {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return try reader.committed(
        after: seq, upTo: end, filters.map { SearchingMatcher($0, for: recipients) }, now: now, limit: limit,
        byteLimit: byteLimit, scanLimit: scanLimit)
    }
  }

  /// How many events match any of the filters, whose limits are ignored.
  ///
  /// - Parameters:
  ///   - filters: at least one must match.
  ///   - recipients: the only recipients whose gift wraps are counted; nil: all.
  ///   - now: events that expired before are left out.
  public func count(
    _ filters: [Filter], for recipients: Recipients? = nil, now: Int64
  ) async throws(StorageFault) -> Int {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      let matchers = filters.map { SearchingMatcher($0, for: recipients) }
      if matchers.count == 1 { return try reader.count(matchers[0], now: now) { _ in } }
      var seqs = Set<Int64>()
      for matcher in matchers { _ = try reader.count(matcher, now: now) { seqs.insert($0) } }
      return seqs.count
    }
  }

  /// The sightings of an event, the earliest first; nil when it is not stored.
  public func sightings(of id: EventID) async throws(StorageFault) -> (seq: Int64, sightings: [EventSighting])? {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      guard let seq = try reader.seq(of: id), try reader.event(seq) != nil else { return nil }
      let statement = try session.statement(
        "SELECT url, time FROM seen JOIN relay ON relay.number = seen.relay WHERE seq = ? ORDER BY time, url", seq)
      var sightings: [EventSighting] = []
      while try statement.step() {
        sightings.append(EventSighting(relay: statement.text(0), firstSeenAt: statement.number(1)))
      }
      return (seq, sightings)
    }
  }

  /// All relays that have numbers. Waits on this thread.
  public func relaysNow() throws(StorageFault) -> [RelayNumber] {
    try file.readNow { session in
      return try session.rows("SELECT number, url FROM relay ORDER BY number") {
        RelayNumber(number: $0.number(0), url: $0.text(1))
      }
    }
  }
}

extension ArchiveReader {
  func committed(
    after seq: Int64, upTo end: Int64, _ matchers: [SearchingMatcher], now: Int64, limit: Int, byteLimit: Int,
    scanLimit: Int
  ) throws -> CommittedPage {
    let statement = try session.statement(
      "SELECT seq, json FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", seq, end, scanLimit)
    defer { statement.reset() }
    var block = EventBlock()
    var (lastSeq, scanned) = (seq, 0)
    while try statement.step() {
      lastSeq = statement.number(0)
      scanned += 1
      try session.scanned(statement, 1, seq: lastSeq) { event, bytes in
        guard matchers.contains(where: { accepts(event, bytes, $0, now) }) else { return }
        block.append(lastSeq, event.kind, QueryPosition(time: event.createdAt, id: event.id), bytes)
      }
      if block.count == limit || block.bytes.count >= byteLimit {
        return CommittedPage(block: block, lastSeq: lastSeq)
      }
    }
    block.isLast = scanned < scanLimit
    return CommittedPage(block: block, lastSeq: block.isLast ? end : lastSeq)
  }

  /// Counts what a filter matches, and calls `each` with every seq.
  func count(_ matcher: SearchingMatcher, now: Int64, _ each: (Int64) -> Void) throws -> Int {
    if EventArchive.isSearch(matcher.filter) { return try countSearch(matcher, now: now, each) }
    var (count, position) = (0, QueryPosition?.none)
    while true {
      let page = try block(
        matcher, after: position, limit: Self.countPage, byteLimit: Self.countByteLimit, now: now)
      for entry in page.entries { each(entry.seq) }
      count += page.count
      guard !page.isLast else { return count }
      position = page.entries.last?.position
    }
  }

  private static let countPage = 1_000
  private static let countByteLimit = 1 << 20
}
