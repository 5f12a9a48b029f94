internal import Clocks
public import Nostr

// The stored events of one interest at one relay, page by page: a value without I/O.
//
// A relay sends the newest events that match, and only as many as it likes. So each filter is asked for in pages, from
// the present backwards:
//
//     created_at  ◀──────────────────────────────────────────────── now
//                            [ page 3  ][ page 2     ][ page 1    ]
//                 until = the oldest second of the page before, which is asked for again: it may have more events
//
// - A page ends with EOSE. Its span is what is proven: all that the relay has, above the page's oldest second.
// - The end is a page with nothing new, the relay's own word (`finish`, NIP-67), or the beginning of the span. A short
//   page proves nothing: relays send as few as they like.
// - A page with nothing new that is as full as others of this relay may have been cut in the middle of a second. Then
//   that second is asked for in parts, by author and kind; and where that is not possible, it is left as a hole: it is
//   not claimed as covered.
// - Without EOSE nothing is proven, but the next page is asked for if something new came.
//
// The shell asks for each page with a REQ (`ask`), reports what comes, puts the `note` of each page behind its events
// on their way to the store, and reports when that is committed. At most two pages of a part are not committed: so a
// slow store slows the relay down, and not only this process.
//
// A filter is asked for in parts (``DrainPlan``): lists that are too long are cut, and spans that are covered already
// are left out. Eight parts are asked for at a time.

/// The stored events of one interest at one relay.
public struct Drain: Sendable {
  /// How a drain ended.
  public enum End: String, Sendable, Hashable, CaseIterable {
    /// All that was wanted is here.
    case drained
    /// There may be more than this connector asks for at once.
    case capped
    /// The relay sent nothing for too long.
    case silent
    /// The relay sent what was not asked for, without end.
    case cut
    /// The relay refused.
    case refused
    /// It is no longer wanted.
    case cancelled
  }

  /// The name of one page, unique within the drain.
  public typealias Page = UInt64

  /// What tells whether an event is a repeat. Two events may claim one id; then one of them is forged, and only the
  /// store can say which.
  public struct Sighting: Hashable, Sendable {
    /// The id that it claims.
    public let id: EventID
    /// A hash of its bytes.
    public let hash: Int

    /// An event.
    public init(_ id: EventID, hash: Int) { (self.id, self.hash) = (id, hash) }
  }

  /// What is known at the end of a page, for the store.
  public struct Note: Hashable, Sendable {
    /// The filter of the part, without times and limit.
    public let filter: Filter
    /// The seconds of which everything is here; nil: nothing is proven.
    public let times: ClosedRange<Int64>?
    /// Whether the part is over.
    public let isEnd: Bool
  }

  /// What the shell does.
  public enum Action: Hashable, Sendable {
    /// Ask the relay for this page: stored events only.
    case ask(Page, Filter)
    /// The page is over: report ``committed(_:)`` when its events and this are committed.
    case note(Page, Note)
    /// Give the page up; nothing more is reported of it.
    case withdraw(Page)
    /// Everything that was wanted of this filter has come and is committed.
    case fetched(filter: Int)
    /// The drain is over.
    case ended
  }

  /// The bounds of a drain.
  public struct Limits: Sendable, Hashable {
    /// The most pages asked for at a time.
    public var pageMaximum = 8
    /// The most pages of one part that are not committed.
    public var uncommittedMaximum = 2
    /// The most events of one part.
    public var eventMaximum = 2_000_000
    /// The most pages of a part that is to be no deeper than one page where nothing is covered.
    public var gapPageMaximum = 20
    /// The highest `limit` of a page, whatever the relay says: a relay may say 2^63-1.
    public var pageSizeMaximum = 5_000
    /// The most events of a page that is asked for without a limit.
    public var defaultPageMaximum = 100_000
    /// The most values in a list of one filter.
    public var valueMaximum = 500
    /// A page of fewer events was not cut by the relay, even if it has never sent a fuller one: without that a relay
    /// with a single event would never be complete. Relays in use cut at 100 or more.
    public var leastCut = 10

    /// The limits above.
    public init() {}
  }

  let limits: Limits
  /// The `limit` that the relay obeys.
  let pageSize: Int
  /// The most events that this relay has sent in a page.
  public private(set) var fullestPage: Int

  private var waiting: [Part]
  private var parts: [Int: Running] = [:]
  private var pages: [Page: Int] = [:]
  private var nextPart = 0
  private var nextPage: Page = 1
  /// How many parts of each filter are not over, and how the filter's parts have ended so far.
  private var filters: [Int: (open: Int, end: End)] = [:]
  private var isOver = false

  /// How it ended, with the reason; nil while it is not over.
  public private(set) var outcome: (end: End, reason: String?)?
  /// The number of events that had not come before.
  public private(set) var newCount: UInt64 = 0
  /// The number of pages that have ended.
  public private(set) var pageCount: UInt64 = 0

  /// A part that is under way.
  private struct Running {
    var part: Part
    /// `until` of the next page; nil: none.
    var next: Int64?
    /// Up to where the first page proves something; set when it is sent.
    var top: Int64?
    /// The events of the second `next` that have come.
    var boundary: Set<Sighting> = []
    var page: PageState?
    /// The pages that have ended and are not committed, the first is the earliest; of the later ones the notes wait,
    /// since what they prove includes the events of the first.
    var uncommitted: [(page: Page, note: Note)] = []
    var isDone = false
    var end = End.drained
    var reason: String?
    var eventCount = 0
    var pageCount = 0

    /// Notes an event of its page where it is: a copy of the sets for each event would cost more than all else.
    ///
    /// - Returns: whether it had not come before; nil when no page is open.
    mutating func received(_ event: Sighting, createdAt: Int64) -> Bool? {
      let isOld = boundary.contains(event)
      guard let isNew = page?.received(event, isOld: isOld, createdAt: createdAt) else { return nil }
      if isNew { eventCount += 1 }
      return isNew
    }
  }

  /// What has come of a page.
  private struct PageState {
    let key: Page
    let until: Int64?
    let limit: Int?
    var events: Set<Sighting> = []
    /// The events in the order in which they came.
    var order: [(createdAt: Int64, event: Sighting)] = []
    var newCount = 0
    /// Events that the page was not asked for, and those that cannot be read.
    var strayCount = 0
    var unreadableCount = 0

    mutating func received(_ event: Sighting, isOld: Bool, createdAt: Int64) -> Bool {
      guard events.insert(event).inserted else { return false }
      order.append((createdAt, event))
      if !isOld { newCount += 1 }
      return !isOld
    }

    /// The page's oldest second, and its events. A relay that already follows the REQ may push an old event that it
    /// has just received into the page: one or two events with newer ones behind them do not count.
    var oldest: (second: Int64, events: Set<Sighting>) {
      var newestBehind = Int64.min
      var (inOrder, early) = (Int64.max, [Int64]())
      for (createdAt, _) in order.reversed() {
        if createdAt < newestBehind { early.append(createdAt) } else { inOrder = min(inOrder, createdAt) }
        newestBehind = max(newestBehind, createdAt)
      }
      let second = early.count <= 2 && order.count >= 10 ? inOrder : min(inOrder, early.min() ?? .max)
      return (second, Set(order.lazy.filter { $0.createdAt == second }.map(\.event)))
    }
  }

  /// A drain of these parts.
  ///
  /// - Parameters:
  ///   - parts: what to ask for, the most important first.
  ///   - filterCount: the number of filters that the parts are of; a filter without parts is fetched already.
  ///   - pageSize: the `limit` that the relay obeys.
  ///   - fullestPage: the most events that the relay has sent in one page before.
  ///   - limits: the bounds.
  public init(
    _ parts: [Part], filterCount: Int, pageSize: Int, fullestPage: Int = 0, limits: Limits = Limits()
  ) {
    waiting = parts
    self.limits = limits
    self.pageSize = min(max(1, pageSize), limits.pageSizeMaximum)
    self.fullestPage = fullestPage
    for filter in 0..<filterCount { filters[filter] = (0, .drained) }
    for part in parts { filters[part.filterIndex, default: (0, .drained)].open += 1 }
  }

  // MARK: Inputs

  /// Begins.
  public mutating func begin() -> [Action] {
    let done = filters.filter { $0.value.open == 0 }.keys.sorted()
    return settled(done.map { .fetched(filter: $0) })
  }

  /// The REQ of a page was sent, for the first time or again. `wall`: seconds since 1970.
  public mutating func sent(_ page: Page, wall: Int64) {
    guard let id = pages[page], let state = parts[id]?.page else { return }
    // What came of it before comes again, and counts then.
    parts[known: id].eventCount -= state.newCount
    parts[known: id].page = PageState(key: page, until: state.until, limit: state.limit)
    if parts[known: id].top == nil { parts[known: id].top = state.until.map { min($0, wall) } ?? wall }
  }

  /// An event of a page came.
  ///
  /// - Returns: whether it had not come before in this part.
  public mutating func received(
    _ page: Page, _ event: Sighting, createdAt: Int64, _ actions: inout [Action]
  ) -> Bool {
    guard let number = pages[page], let isNew = parts[number]?.received(event, createdAt: createdAt) else {
      return false
    }
    if isNew { newCount += 1 }
    bound(page, number, &actions)
    return isNew
  }

  /// Something came for a page that it was not asked for, or that cannot be read.
  public mutating func receivedOther(_ page: Page, isReadable: Bool, _ actions: inout [Action]) {
    guard let number = pages[page], parts[number]?.page != nil else { return }
    if isReadable {
      parts[known: number].page?.strayCount += 1
    } else {
      parts[known: number].page?.unreadableCount += 1
    }
    bound(page, number, &actions)
  }

  /// Twice as many as asked for: this page has no end.
  private mutating func bound(_ page: Page, _ number: Int, _ actions: inout [Action]) {
    guard let state = parts[number]?.page else { return }
    let maximum = state.limit.map { 2 * max($0, pageSize) } ?? limits.defaultPageMaximum
    guard state.order.count + state.strayCount + state.unreadableCount > maximum else { return }
    actions.append(.withdraw(page))
    let asked = state.limit.map { "for \($0)" } ?? "without a limit"
    actions += over(number, .cut, "it sent more than \(maximum) events and was asked \(asked)")
  }

  /// EOSE of a page came.
  public mutating func endedStored(_ page: Page, _ completeness: RelayMessage.Completeness) -> [Action] {
    guard let number = pages[page], let running = parts[number], let state = running.page else { return [] }
    pageCount += 1
    fullestPage = max(fullestPage, state.events.count)
    parts[known: number].page = nil
    parts[known: number].pageCount += 1
    let times = running.part.isSecond ? second(number, state, completeness) : proof(number, state, completeness)
    let note = Note(filter: running.part.filter, times: times, isEnd: parts[number]?.isDone == true)
    parts[known: number].uncommitted.append((page, note))
    return settled(parts[known: number].uncommitted.count == 1 ? [.note(page, note)] : [])
  }

  /// The note of a page, and everything before it, is committed.
  public mutating func committed(_ page: Page) -> [Action] {
    guard let number = pages.removeValue(forKey: page), parts[number]?.uncommitted.first?.page == page else {
      return []
    }
    parts[known: number].uncommitted.removeFirst()
    return settled(parts[known: number].uncommitted.first.map { [.note($0.page, $0.note)] } ?? [])
  }

  /// A page will not be answered: the relay refused it, or was silent. What came of it stays; nothing is proven.
  public mutating func failed(_ page: Page, _ end: End, _ reason: String?) -> [Action] {
    guard let number = pages[page], let running = parts[number], let state = running.page else { return [] }
    // Without EOSE: what came came, and what is older can still be asked for.
    if end == .silent, state.newCount > 0, running.part.isPaged, state.oldest.second < state.until ?? .max {
      parts[known: number].page = nil
      pages[page] = nil
      parts[known: number].end = worse(running.end, .silent)
      parts[known: number].reason = running.reason ?? reason
      turn(number, to: state.oldest.second, [])
      return settled([])
    }
    return over(number, end, reason)
  }

  /// It is no longer wanted.
  public mutating func cancel() -> [Action] {
    guard !isOver else { return [] }
    isOver = true
    outcome = (.cancelled, nil)
    let open = parts.values.compactMap(\.page?.key).sorted()
    (parts, pages, waiting) = ([:], [:], [])
    return open.map { .withdraw($0) }
  }

  // MARK: Pages

  /// What a page proves, and where the next one begins.
  private mutating func proof(
    _ number: Int, _ state: PageState, _ completeness: RelayMessage.Completeness
  ) -> ClosedRange<Int64>? {
    guard let running = parts[number] else { return nil }
    let part = running.part
    guard part.isPaged else {
      parts[known: number].isDone = part.filter.ids == nil || !asksForRest(number, state)
      return nil
    }
    let low = part.since ?? 0
    let high = state.until.map { min($0, running.top ?? $0) } ?? running.top ?? low
    if completeness == .finished { return done(number, low, high) }
    if state.newCount == 0, state.strayCount > 0 {
      // A relay that ignores times sends the same again and again, and has perhaps more.
      parts[known: number].isDone = true
      giveUp(number, .cut, "it sent \(state.strayCount) events that the page was not asked for, and nothing new")
      return nil
    }
    if state.events.isEmpty { return done(number, low, high) }
    let oldest = state.oldest
    if state.newCount == 0 {
      let second = state.until ?? oldest.second
      guard isFull(state) || completeness == .partial else { return done(number, low, high) }
      divide(number, second: second)
      // An event of that second may be missing, and of those above none.
      if second > low {
        (parts[known: number].next, parts[known: number].boundary) = (second - 1, [])
      } else {
        parts[known: number].isDone = true
      }
      return second < high ? span(second + 1, high) : nil
    }
    turn(number, to: oldest.second, oldest.events)
    if let wanted = part.wanted, parts[known: number].eventCount >= wanted { parts[known: number].isDone = true }
    if let maximum = part.pageMaximum, parts[known: number].pageCount >= maximum {
      parts[known: number].isDone = true
      if maximum > 1 { giveUp(number, .capped, "\(maximum) pages came, which is what is asked for at once") }
    }
    if running.eventCount >= limits.eventMaximum {
      parts[known: number].isDone = true
      giveUp(number, .capped, "\(running.eventCount) events came, which is what is asked for at once")
    }
    return oldest.second < high && state.strayCount == 0 ? span(max(low, oldest.second + 1), high) : nil
  }

  private func span(_ low: Int64, _ high: Int64) -> ClosedRange<Int64>? { low <= high ? low...high : nil }

  private mutating func done(_ number: Int, _ low: Int64, _ high: Int64) -> ClosedRange<Int64>? {
    parts[known: number].isDone = true
    return span(low, high)
  }

  private mutating func giveUp(_ number: Int, _ end: End, _ reason: String) {
    parts[known: number].end = worse(parts[known: number].end, end)
    parts[known: number].reason = parts[known: number].reason ?? reason
  }

  /// The next page begins at the oldest second of this one.
  private mutating func turn(_ number: Int, to second: Int64, _ events: Set<Sighting>) {
    let isSameSecond = second == parts[number]?.next
    parts[known: number].boundary = isSameSecond ? parts[known: number].boundary.union(events) : events
    parts[known: number].next = second
    if second < parts[known: number].part.since ?? 0 { parts[known: number].isDone = true }
  }

  /// Whether the relay may have cut the page: it is as full as any of its pages, and not too small for that.
  private func isFull(_ state: PageState) -> Bool {
    let limit = state.limit ?? pageSize
    return state.events.count >= min(limit, max(fullestPage, limits.leastCut))
  }

  /// A second with more than a page: asks for it by author and kind, if the filter names several.
  private mutating func divide(_ number: Int, second: Int64) {
    guard let part = parts[number]?.part, let halves = part.filter.halvesByAuthorOrKind else { return }
    for half in halves { add(Part(half, second: second, filterIndex: part.filterIndex)) }
  }

  private mutating func add(_ part: Part) {
    waiting.insert(part, at: 0)
    filters[known: part.filterIndex].open += 1
  }

  /// The page of a part of one second.
  private mutating func second(
    _ number: Int, _ state: PageState, _ completeness: RelayMessage.Completeness
  ) -> ClosedRange<Int64>? {
    guard let part = parts[number]?.part, let second = part.until else { return nil }
    parts[known: number].isDone = true
    if state.strayCount > 0 { return nil }
    if completeness == .finished || (completeness != .partial && !isFull(state)) { return second...second }
    divide(number, second: second)
    return nil
  }

  /// Some of the ids did not come, and the page brought others: asks for the rest.
  private mutating func asksForRest(_ number: Int, _ state: PageState) -> Bool {
    let ids = Set(state.events.map(\.id))
    let rest = parts[number]?.part.filter.ids?.filter { !ids.contains($0) } ?? []
    guard !rest.isEmpty, state.newCount > 0 else { return false }
    parts[known: number].part.filter.ids = rest
    return true
  }

  // MARK: Parts

  private func worse(_ left: End, _ right: End) -> End {
    let order = End.allCases
    return (order.firstIndex(of: left) ?? 0) >= (order.firstIndex(of: right) ?? 0) ? left : right
  }

  /// A part is over at once, with what it has.
  mutating func over(_ number: Int, _ end: End, _ reason: String?) -> [Action] {
    if let page = parts[number]?.page?.key { pages[page] = nil }
    parts[known: number].page = nil
    parts[known: number].isDone = true
    giveUp(number, end, reason ?? "")
    return settled([])
  }

  private mutating func settled(_ actions: [Action]) -> [Action] {
    guard !isOver else { return actions }
    var actions = actions
    for (number, running) in parts.sorted(by: { $0.key < $1.key })
    where running.isDone && running.page == nil && running.uncommitted.isEmpty {
      finish(number, running, &actions)
    }
    while parts.values.count(where: { !$0.isDone }) < limits.pageMaximum, parts.count < 2 * limits.pageMaximum,
      !waiting.isEmpty
    {
      parts[nextPart] = Running(part: waiting.removeFirst())
      parts[known: nextPart].next = parts[known: nextPart].part.until
      nextPart += 1
    }
    for (number, running) in parts.sorted(by: { $0.key < $1.key })
    where !running.isDone && running.page == nil && running.uncommitted.count < limits.uncommittedMaximum {
      ask(number, running, &actions)
    }
    if parts.isEmpty, waiting.isEmpty {
      isOver = true
      if outcome == nil { outcome = (.drained, nil) }
      actions.append(.ended)
    }
    return actions
  }

  private mutating func finish(_ number: Int, _ running: Running, _ actions: inout [Action]) {
    parts[number] = nil
    let filter = running.part.filterIndex
    filters[known: filter].open -= 1
    filters[known: filter].end = worse(filters[known: filter].end, running.end)
    if let before = outcome?.end ?? Optional(.drained), worse(before, running.end) != before || outcome == nil {
      outcome = (running.end, running.reason.flatMap { $0.isEmpty ? nil : $0 })
    }
    if filters[filter]?.open == 0, filters[filter]?.end == .drained { actions.append(.fetched(filter: filter)) }
  }

  private mutating func ask(_ number: Int, _ running: Running, _ actions: inout [Action]) {
    let page = nextPage
    nextPage += 1
    var filter = running.part.filter
    if let since = running.part.since, since > 0 { filter.since = since }
    filter.until = running.next
    if running.part.isPaged {
      var limit = pageSize
      if let wanted = running.part.wanted {
        limit = min(limit, max(1, wanted - running.eventCount) + running.boundary.count)
      }
      filter.limit = running.part.isDefaultPage ? nil : limit
    }
    pages[page] = number
    parts[known: number].page = PageState(key: page, until: running.next, limit: filter.limit)
    actions.append(.ask(page, filter))
  }
}
