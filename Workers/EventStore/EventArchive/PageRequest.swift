internal import EventIndex
internal import Nostr
internal import Storage

/// One page that is asked for: what of it is in memory, how the rest is read, and how both become one. The reading is
/// done wherever the caller wants it done.
struct PageRequest: Sendable {
  /// What was read.
  enum Found: Sendable {
    /// A page as it is.
    case page(EventBlock)
    /// Events by their ids, which are in memory from now on.
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
  /// What is removed from here on is not brought back by what is read.
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

  /// Whether there is anything to be read.
  var needsReading: Bool { missing?.isEmpty != true }

  /// Reads it.
  func read(_ session: StorageSession) throws -> Found {
    let reader = ArchiveReader(session: session, maker: maker, memory: memory)
    guard let missing else {
      return .page(try reader.block(matcher, after: position, limit: limit, byteLimit: byteLimit, now: now))
    }
    return .events(try reader.query(missing, matcher, after: position, limit: limit, now: now))
  }

  /// The page, when all is there.
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
