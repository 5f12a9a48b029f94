internal import EventIndex
internal import Nostr
internal import Storage

/// A request for one page: the part of it in memory, how the rest is read, and how both are merged. The caller chooses
/// the thread that reads.
struct PageRequest: Sendable {
  /// What was read.
  enum Found: Sendable {
    /// A complete page.
    case page(EventBlock)
    /// Events by their ids, which are kept in memory from now on.
    case events([StoredEvent])
  }

  let matcher: SearchingMatcher
  let position: QueryPosition?
  let limit: Int
  let byteLimit: Int
  let now: Int64
  private let recalled: [StoredEvent]
  private let missing: [EventID]?
  private let recent: RecentEvents
  private let maker: TermMaker
  private let memory: ArchiveMemory
  /// The number of removals so far. After another removal, events that this request reads are not kept in memory.
  private let removals: UInt64

  init(
    _ archive: EventArchive, _ matcher: SearchingMatcher, after position: QueryPosition?, limit: Int, byteLimit: Int,
    now: Int64
  ) {
    self.matcher = matcher
    self.position = position
    self.limit = limit
    self.byteLimit = byteLimit
    self.now = now
    recent = archive.recent
    removals = recent.removals
    (maker, memory) = (archive.maker, archive.memory)
    let (events, rest) = archive.recall(matcher.filter)
    recalled = events
    missing = matcher.filter.ids == nil ? nil : rest?.ids ?? []
  }

  /// Whether anything must be read.
  var needsReading: Bool { missing?.isEmpty != true }

  /// Reads what is missing in memory.
  func read(_ session: StorageSession) throws -> Found {
    let reader = ArchiveReader(session: session, maker: maker, memory: memory)
    guard let missing else {
      return .page(try reader.block(matcher, after: position, limit: limit, byteLimit: byteLimit, now: now))
    }
    return .events(try reader.query(missing, matcher, after: position, limit: limit, now: now))
  }

  /// The page, made of what was read and what was in memory.
  func page(_ found: Found) -> EventBlock {
    switch found {
    case .page(let block): return block
    case .events(let events):
      recent.read(events, removals: removals)
      var all = recalled.filter { ArchiveReader.accepts($0, matcher, position, now) } + events
      all.sort { $0.position.precedes($1.position) }
      let page = Array(all.prefix(max(0, limit)))
      return EventBlock(page, isLast: page.count < limit)
    }
  }
}
