public import Addresses
public import Clocks
public import Contracts
public import Cryptography
public import Nostr

// Turns interests into the REQs of each connector, and the reports of the connectors into progress for the observers. A
// value without I/O. Code calls an interest a wish.
//
//     interest ──▶ demands: one for each relay and set of ──▶ packs: one REQ with up to ten ──▶ RelayDesire
//                  filters, shared by interests that ask      filters of the demands            for each connector
//                  the same there                             at a relay
//     progress, StoreFetched ◀───────────── reports of the connectors ◀──────────────────────── RelayReport
//
// Why packs: a relay takes about twenty subscriptions, or as many as its connector reports, and an application that
// opens starts as many observes within a moment. So changes gather for 100 ms, and the new demands at a relay share as
// few REQs as possible. A REQ never changes: its key is the hash of its contents, so one key always has the same
// filters, also after a restart of the planner.
//
// Why re-packing is careful: a REQ with other filters is a new REQ, and the relay sends all its stored events again. So
// when an interest leaves a pack, the other demands move to a new pack only after the relay has sent its stored events,
// and the new REQ starts from that time. A pack that a relay refuses is split: one bad filter must not cost the other
// demands their events.
//
// Bounds: interests are bounded by the store's observers; demands by the interests and the relays of their routes; the
// subscriptions of a connector by `RelayDesire.requestMaximum`. A demand above a bound waits, and its progress says
// why.

/// All interests, and the subscriptions that serve them.
public struct DesiredSubscriptions: Sendable {
  /// The planner's generation: a connector's version from another generation does not count.
  public let generation: Int64

  /// How long changes gather before they are packed.
  public static let gatherMilliseconds: UInt64 = 100
  /// Most filters of one REQ; a demand with more goes alone.
  public static let filterMaximum = 10
  /// Subscriptions of a relay that stay free for single events and for pages of old ones: live demands are packed into
  /// the others.
  public static let sparedSlots = 2
  /// The subscriptions of a relay that has not reported how many it allows.
  public static let assumedSlots = 20
  /// Most bytes of the filters of one packed REQ; a demand with more goes alone.
  static let packByteMaximum = 64 << 10
  /// Seconds that are requested again when a demand moves to another REQ: clocks differ, and events take time to
  /// arrive.
  public static let overlapSeconds: Int64 = 300
  /// Demands of one interest at one relay: one more difference, and they become one again.
  static let differenceMaximum = 4
  /// How long a demand that has no place waits for the next attempt, if no change comes earlier.
  public static let retryMilliseconds: UInt64 = 5_000

  let byteMaximum: Int
  var entries: [String: Entry] = [:]
  var demands: [DemandID: Demand] = [:]
  var packs: [String: Pack] = [:]
  /// The last report of each pack, by key.
  var reports: [String: RequestReport] = [:]
  /// Relays that cannot be reached at present, with the reason.
  var unreachable: [RelayURL: String] = [:]
  /// How many subscriptions each relay allows, as the connectors report.
  var slots: [RelayURL: Int] = [:]
  var lines: [String: WorkerLine] = [:]
  /// Whether all sources have answered since the start, or their time is over: before that, no progress is complete.
  public private(set) var isSettled = false
  /// Relays outside the groups that the connector is asked to dial.
  var outside: Set<RelayURL> = []

  var gatherUntil: Instant?
  var retryAt: Instant?
  var lastNumber: UInt64 = 0
  var lastVersion: Int64 = 0
  private var changedWishes: Set<String> = []
  private var fetches: [StoreFetched] = []

  /// One set of filters at one relay.
  struct DemandID: Hashable, Sendable {
    let relay: RelayURL
    let question: FilterKey
    let isLive: Bool
    /// The number of an interest that shares its demands with no other; 0 for all others.
    let own: UInt64
    let manner: FetchManner
  }

  /// What one or more interests want from one relay.
  struct Demand: Sendable {
    let filters: [Filter]
    /// Its place in the order in which the demands were made.
    let number: UInt64
    var choice: RelayChoice
    var wishes: Set<String> = []
    var pack: String?
    /// Whether it has a REQ of its own, because a relay refused a REQ that it shared.
    var isAlone = false
    /// Seconds since 1970: the store has what the relay had stored up to then, so the next REQ starts shortly before.
    var resumesAt: Int64?
    /// Whether its progress no longer waits for the relay, which could not be reached or whose EOSE is overdue.
    var hasFailed = false
    /// Whether the relay has sent everything that can match; it has no REQ then.
    var isOver = false
    /// Why it is in no pack.
    var waits: String?
    /// Events that its earlier packs brought.
    var events: UInt64 = 0
  }

  /// One REQ.
  struct Pack: Sendable {
    let request: DesiredSubscription
    let relay: RelayURL
    let worker: String
    var demands: [DemandID]
    let filterCount: Int
    /// Upper bound of its bytes in a `relay.desire`.
    let byteCount: Int
    /// Whether it must be replaced, because it no longer asks for exactly what its demands want.
    var isDirty = false
  }

  /// One interest and the demands that serve it.
  struct Entry: Sendable {
    let interest: Interest
    let own: UInt64
    /// The people whose relays decide where it is asked.
    var people: Set<PublicKey>
    var stops: [DemandID] = []
    var problem: String?
    /// When its present relays were chosen, seconds since 1970.
    var plannedAt: Int64
    /// Those of its demands whose relays have sent their stored events.
    var stored: Set<DemandID> = []
    /// Those of them whose relays have more than was asked for, or did not send all.
    var partial: Set<DemandID> = []
    var isFetchedTold = false
  }

  /// No interests.
  ///
  /// - Parameters:
  ///   - generation: the planner's generation; above that of the planner's last process.
  ///   - frameLimit: the longest frame of the bus.
  public init(generation: Int64, frameLimit: Int) {
    self.generation = generation
    byteMaximum = max(frameLimit - Self.overheadByteCount, Self.overheadByteCount)
  }

  /// Upper bound of a `relay.desire` with one REQ, without its filters.
  static let overheadByteCount = 2_048
  /// Upper bound of one REQ in it, without its filters.
  static let requestByteCount = 512

  // MARK: Interests

  /// Adds an interest. If its key is known with the same filters, nothing changes.
  public mutating func wished(_ interest: Interest, in directory: RelayDirectory, at now: Instant, wall: Int64) {
    if let entry = entries[interest.key] {
      guard entry.interest != interest else { return }
      ended(interest.key, at: now, wall: wall)
    }
    lastNumber += 1
    entries[interest.key] = Entry(
      interest: interest, own: interest.manner.isFresh || interest.manner.isAlone ? lastNumber : 0,
      people: Interest.people(interest.filters),
      plannedAt: wall)
    plan(interest.key, in: directory, at: now, wall: wall)
    noteChange(of: interest.key)
  }

  /// Removes an interest.
  public mutating func ended(_ key: String, at now: Instant, wall: Int64) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    // All relays have sent everything up to now. With this report, an observer that returns soon needs no network.
    if entry.isFetchedTold, entry.partial.isEmpty, entry.stops.allSatisfy({ isStored($0) }),
      let fetched = entry.interest.fetched(at: wall)
    {
      fetches.append(fetched)
    }
    for id in entry.stops { demands[id]?.wishes.remove(key) }
    if !entry.stops.isEmpty { gather(at: now) }
    noteChange(of: key)
  }

  /// The routes have changed: plans every interest again. Only the differences reach the relays.
  public mutating func replan(in directory: RelayDirectory, at now: Instant, wall: Int64) {
    for key in entries.keys.sorted() { plan(key, in: directory, at: now, wall: wall) }
  }

  /// Other relays are asked for these people: plans the interests again that name one of them.
  public mutating func replan(
    _ people: Set<PublicKey>, in directory: RelayDirectory, at now: Instant, wall: Int64
  ) {
    guard !people.isEmpty else { return }
    for key in entries.keys.sorted() where entries[key]?.people.isDisjoint(with: people) == false {
      plan(key, in: directory, at: now, wall: wall)
    }
    // The changes of people's relays have gathered already.
    if gatherUntil != nil { gatherUntil = now }
  }

  /// More is known of where these events are: plans the interests again that want one of them, each of which `want` is
  /// told first.
  public mutating func replan(
    _ ids: Set<EventID>, in directory: inout RelayDirectory, at now: Instant, wall: Int64
  ) {
    for key in entries.keys.sorted() {
      guard let interest = entries[key]?.interest, EventPlaces.ids(interest.filters).contains(where: ids.contains)
      else {
        continue
      }
      directory.want(interest)
      plan(key, in: directory, at: now, wall: wall)
    }
  }

  /// All sources have answered after a start, or their time is over.
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
    entry.people.formUnion(directory.events.authors(interest.filters))
    let route = directory.route(
      interest.filters, named: interest.named, foreign: interest.foreign, isExclusive: interest.isExclusive)
    var stops: [DemandID] = []
    for stop in route.stops.flatMap({ differences($0, from: entry) }) {
      let id = DemandID(
        relay: stop.choice.url, question: FilterKey(stop.filters), isLive: interest.isLive, own: entry.own,
        manner: interest.manner)
      demand(id, stop, wishedBy: key, at: now)
      if !stops.contains(id) { stops.append(id) }
      if isStored(id) { entry.stored.insert(id) }
    }
    entry.problem = route.problem?.description
    if stops != entry.stops {
      for id in entry.stops where !stops.contains(id) { demands[id]?.wishes.remove(key) }
      entry.stored.formIntersection(stops)
      entry.partial.formIntersection(stops)
      entry.stops = stops
      entry.plannedAt = wall
      entry.isFetchedTold = false
      gather(at: now)
      noteChange(of: key)
    }
    entries[key] = entry
    tellFetched(key)
  }

  /// What a relay is to be asked besides what an interest asks it already, so that a change of a person's relays asks
  /// for the difference only. A demand that asks for people who are now asked for elsewhere stays, unless these are
  /// most of them.
  ///
  /// - Returns: the demands of the interest at this relay, those that stay and those to be made.
  private func differences(
    _ stop: FilterRoute.Stop, from entry: Entry
  ) -> [FilterRoute.Stop] {
    let old = entry.stops.filter { id in
      id.relay == stop.choice.url && demands[id].map { $0.choice.account == stop.choice.account } ?? false
    }
    guard !old.isEmpty, !old.contains(where: { $0.question == FilterKey(stop.filters) }) else { return [stop] }
    let asked = old.flatMap { demands[$0]?.filters ?? [] }
    func size(_ filters: [Filter]) -> Int { filters.reduce(0) { $0 + RelayDirectory.subjects(of: $1).count } }
    let new = stop.filters.compactMap { $0.without(asked) }
    guard size(asked) <= 2 * size(stop.filters), new.isEmpty || old.count < Self.differenceMaximum else {
      return [stop]
    }
    return old.map { FilterRoute.Stop(stop.choice, demands[$0]?.filters ?? []) }
      + (new.isEmpty ? [] : [FilterRoute.Stop(stop.choice, new)])
  }

  private mutating func demand(_ id: DemandID, _ stop: FilterRoute.Stop, wishedBy key: String, at now: Instant) {
    guard var demand = demands[id] else {
      lastNumber += 1
      demands[id] = Demand(
        filters: stop.filters, number: lastNumber, choice: stop.choice, wishes: [key], isAlone: id.manner.isAlone)
      return
    }
    demand.wishes.insert(key)
    if demand.choice != stop.choice {
      let isAskedOtherwise =
        demand.choice.account != stop.choice.account || demand.choice.isForeign != stop.choice.isForeign
        || demand.choice.connector != stop.choice.connector
      demand.choice = stop.choice
      if isAskedOtherwise {
        // The pack stays until a new one is made, because it may serve other interests too.
        if let pack = demand.pack { packs[pack]?.isDirty = true }
        gather(at: now)
      }
    }
    demands[id] = demand
  }

  // MARK: Time

  /// Starts the gathering time at the first change: packing follows 100 ms later.
  mutating func gather(at now: Instant) {
    if gatherUntil == nil { gatherUntil = now.advanced(milliseconds: Self.gatherMilliseconds) }
  }

  /// When ``pack(at:wall:)`` must be called; nil while nothing waits.
  public var deadline: Instant? {
    guard let gatherUntil, let retryAt else { return gatherUntil ?? retryAt }
    return min(gatherUntil, retryAt)
  }

  // MARK: Reporting

  /// Whether the relay of a demand has sent its stored events: it now sends new ones, or nothing more can match.
  func isStored(_ id: DemandID) -> Bool {
    guard let demand = demands[id] else { return false }
    return demand.isOver || demand.pack.flatMap { reports[$0] }?.state == .stored
  }

  /// Whether a relay has sent, or has refused to send, all stored events that it is asked for.
  public func isFetched(at relay: RelayURL) -> Bool {
    let there = demands.filter { $0.key.relay == relay && !$0.value.wishes.isEmpty }
    return !there.isEmpty
      && there.values.allSatisfy { demand in
        guard !demand.isOver, let report = demand.pack.flatMap({ reports[$0] }) else { return demand.isOver }
        return report.state == .refused || report.state == .stored && report.end != nil
      }
  }

  mutating func noteChange(of key: String) { changedWishes.insert(key) }

  /// The relay of a demand has sent its stored events, `isWhole` if all that were wanted.
  mutating func noteStored(_ id: DemandID, isWhole: Bool) {
    for key in demands[id]?.wishes ?? [] {
      entries[key]?.stored.insert(id)
      if isWhole { entries[key]?.partial.remove(id) } else { entries[key]?.partial.insert(id) }
      tellFetched(key)
    }
  }

  private mutating func tellFetched(_ key: String) {
    guard let entry = entries[key], !entry.isFetchedTold, !entry.stops.isEmpty, isSettled,
      entry.stops.allSatisfy({ entry.stored.contains($0) }), entry.partial.isEmpty
    else { return }
    entries[key]?.isFetchedTold = true
    if let fetched = entry.interest.fetched(at: entry.plannedAt) { fetches.append(fetched) }
  }

  /// Reports for the store, each returned once.
  public mutating func takeFetches() -> [StoreFetched] {
    defer { fetches = [] }
    return fetches
  }

  /// Keys of the interests whose ``progress(of:)`` may have changed.
  public mutating func takeChanges() -> Set<String> {
    defer { changedWishes = [] }
    return changedWishes
  }

  /// How many observes relays are asked for.
  public var observeCount: Int { entries.values.count { $0.interest.isObserve } }
  /// REQs that are open, or are to be opened, at relays.
  public var requestCount: Int { packs.count }
}

extension Filter {
  /// The part of this filter for people whom none of the others asks for alike; nil when there is no such person.
  fileprivate func without(_ others: [Filter]) -> Filter? {
    if others.contains(self) { return nil }
    let alike = others.filter { $0.withoutPeople == withoutPeople }
    guard !alike.isEmpty else { return self }
    var rest = self
    if let authors {
      let asked = Set(alike.flatMap { $0.authors ?? [] })
      rest.authors = authors.filter { !asked.contains($0) }
    } else if let people = tags[RelayDirectory.recipientTag] {
      let asked = Set(alike.flatMap { $0.tags[RelayDirectory.recipientTag] ?? [] })
      rest.tags[RelayDirectory.recipientTag] = people.filter { !asked.contains($0) }
    }
    return rest.matchesNothing ? nil : rest
  }

  /// Everything but the list that ``RelayDirectory/subjects(of:)`` reads.
  private var withoutPeople: Filter {
    var filter = self
    if authors == nil { filter.tags[RelayDirectory.recipientTag] = nil } else { filter.authors = nil }
    return filter
  }
}
