internal import Addresses
public import Clocks
public import Contracts
internal import Nostr

// What is wished of relays: from what is observed to the REQs of each connector, and back from their fate to the
// observers. A value without I/O.
//
//     wish ──▶ demands: one for each relay and question, ──▶ packs: one REQ for up to ten ──▶ RelayDesire
//              shared by all wishes that ask the same         demands at one relay              per connector
//     progress, StoreFetched ◀──────────────── reports of the connectors ◀───────────────────── RelayReport
//
// Why packs: relays take about twenty subscriptions, and an application that opens begins as many observes within a
// moment. So changes gather for 100 ms, and what is new at a relay goes into as few REQs as it fits in. A REQ is never
// changed: its key is the hash of what it asks, so the same key asks the same, always, also after the planner was
// started again.
//
// Why re-packing is careful: a REQ with other filters is a new REQ, and the relay sends all that it has stored once
// more. So when a wish leaves a pack, the others move to a new one only when the relay has sent them what it had, and
// then ask from that time on. A pack that a relay refuses is taken apart: what is wrong with one wish is not to cost
// nine others theirs.
//
// Bounds: wishes by the store's observers; demands by wishes and the relays of their routes; the wishes of a connector
// by `RelayDesire.requestMaximum`. What is above waits, and is told so.

/// All that is wished of relays.
public struct DesiredSubscriptions: Sendable {
  /// The planner's life: versions of another one count nothing here.
  public let generation: Int64

  /// How long changes gather before they are packed.
  public static let gatherMilliseconds: UInt64 = 100
  /// Most filters of one REQ; a wish that has more goes alone.
  public static let filterMaximum = 10
  /// REQs at one relay above which those that have room are packed together.
  public static let requestTarget = 12
  /// Most bytes of the filters of one REQ that is packed; a wish that has more goes alone.
  static let packByteMaximum = 64 << 10
  /// Seconds that are asked once more when a wish moves to another REQ: clocks differ, and events take their time.
  public static let overlapSeconds: Int64 = 300
  /// When what waits for a place is tried again, if nothing happens before.
  public static let retryMilliseconds: UInt64 = 5_000

  let byteMaximum: Int
  var entries: [String: Entry] = [:]
  var demands: [DemandID: Demand] = [:]
  var packs: [String: Pack] = [:]
  /// What became of packs, by key.
  var reports: [String: RequestReport] = [:]
  /// Relays that cannot be reached at present, and why.
  var unreachable: [RelayURL: String] = [:]
  var lines: [String: WorkerLine] = [:]
  /// Whether it is known where everything goes: before, nothing counts as complete.
  public private(set) var isSettled = false
  /// Relays outside the groups that count against the budget for these wishes.
  var dialled: Set<RelayURL> = []

  var gatherUntil: Instant?
  var retryAt: Instant?
  var lastNumber: UInt64 = 0
  var lastVersion: Int64 = 0
  private var changedWishes: Set<String> = []
  private var fetches: [StoreFetched] = []

  /// One question at one relay.
  struct DemandID: Hashable, Sendable {
    let relay: RelayURL
    let question: FilterKey
    let isLive: Bool
    /// Not 0 for a wish that shares with no other.
    let fresh: UInt64
  }

  /// What is wished at one relay, by however many.
  struct Demand: Sendable {
    let filters: [Filter]
    /// The order in which they came.
    let number: UInt64
    var choice: RelayChoice
    var wishes: Set<String> = []
    var pack: String?
    /// It was refused together with others, and is asked by itself from now on.
    var isAlone = false
    /// Seconds since 1970: what the relay had stored up to then is here.
    var resumesAt: Int64?
    /// The relay could not be reached when it was to be asked first, or said nothing for too long.
    var hasFailed = false
    /// The relay has sent all that there can be, and is not asked any more.
    var isOver = false
    /// Why it is in no pack.
    var waits: String?
    /// Events brought by the packs it was in before.
    var events: UInt64 = 0
  }

  /// One REQ.
  struct Pack: Sendable {
    let request: DesiredSubscription
    let relay: RelayURL
    let worker: String
    var demands: [DemandID]
    let filterCount: Int
    /// Bytes it has in a `relay.desire`, at most.
    let byteCount: Int
    /// It asks for more than its demands want.
    var isDirty = false
  }

  /// One wish and its relays.
  struct Entry: Sendable {
    let interest: Interest
    let fresh: UInt64
    var stops: [DemandID] = []
    var problem: String?
    /// Since when it is asked at these relays, seconds since 1970.
    var plannedAt: Int64
    /// Those that have sent what they had since then.
    var stored: Set<DemandID> = []
    var isFetchedTold = false
  }

  /// Nothing is wished.
  ///
  /// - Parameters:
  ///   - generation: of the planner's life; above that of the life before.
  ///   - frameLimit: the longest frame of the bus.
  public init(generation: Int64, frameLimit: Int) {
    self.generation = generation
    byteMaximum = max(frameLimit - Self.overheadByteCount, Self.overheadByteCount)
  }

  /// More than all that a `relay.desire` with one REQ has besides its filters.
  static let overheadByteCount = 2_048
  /// More than all that one of its REQs has besides its filters.
  static let requestByteCount = 512

  // MARK: Wishes

  /// Something is wished from now on; under a key that is known with the same filters, nothing changes.
  public mutating func wished(_ interest: Interest, in directory: RelayDirectory, at now: Instant, wall: Int64) {
    if let entry = entries[interest.key] {
      guard entry.interest != interest else { return }
      ended(interest.key, at: now, wall: wall)
    }
    lastNumber += 1
    entries[interest.key] = Entry(interest: interest, fresh: interest.isFresh ? lastNumber : 0, plannedAt: wall)
    plan(interest.key, in: directory, at: now, wall: wall)
    noteChange(of: interest.key)
  }

  /// Nobody wishes it any more.
  public mutating func ended(_ key: String, at now: Instant, wall: Int64) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    // Up to now the relays have told what came: whoever asks again soon need not.
    if entry.isFetchedTold, entry.stops.allSatisfy({ isStored($0) }), let fetched = entry.interest.fetched(at: wall) {
      fetches.append(fetched)
    }
    for id in entry.stops { demands[id]?.wishes.remove(key) }
    if !entry.stops.isEmpty { gather(at: now) }
    noteChange(of: key)
  }

  /// Where something goes has changed: every wish is planned again, and only what differs is asked again.
  public mutating func replan(in directory: RelayDirectory, at now: Instant, wall: Int64) {
    for key in entries.keys.sorted() { plan(key, in: directory, at: now, wall: wall) }
  }

  /// All sources have said what there is after a start, or have had their time.
  public mutating func settled() {
    guard !isSettled else { return }
    isSettled = true
    for key in entries.keys.sorted() {
      noteChange(of: key)
      tellFetched(key)
    }
  }

  private mutating func plan(_ key: String, in directory: RelayDirectory, at now: Instant, wall: Int64) {
    guard var entry = entries[key] else { return }
    let interest = entry.interest
    let route = directory.route(interest.filters, named: interest.named, isExclusive: interest.isExclusive)
    var stops: [DemandID] = []
    for stop in route.stops {
      let id = DemandID(
        relay: stop.choice.url, question: FilterKey(stop.filters), isLive: interest.isLive, fresh: entry.fresh)
      demand(id, stop, wishedBy: key, at: now)
      stops.append(id)
      if isStored(id) { entry.stored.insert(id) }
    }
    entry.problem = route.problem?.description
    if stops != entry.stops {
      for id in entry.stops where !stops.contains(id) { demands[id]?.wishes.remove(key) }
      entry.stored.formIntersection(stops)
      entry.stops = stops
      entry.plannedAt = wall
      entry.isFetchedTold = false
      gather(at: now)
      noteChange(of: key)
    }
    entries[key] = entry
    tellFetched(key)
  }

  private mutating func demand(_ id: DemandID, _ stop: FilterRoute.Stop, wishedBy key: String, at now: Instant) {
    guard var demand = demands[id] else {
      lastNumber += 1
      demands[id] = Demand(filters: stop.filters, number: lastNumber, choice: stop.choice, wishes: [key])
      return
    }
    demand.wishes.insert(key)
    if demand.choice != stop.choice {
      let isAskedOtherwise =
        demand.choice.account != stop.choice.account || demand.choice.isForeign != stop.choice.isForeign
        || demand.choice.connector != stop.choice.connector
      demand.choice = stop.choice
      if isAskedOtherwise {
        // The pack is left as it is until the next one is made: it may serve others meanwhile.
        if let pack = demand.pack { packs[pack]?.isDirty = true }
        gather(at: now)
      }
    }
    demands[id] = demand
  }

  // MARK: Time

  /// Something has changed: it is packed 100 ms after the first such change.
  mutating func gather(at now: Instant) {
    if gatherUntil == nil { gatherUntil = now.advanced(milliseconds: Self.gatherMilliseconds) }
  }

  /// When ``pack(at:wall:budget:)`` is to be called; nil while nothing waits.
  public var deadline: Instant? {
    guard let gatherUntil, let retryAt else { return gatherUntil ?? retryAt }
    return min(gatherUntil, retryAt)
  }

  // MARK: Telling

  /// Whether a relay has sent what it had stored, and sends what comes.
  func isStored(_ id: DemandID) -> Bool {
    guard let demand = demands[id] else { return false }
    return demand.isOver || demand.pack.flatMap { reports[$0] }?.state == .stored
  }

  mutating func noteChange(of key: String) { changedWishes.insert(key) }

  /// The relay of a demand has sent what it had.
  mutating func noteStored(_ id: DemandID) {
    for key in demands[id]?.wishes ?? [] {
      entries[key]?.stored.insert(id)
      tellFetched(key)
    }
  }

  private mutating func tellFetched(_ key: String) {
    guard let entry = entries[key], !entry.isFetchedTold, !entry.stops.isEmpty, isSettled,
      entry.stops.allSatisfy({ entry.stored.contains($0) })
    else { return }
    entries[key]?.isFetchedTold = true
    if let fetched = entry.interest.fetched(at: entry.plannedAt) { fetches.append(fetched) }
  }

  /// What the store is to be told, each once.
  public mutating func takeFetches() -> [StoreFetched] {
    defer { fetches = [] }
    return fetches
  }

  /// Keys of the wishes whose ``progress(of:)`` may be other than before.
  public mutating func takeChanges() -> Set<String> {
    defer { changedWishes = [] }
    return changedWishes
  }

  /// How many observes the network is asked for.
  public var observeCount: Int { entries.values.count { $0.interest.isObserve } }
  /// REQs that are wanted of relays.
  public var requestCount: Int { packs.count }
}
