internal import Cryptography
public import EventIndex
public import Nostr
public import Storage
internal import Synchronization

// The stored events, and how they are found.
//
// One writer stores batches of verified events, each in one transaction. Readers answer filters from a snapshot of the
// database and a copy of what is only in memory. The memory is copied first, so that an event that moves from memory to
// disk meanwhile is found twice rather than not at all.
//
// After `segmentEventCount` events the postings in memory are written as a segment (`SegmentWriter`), in slices between
// batches. After a death the events since the last complete segment are read once, which restores the memory.

/// The event database.
public final class EventArchive: Sendable {
  let file: StorageFile
  private let ledger: SeqLedger
  let maker: TermMaker
  let recent = RecentEvents(byteLimit: EventArchive.standardRecentByteCount)
  private let state: Mutex<State>
  /// The number of events in memory at which a segment is written.
  let segmentEventCount: Int

  private struct State {
    var memory: ArchiveMemory
    var lastSeq: Int64
    var eventCount: Int64
    var segment: SegmentWriter?
    /// The last seq whose words are indexed.
    var searchedSeq: Int64
    var trimmer: SegmentTrimmer?
    var usedByteCount: Int64
    var foreignByteCount: Int64
    var losses = ArchiveLosses()
  }

  /// The version of the database's schema; a file of a later version is refused.
  public static var schemaVersion: Int { ArchiveSchema.migrations.last?.version ?? 0 }

  /// The standard number of events in one segment. Their postings take about 7 MiB of memory.
  public static let standardSegmentEventCount = 32_768

  /// Opens the archive; creates it if the file does not exist.
  public init(
    path: String, settings: StorageSettings = StorageSettings(durability: .normal),
    segmentEventCount: Int = EventArchive.standardSegmentEventCount
  ) throws(StorageFault) {
    self.segmentEventCount = segmentEventCount
    file = try StorageFile(path: path, settings, migrations: ArchiveSchema.migrations)
    let opened = try file.writeNow { session in try ArchiveOpening.open(session) }
    ledger = try SeqLedger(database: path)
    let (lastSeq, lostSeqs) = try ledger.begin(after: opened.lastSeq)
    self.lostSeqs = lostSeqs
    maker = opened.maker
    state = Mutex(
      State(
        memory: opened.memory, lastSeq: lastSeq, eventCount: opened.eventCount,
        searchedSeq: opened.searchedSeq, usedByteCount: opened.usedByteCount,
        foreignByteCount: opened.foreignByteCount))
  }

  /// Seqs that were committed before this start, but that the database does not have: lost to damage, or with the
  /// power.
  public let lostSeqs: ClosedRange<Int64>?

  /// A file for a backup, beside the database: after a restore, seqs that may have been given since are left out.
  public static let unknownSeqs = (suffix: SeqLedger.suffix, text: SeqLedger.unknown)

  /// The last seq that may have been given; 0 in an empty archive. After a kill it is higher than that of the last
  /// commit.
  public var lastSeq: Int64 { state.withLock { $0.lastSeq } }

  /// The database file.
  public var path: String { file.path }

  /// The last seq whose words can be searched; see `EventArchive+Search`.
  public internal(set) var searchedSeq: Int64 {
    get { state.withLock { $0.searchedSeq } }
    set { state.withLock { $0.searchedSeq = newValue } }
  }

  /// The losses that are recorded in the database.
  var keptLosses: ArchiveLosses {
    get { state.withLock { $0.losses } }
    set { state.withLock { $0.losses = newValue } }
  }

  /// The bytes of the database's pages in use, after the last commit of events or the last trim. The file may be
  /// larger: free pages are used again.
  public var usedByteCount: Int64 { state.withLock { $0.usedByteCount } }

  /// Bytes of JSON of the foreign events (``RetentionRank/foreign``), as of the last commit.
  public var foreignByteCount: Int64 { state.withLock { $0.foreignByteCount } }

  /// The number of stored events.
  public var eventCount: Int64 { state.withLock { $0.eventCount } }

  /// A copy of what is in memory.
  var memory: ArchiveMemory { state.withLock { $0.memory } }

  // MARK: Storing

  /// Writes a batch in one transaction, in order.
  ///
  /// - Parameters:
  ///   - entries: what to store, in order.
  ///   - now: seconds since 1970.
  ///   - relays: numbers for relay URLs that this batch is the first to use.
  ///   - isSynced: whether the batch, and everything written before it, survives a loss of power when this returns.
  ///     Without it, that holds only some MiB of writes later; a killed process loses nothing in either case.
  /// - Returns: the outcome of each entry.
  /// - Throws: why none of them was written.
  public func write(
    _ entries: [ArchiveEntry], relays: [RelayNumber] = [], now: Int64, isSynced: Bool = false
  ) async throws(StorageFault) -> ArchiveCommit {
    try await file.write(
      isSynced: isSynced, { [self] session in try write(entries, relays, now: now, session) },
      onCommit: { [self] in apply($0, of: entries) }
    ).commit
  }

  /// The same, waiting on this thread.
  public func writeNow(
    _ entries: [ArchiveEntry], relays: [RelayNumber] = [], now: Int64, isSynced: Bool = false
  ) throws(StorageFault) -> ArchiveCommit {
    try file.writeNow(
      isSynced: isSynced, { session in try write(entries, relays, now: now, session) },
      onCommit: { apply($0, of: entries) }
    ).commit
  }

  /// Stores events, waiting on this thread.
  public func storeNow(_ events: [VerifiedEvent], now: Int64) throws(StorageFault) -> [StoreOutcome] {
    try writeNow(events.map { .event($0) }, now: now).outcomes
  }

  struct Written: Sendable {
    let outcomes: [StoreOutcome]
    let change: ArchiveChange

    var commit: ArchiveCommit {
      ArchiveCommit(
        outcomes: outcomes, gone: change.gone, hasVanishing: !change.vanishing.isEmpty,
        newSightings: change.newSightings, lastSeq: change.lastSeq)
    }
  }

  func writer(_ session: StorageSession) -> ArchiveWriter {
    ArchiveWriter(
      session, maker: maker, lastSeq: lastSeq, searchedSeq: searchedSeq, segments: memory.segments
    ) { [self] term in state.withLock { $0.memory.seq(ofID: term) } }
  }

  private func write(
    _ entries: [ArchiveEntry], _ relays: [RelayNumber], now: Int64, _ session: StorageSession
  ) throws -> Written {
    for relay in relays { try relay.insert(session) }
    var writer = writer(session)
    let outcomes = try writer.write(entries, now: now)
    try ledger.willCommit(writer.change.lastSeq)
    try writer.finish()
    return Written(outcomes: outcomes, change: writer.change)
  }

  func apply(_ written: Written, of entries: [ArchiveEntry] = []) {
    ledger.committed(written.change.lastSeq)
    var stored: [StoredEvent] = []
    stored.reserveCapacity(entries.count)
    for (entry, outcome) in zip(entries, written.outcomes) {
      guard case .event(let event) = entry, case .stored(let seq) = outcome else { continue }
      stored.append(StoredEvent(seq: seq, event))
    }
    state.withLock {
      $0.memory.apply(written.change)
      $0.lastSeq = written.change.lastSeq
      $0.eventCount += written.change.eventCount
      $0.usedByteCount = written.change.usedByteCount
      $0.foreignByteCount += written.change.foreignByteCount
    }
    // After the state: a reader that knows of this removal then also has the memory that hides what is removed.
    recent.committed(stored, gone: written.change.gone)
    if !written.change.vanishing.isEmpty { recent.forget() }
  }

  // MARK: Segments

  /// Whether a slice of a segment is waiting to be written.
  public var hasSegmentWork: Bool {
    state.withLock {
      $0.segment != nil || isFull($0)
    }
  }

  /// Events that were removed again count too, because their postings take memory.
  private func isFull(_ state: State) -> Bool {
    state.memory.generations.last.map { $0.storedCount >= segmentEventCount } ?? false
  }

  /// Writes one slice of a segment, if one is waiting.
  public func writeSegmentSlice() async throws(StorageFault) {
    _ = try await file.write({ [self] session in try writeSlice(session) }, onCommit: { [self] in wrote($0) })
  }

  /// The same, waiting on this thread.
  public func writeSegmentSliceNow() throws(StorageFault) {
    _ = try file.writeNow({ session in try writeSlice(session) }, onCommit: { wrote($0) })
  }

  private struct Slice: Sendable {
    let segment: SegmentWriter
    let isLast: Bool
  }

  private func writeSlice(_ session: StorageSession) throws -> Slice? {
    guard var segment = state.withLock({ beginSegment(&$0) }) else { return nil }
    let isLast = try segment.writeSlice(session)
    return Slice(segment: segment, isLast: isLast)
  }

  private func wrote(_ slice: Slice?) {
    guard let slice else { return }
    state.withLock { state in
      state.segment = slice.isLast ? nil : slice.segment
      guard slice.isLast else { return }
      state.memory.generations.removeFirst()
      state.memory.segments.append(
        ArchiveMemory.Segment(
          number: slice.segment.number, firstSeq: slice.segment.firstSeq, lastSeq: slice.segment.lastSeq,
          times: slice.segment.times, eventCount: slice.segment.eventCount))
    }
  }

  /// The trimming that is under way.
  var trimmer: SegmentTrimmer? { state.withLock { $0.trimmer } }

  /// A slice of a segment was trimmed.
  func ended(_ trimmer: SegmentTrimmer, _ outcome: SegmentTrimmer.Outcome, usedByteCount: Int64) {
    state.withLock { state in
      state.usedByteCount = usedByteCount
      state.trimmer = outcome == .unfinished ? trimmer : nil
      guard let index = state.memory.segments.firstIndex(where: { $0.number == trimmer.number }) else { return }
      switch outcome {
      case .unfinished: break
      case .trimmed: state.memory.segments[index].gone -= trimmer.gone
      case .empty: state.memory.segments.remove(at: index)
      }
    }
  }

  private func beginSegment(_ state: inout State) -> SegmentWriter? {
    if let segment = state.segment { return segment }
    guard isFull(state), let full = state.memory.generations.last else { return nil }
    let number = (state.memory.segments.last?.number ?? 0) + 1
    state.memory.generations.append(ArchiveMemory.Generation(firstSeq: state.lastSeq + 1))
    let segment = SegmentWriter(number: number, full, lastSeq: state.lastSeq)
    state.segment = segment
    return segment
  }

  // MARK: Reading

  /// The events a filter matches, newest first, ties by lowest id (NIP-01): one page.
  ///
  /// - Parameters:
  ///   - filter: the filter.
  ///   - recipients: the only recipients whose gift wraps are returned; nil: all.
  ///   - position: the last event of the page before; nil for the first page.
  ///   - limit: the most events of this page.
  ///   - byteLimit: once the page has this many bytes of JSON, it ends.
  ///   - now: events that expired before are left out.
  public func block(
    _ filter: Filter, for recipients: Recipients? = nil, after position: QueryPosition? = nil, limit: Int,
    byteLimit: Int = .max, now: Int64
  ) async throws(StorageFault) -> EventBlock {
    let request = PageRequest(
      self, SearchingMatcher(filter, for: recipients), after: position, limit: limit, byteLimit: byteLimit, now: now)
    guard request.needsReading else { return request.page(.events([])) }
    return request.page(try await file.read { try request.read($0) })
  }

  /// The same, waiting on this thread.
  public func blockNow(
    _ filter: Filter, for recipients: Recipients? = nil, after position: QueryPosition? = nil, limit: Int,
    byteLimit: Int = .max, now: Int64
  ) throws(StorageFault) -> EventBlock {
    let request = PageRequest(
      self, SearchingMatcher(filter, for: recipients), after: position, limit: limit, byteLimit: byteLimit, now: now)
    guard request.needsReading else { return request.page(.events([])) }
    return request.page(try file.readNow { try request.read($0) })
  }

  /// A page as single events, waiting on this thread. For tools and tests, because each event is scanned a second time.
  public func queryNow(
    _ filter: Filter, after position: QueryPosition? = nil, limit: Int, now: Int64
  ) throws(StorageFault) -> [StoredEvent] {
    let block = try blockNow(filter, after: position, limit: limit, now: now)
    do { return try block.events() } catch {
      throw StorageFault(.corrupt, path: path, "an event cannot be read: \(error)")
    }
  }

  /// Closes the files.
  public func close() throws(StorageFault) {
    try file.close()
    try ledger.close(lastSeq: lastSeq)
  }
}
