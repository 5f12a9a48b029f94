internal import Cryptography
public import EventIndex
public import Nostr
public import Observations
public import Storage

/// An event and a relay that had it.
public struct SeenPlace: Hashable, Sendable {
  /// The event.
  public let seq: Int64
  /// The relay's number.
  public let relay: Int64

  /// An event at a relay.
  public init(seq: Int64, relay: Int64) {
    self.seq = seq
    self.relay = relay
  }
}

extension EventArchive {
  /// When filters were last fetched, seconds since 1970; nil when they never were, or when that is forgotten.
  ///
  /// - Parameters:
  ///   - keys: the keys of the filters.
  ///   - relays: each of these relays; nil: all that were planned, as one.
  /// - Returns: the oldest time of all keys and relays.
  public func fetchedAt(_ keys: [FilterKey], relays: [Int64]?) async throws(StorageFault) -> Int64? {
    try await file.read { session in
      let statement = try session.statement("SELECT time FROM fetch WHERE filter = ? AND relay = ?")
      var oldest: Int64?
      for key in keys {
        for relay in relays ?? [0] {
          statement.bind(key.digest.bytes, relay)
          guard try statement.step() else { return nil }
          oldest = min(oldest ?? .max, statement.number(0))
          statement.reset()
        }
      }
      return oldest
    }
  }

  /// Those of some events that came from a relay.
  ///
  /// - Parameters:
  ///   - seqs: the events.
  ///   - relays: from one of these; nil: from any.
  public func seen(_ seqs: [Int64], at relays: Set<Int64>?) async throws(StorageFault) -> Set<Int64> {
    guard !seqs.isEmpty, relays?.isEmpty != true else { return [] }
    return try await file.read { session in
      let statement = try session.statement("SELECT relay FROM seen WHERE seq = ?")
      var found: Set<Int64> = []
      for seq in seqs {
        statement.bind(seq)
        while try statement.step() {
          guard relays?.contains(statement.number(0)) ?? true else { continue }
          found.insert(seq)
          statement.reset()
          break
        }
      }
      return found
    }
  }

  /// The stored ones of some events that never came from a relay, as seqs.
  public func unseen(_ ids: [EventID], at relay: Int64) async throws(StorageFault) -> [Int64] {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      let statement = try session.statement("SELECT 1 FROM seen WHERE seq = ? AND relay = ?")
      var unseen: [Int64] = []
      for id in ids {
        guard let seq = try reader.seq(of: id) else { continue }
        statement.bind(seq, relay)
        if try statement.step() { statement.reset() } else { unseen.append(seq) }
      }
      return unseen
    }
  }

  /// Those of some events that any filter matches, in the given order; without those that are gone or expired.
  ///
  /// - Parameters:
  ///   - seqs: the events.
  ///   - filters: at least one must match.
  ///   - recipients: the only recipients whose gift wraps are returned; nil: all.
  ///   - now: events that expired before are left out.
  public func events(
    _ seqs: [Int64], matching filters: [Filter], for recipients: Recipients? = nil, now: Int64
  ) async throws(StorageFault) -> EventBlock {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      let matchers = filters.map { SearchingMatcher($0, for: recipients) }
      let events = try seqs.compactMap { seq in
        guard let event = try reader.event(seq),
          matchers.contains(where: { ArchiveReader.accepts(event, $0, nil, now) })
        else { return nil as StoredEvent? }
        return event
      }
      return EventBlock(events, isLast: true)
    }
  }

  /// How far named observations have come. Waits on this thread.
  public func marksNow() throws(StorageFault) -> [ObserveMark] {
    try file.readNow { session in
      let statement = try session.statement("SELECT owner, id, plan, seq, time FROM mark")
      var marks: [ObserveMark] = []
      while try statement.step() {
        guard let plan = FilterKey(bytes: statement.bytes(2)) else {
          throw StorageFault(.corrupt, path: session.path, "a mark of an observation has no key")
        }
        marks.append(
          ObserveMark(
            owner: statement.text(0), id: statement.text(1), plan: plan, seq: statement.number(3),
            time: statement.number(4)))
      }
      return marks
    }
  }

  /// What is known of a filter, by relay.
  ///
  /// - Parameters:
  ///   - filter: the filter. Fetch times are kept for the filter itself, intervals for its subject.
  ///   - relays: only these relays; nil: all.
  /// - Returns: the relays of which something is known, in the order of their URLs.
  public func coverage(of filter: Filter, at relays: Set<String>?) async throws(StorageFault) -> [RelayCoverage] {
    try await file.read { session in
      let fetched = try session.statement(
        "SELECT url, time FROM fetch JOIN relay ON relay.number = fetch.relay WHERE filter = ?",
        FilterKey([filter]).digest.bytes)
      var found: [String: RelayCoverage] = [:]
      while try fetched.step() {
        let url = fetched.text(0)
        found[url] = RelayCoverage(relay: url, fetchedAt: fetched.number(1))
      }
      let floor = try session.property("coverage-floor")
      let covered = try session.statement(
        "SELECT url, intervals FROM coverage JOIN relay ON relay.number = coverage.relay WHERE filter = ?",
        FilterKey([filter.subject]).digest.bytes)
      while try covered.step() {
        let url = covered.text(0)
        var coverage = try CoverageIntervals(stored: covered.bytes(1), session)
        if let floor { coverage.forget(upTo: floor) }
        found[url, default: RelayCoverage(relay: url)].intervals = coverage.intervals
      }
      return found.values.filter { known in
        relays?.contains(known.relay) ?? true && (known.fetchedAt != nil || !known.intervals.isEmpty)
      }.sorted { $0.relay < $1.relay }
    }
  }

  /// What is covered of a filter at one relay, in parts of which the same is covered.
  ///
  /// - Returns: parts that together are the filter without times and limit, each with its intervals.
  public func coverageParts(of filter: Filter, at relay: String) async throws(StorageFault) -> [CoveredPart] {
    try await file.read { session in
      let floor = try session.property("coverage-floor")
      let named = try session.statement("SELECT number FROM relay WHERE url = ?", relay)
      guard try named.step() else { return [CoveredPart(filter: filter.subject, intervals: [])] }
      let number = named.number(0)
      named.reset()
      func intervals(_ filter: Filter) throws -> [CoverageIntervals.Interval] {
        let row = try session.statement(
          "SELECT intervals FROM coverage WHERE filter = ? AND relay = ?", FilterKey([filter]).digest.bytes, number)
        defer { row.reset() }
        guard try row.step() else { return [] }
        var coverage = try CoverageIntervals(stored: row.bytes(0), session)
        if let floor { coverage.forget(upTo: floor) }
        return coverage.intervals
      }
      let subject = filter.subject
      let subjects = subject.coverageSubjects
      // The pages of a part that is under way are remembered for the part.
      let whole = subjects == [subject] ? [] : try intervals(subject)
      var groups: [[CoverageIntervals.Interval]: [Filter]] = [:]
      for subject in subjects {
        var coverage = CoverageIntervals()
        for interval in try intervals(subject) + whole { coverage.add(interval) }
        groups[coverage.intervals, default: []].append(subject)
      }
      return groups.flatMap { intervals, filters in
        Self.joined(filters, of: subject).map { CoveredPart(filter: $0, intervals: intervals) }
      }
    }
  }

  /// Subjects of a filter as few filters: those of the same kinds together.
  private static func joined(_ subjects: [Filter], of whole: Filter) -> [Filter] {
    if subjects.count == whole.coverageSubjects.count { return [whole] }
    var kinds: [Filter: [UInt16]] = [:]
    for var subject in subjects {
      let kind = subject.kinds
      subject.kinds = nil
      kinds[subject, default: []] += kind ?? []
    }
    var joined: [[UInt16]: Filter] = [:]
    for (subject, kinds) in kinds {
      let kinds = kinds.sorted()
      guard var filter = joined[kinds] else {
        var filter = subject
        filter.kinds = kinds.isEmpty ? nil : kinds
        joined[kinds] = filter
        continue
      }
      if let authors = subject.authors { filter.authors = (filter.authors ?? []) + authors }
      for (letter, values) in subject.tags { filter.tags[letter] = (filter.tags[letter] ?? []) + values }
      joined[kinds] = filter
    }
    return joined.values.map(\.canonical)
  }

  /// Withdraws all coverage up to a second. Waits on this thread.
  public func forgetCoverageNow(upTo time: Int64) throws(StorageFault) {
    _ = try file.writeNow { session in try writer(session).forgetCoverage(upTo: time) }
  }
}

/// A part of a filter, with what is covered of it at a relay.
public struct CoveredPart: Hashable, Sendable {
  /// The part, without times and limit.
  public let filter: Filter
  /// For events created in these times, everything that the relay had is stored.
  public let intervals: [CoverageIntervals.Interval]
}

/// What is known of a filter at a relay.
public struct RelayCoverage: Hashable, Sendable {
  /// The relay's URL.
  public let relay: String
  /// When the relay last sent all it had for the filter, seconds since 1970.
  public var fetchedAt: Int64?
  /// For events created in these times, everything that the relay had is stored.
  public var intervals: [CoverageIntervals.Interval] = []
}
