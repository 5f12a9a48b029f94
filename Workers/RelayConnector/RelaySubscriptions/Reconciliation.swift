public import Nostr
public import RelaySession

// The reconciliation of one filter at one relay in a window of time (NIP-77), as a value: no socket, no store, no
// clock. The store has the asking side of the protocol; this machine carries its messages to the relay and back, and
// fetches what the store lacks.
//
//     window ─ begin ─▶ the store's first message ─ open ─▶ the relay ⇄ the store ─ known ─▶ next window … ─▶ fetched
//        ▲                                                │
//        └──────────── too many: two halves ◀─────────────┘
//
// A relay may refuse a window because it holds too many events: then the window is cut in halves, at most
// `depthMaximum` times. This refusal begins with `blocked` and means nothing else; it does not put the relay aside. Any
// other refusal, a message that cannot be read, or a silence ends the reconciliation, and the caller pages instead.
//
// The ids that the store lacks are asked for in batches while more is compared. An id that the relay has named
// and does not send is asked for once. But a relay may also send no more than its own cap, which it need not publish:
// such an answer has a round number of events. Then the rest of the batch is asked for again, in batches of that size.
//
// Rejected: several windows at once. Each takes a subscription's place at the relay, and most windows are one message.

/// A reconciliation with one relay. A pure machine; times are the session's matter.
public struct Reconciliation: Sendable {
  /// The limits.
  public struct Limits: Sendable, Hashable {
    /// How often a window is cut in halves.
    public var depthMaximum = 12
    /// The most ids of one REQ.
    public var batchMaximum = 500
    /// The most REQs for ids at a time.
    public var fetchMaximum = 4
    /// The most ids that the store may lack. With more, pages are as good.
    public var neededMaximum = 100_000
    /// The most bytes of a message of the store, before hexadecimal encoding.
    public var messageByteMaximum = 60_000
    /// The least: below it the protocol has no room.
    public var messageByteMinimum = 4_096

    /// The limits above.
    public init() {}
  }

  /// What was counted. Bytes are those of messages in hexadecimal digits, filters and events, without the JSON around
  /// them.
  public struct Counts: Sendable, Hashable {
    /// Windows that were compared to their end.
    public var windows = 0
    /// Events that both sides have.
    public var common = 0
    /// Ids that the relay has named and the store lacked.
    public var needed = 0
    /// Events that came.
    public var fetched = 0
    /// Ids that were asked for, and that the relay did not send.
    public var unavailable = 0
    /// Bytes to the relay.
    public var sentBytes = 0
    /// Bytes of the relay.
    public var receivedBytes = 0

    /// Zeroes.
    public init() {}
  }

  /// How it ended.
  public enum End: Sendable, Hashable {
    /// Everything that the relay has in the window is known, and everything that it sent of it has come.
    case complete
    /// The relay does not reconcile.
    case unsupported(String)
    /// It could not be brought to its end; `isAboutRelay` when another attempt would most likely end the same.
    case failed(String, isAboutRelay: Bool)
    /// The caller gave it up.
    case cancelled
  }

  /// What the shell does.
  public enum Action: Sendable, Hashable {
    /// Have the store begin with this filter; report `storeBegan` or `storeRefused`.
    case begin(Filter, messageByteMaximum: Int)
    /// Begin at the relay with the store's first message.
    case open(Filter, message: [UInt8])
    /// Pass the relay's message to the store; report `storeAnswered` or `storeRefused`.
    case pass([UInt8])
    /// Send the store's message to the relay.
    case send([UInt8])
    /// End the reconciliation at the relay.
    case close
    /// Give up the store's session.
    case cancelStore
    /// Ask the relay for these ids; report `fetched`, and then `fetchEnded` or `fetchFailed`.
    case fetch(Int, Filter)
    /// Give up a REQ for ids.
    case cancelFetch(Int)
    /// It is over.
    case finish(End)
  }

  /// Why the store did not do what it was asked for.
  public enum StoreRefusal: Sendable, Hashable {
    /// The filter matches too many stored events.
    case tooMany
    /// The relay's message cannot be read.
    case unreadable(String)
    /// Anything else.
    case other(String)
  }

  private struct Window: Sendable {
    let since: Int64
    let until: Int64
    let depth: Int
  }

  private enum State: Sendable {
    case idle
    /// The store is reading what it has.
    case beginning
    /// The relay is to answer.
    case relaysTurn
    /// The store is to answer.
    case storesTurn
    /// The difference in the window is known; the store is writing what both have.
    case writing
    /// All windows are done; ids are being fetched.
    case fetching
    case over
  }

  private struct Batch: Sendable {
    let count: Int
    var missing: Set<EventID>
  }

  /// What was counted so far.
  public private(set) var counts = Counts()

  private let filter: Filter
  private let limits: Limits
  /// Whether what the store lacks is counted, and not fetched.
  private let countsOnly: Bool
  private var state = State.idle
  private var window: Window
  /// The windows that follow; the last one is next.
  private var windows: [Window]
  /// What the store has found, if that was reported before the end of its last answer.
  private var foundEarly: Int?
  /// Whether the relay has answered with a message of the protocol.
  private var hasAnswered = false
  private var messageBytes: Int
  private var eventLimit: Int
  private var batchMaximum: Int
  private var named: Set<EventID> = []
  /// Ids that are to be asked for.
  private var waiting: [EventID] = []
  private var batches: [Int: Batch] = [:]
  private var lastBatch = 0
  /// Whether no further REQ is sent until one has ended, or the reconciliation itself has.
  private var isFetchingPaused = false

  /// 2020-01-01: hardly any event is older. A window that reaches further back is first cut here, which does not count.
  private static let firstSecond: Int64 = 1_577_836_800
  /// Caps of relays are multiples of this number.
  private static let capStep = 50
  /// Bytes of an id in a filter: 64 digits, quotation marks, a comma.
  private static let idTextByteCount = 67
  /// Bytes around a filter or a message, with the subscription's id.
  private static let aroundByteCount = 128

  /// A reconciliation that has not begun.
  ///
  /// - Parameters:
  ///   - filter: the filter; its own `since` and `until` narrow the window, and its `limit` is not used.
  ///   - since: the first second of the window.
  ///   - until: the last second of the window, not before the first.
  ///   - messageBytes: the longest message that the relay takes.
  ///   - eventLimit: the most events that the relay sends for a filter.
  ///   - countsOnly: whether what the store lacks is counted, and not fetched.
  ///   - limits: the limits.
  public init(
    _ filter: Filter, since: Int64, until: Int64, messageBytes: Int, eventLimit: Int, countsOnly: Bool = false,
    limits: Limits = Limits()
  ) {
    self.countsOnly = countsOnly
    var filter = filter
    filter.limit = nil
    window = Window(since: max(since, filter.since ?? since), until: min(until, filter.until ?? until), depth: 0)
    windows = [window]
    self.filter = filter
    (self.messageBytes, self.eventLimit, self.limits) = (messageBytes, eventLimit, limits)
    batchMaximum = limits.batchMaximum
  }

  // MARK: Inputs

  /// It begins.
  public mutating func started() -> [Action] {
    guard case .idle = state else { preconditionFailure("a reconciliation begins once") }
    if window.since > window.until || filter.matchesNothing { windows = [] }
    return nextWindow()
  }

  /// What the relay takes has changed.
  public mutating func boundsChanged(messageBytes: Int, eventLimit: Int) {
    (self.messageBytes, self.eventLimit) = (messageBytes, eventLimit)
  }

  /// The store has made the first message for the window.
  public mutating func storeBegan(message: [UInt8]) -> [Action] {
    guard case .beginning = state else { return [] }
    state = .relaysTurn
    let filter = windowFilter
    counts.sentBytes += message.count * 2 + filter.json.count
    return [.open(filter, message: message)]
  }

  /// The relay has sent a message of the protocol.
  public mutating func relayAnswered(_ message: [UInt8]) -> [Action] {
    if case .over = state { return [] }
    counts.receivedBytes += message.count * 2
    hasAnswered = true
    guard case .relaysTurn = state else {
      return end(.failed("the relay sent a message that answers none", isAboutRelay: true))
    }
    state = .storesTurn
    return [.pass(message)]
  }

  /// The store has read the relay's message.
  ///
  /// - Parameters:
  ///   - message: the next message for the relay.
  ///   - needed: ids that the relay has and the store lacks; an id may be named again.
  ///   - isOver: whether the difference is known; then `message` is not sent.
  public mutating func storeAnswered(message: [UInt8], needed: [EventID], isOver: Bool) -> [Action] {
    guard case .storesTurn = state else { return [] }
    for id in needed where named.insert(id).inserted && !countsOnly { waiting.append(id) }
    counts.needed = named.count
    guard named.count <= limits.neededMaximum else {
      let text = "more than \(limits.neededMaximum) events are missing, which pages bring as well"
      return end(.failed(text, isAboutRelay: false))
    }
    if isOver {
      state = .writing
      let actions = [.close] + resumedFetches()
      return foundEarly.map { actions + storeEnded(common: $0) } ?? actions
    }
    state = .relaysTurn
    counts.sentBytes += message.count * 2
    return [.send(message)] + fetches()
  }

  /// The store has written what both have, and its session is over.
  public mutating func storeEnded(common: Int) -> [Action] {
    if case .storesTurn = state { foundEarly = common }
    guard case .writing = state else { return [] }
    foundEarly = nil
    counts.common += common
    counts.windows += 1
    return nextWindow()
  }

  /// The store has refused to begin or to read a message, or it has ended its session.
  public mutating func storeRefused(_ refusal: StoreRefusal) -> [Action] {
    switch (state, refusal) {
    case (.idle, _), (.fetching, _), (.over, _): return []
    case (.beginning, .tooMany): return halve("the store has too many events in it")
    case (_, .unreadable(let why)): return end(.failed("the relay's message: \(why)", isAboutRelay: true))
    case (_, .tooMany): return end(.failed("the store has too many events", isAboutRelay: false))
    case (_, .other(let why)): return end(.failed("the store: \(why)", isAboutRelay: false), ofStore: true)
    }
  }

  /// The relay has refused the reconciliation, or it failed otherwise: it is closed at the relay.
  public mutating func relayRefused(_ failure: WorkFailure) -> [Action] {
    switch state {
    case .idle, .beginning, .writing, .fetching, .over: return []
    case .relaysTurn, .storesTurn: break
    }
    if failure.code == .closedByRelay, failure.reason?.refusesWindow(failure.recordCountMaximum) == true {
      return [.cancelStore] + halve(failure.message)
    }
    // It is closed already.
    state = .writing
    return end(Self.end(after: failure, hasAnswered: hasAnswered), ofRelay: true)
  }

  /// An event came for a REQ.
  ///
  /// - Returns: whether the REQ asked for it, and it has not come before.
  public mutating func fetched(_ number: Int, _ id: EventID, byteCount: Int) -> Bool {
    guard batches[number]?.missing.remove(id) != nil else { return false }
    counts.fetched += 1
    counts.receivedBytes += byteCount
    return true
  }

  /// The relay has sent what it has for a REQ.
  public mutating func fetchEnded(_ number: Int) -> [Action] {
    guard let batch = batches.removeValue(forKey: number) else { return [] }
    let came = batch.count - batch.missing.count
    if !batch.missing.isEmpty, came > 0, came.isMultiple(of: Self.capStep) {
      batchMaximum = came
      waiting.append(contentsOf: batch.missing.sorted())
    } else {
      counts.unavailable += batch.missing.count
    }
    return resumedFetches()
  }

  /// A REQ has failed.
  public mutating func fetchFailed(_ number: Int, _ failure: WorkFailure) -> [Action] {
    guard let batch = batches.removeValue(forKey: number) else { return [] }
    waiting.insert(contentsOf: batch.missing.sorted(), at: 0)
    let isTooLarge = failure.code == .tooLarge || failure.reason.map { RefusalClass($0) } == .size
    if isTooLarge, batch.count > 1 {
      batchMaximum = batch.count / 2
      return fetches()
    }
    // Other work has all subscriptions of the relay: a place is free when the reconciliation or another REQ ends.
    if failure.code == .noSlot || failure.code == .full, holdsPlace {
      isFetchingPaused = true
      return []
    }
    let isAboutRelay = failure.code == .closedByRelay || failure.code == .timedOut
    return end(.failed("its events: \(failure.message)", isAboutRelay: isAboutRelay))
  }

  /// The caller gives it up.
  public mutating func cancelled() -> [Action] { end(.cancelled) }

  // MARK: Windows

  private var windowFilter: Filter {
    var filter = filter
    (filter.since, filter.until) = (window.since, window.until)
    return filter
  }

  private mutating func nextWindow() -> [Action] {
    guard let next = windows.popLast() else {
      state = .fetching
      return resumedFetches()
    }
    window = next
    let room = (messageBytes - Self.aroundByteCount - windowFilter.json.count) / 2
    guard room >= limits.messageByteMinimum else {
      let text = "the relay takes messages of \(messageBytes) bytes, which is too little to reconcile"
      return end(.unsupported(text))
    }
    state = .beginning
    return [.begin(windowFilter, messageByteMaximum: min(room, limits.messageByteMaximum))] + resumedFetches()
  }

  private mutating func halve(_ why: String) -> [Action] {
    guard window.depth < limits.depthMaximum, window.since < window.until else {
      state = .writing
      return end(
        .failed("the window from \(window.since) to \(window.until) cannot be cut further: \(why)", isAboutRelay: true),
        ofStore: true, ofRelay: true)
    }
    var middle = window.since + (window.until - window.since) / 2
    var depth = window.depth + 1
    if window.since < Self.firstSecond, window.until >= Self.firstSecond {
      (middle, depth) = (Self.firstSecond - 1, window.depth)
    }
    windows.append(Window(since: window.since, until: middle, depth: depth))
    windows.append(Window(since: middle + 1, until: window.until, depth: depth))
    return nextWindow()
  }

  // MARK: Fetching

  /// Whether something of this reconciliation has a place at the relay.
  private var holdsPlace: Bool {
    switch state {
    case .relaysTurn, .storesTurn: true
    case .idle, .beginning, .writing, .fetching, .over: !batches.isEmpty
    }
  }

  private mutating func resumedFetches() -> [Action] {
    isFetchingPaused = false
    return fetches()
  }

  /// The REQs that are sent now: full ones, and at the end the rest.
  private mutating func fetches() -> [Action] {
    if case .over = state { return [] }
    var actions: [Action] = []
    let fitting = (messageBytes - Self.aroundByteCount) / Self.idTextByteCount
    let size = max(1, min(batchMaximum, eventLimit, fitting))
    var isLast = false
    if case .fetching = state { isLast = true }
    while !isFetchingPaused, batches.count < limits.fetchMaximum, waiting.count >= (isLast ? 1 : size) {
      let ids = Array(waiting.prefix(size))
      waiting.removeFirst(ids.count)
      lastBatch += 1
      batches[lastBatch] = Batch(count: ids.count, missing: Set(ids))
      let filter = Filter(ids: ids, limit: ids.count)
      counts.sentBytes += filter.json.count
      actions.append(.fetch(lastBatch, filter))
    }
    guard isLast, batches.isEmpty, waiting.isEmpty else { return actions }
    return end(.complete)
  }

  // MARK: Ends

  /// Ends it, with what is under way; `ofStore` and `ofRelay` say what is over already.
  private mutating func end(_ end: End, ofStore: Bool = false, ofRelay: Bool = false) -> [Action] {
    var actions: [Action] = []
    switch state {
    case .over: return []
    case .relaysTurn, .storesTurn: actions += (ofRelay ? [] : [.close]) + (ofStore ? [] : [.cancelStore])
    case .beginning, .writing: actions += ofStore ? [] : [.cancelStore]
    case .idle, .fetching: break
    }
    state = .over
    actions += batches.keys.sorted().map { .cancelFetch($0) }
    (batches, waiting, named) = ([:], [], [])
    return actions + [.finish(end)]
  }

  private static func end(after failure: WorkFailure, hasAnswered: Bool) -> End {
    switch failure.code {
    case .noReconciliation: .unsupported(failure.message)
    case .closedByRelay, .timedOut, .disconnected:
      hasAnswered ? .failed(failure.message, isAboutRelay: true) : .unsupported(failure.message)
    case .tooLarge, .notAuthenticated: .failed(failure.message, isAboutRelay: true)
    case .relayUnreachable, .notSigned, .notProtected, .notShown, .ownRelay, .full, .noSlot, .outOfBounds, .closing:
      .failed(failure.message, isAboutRelay: false)
    }
  }
}
