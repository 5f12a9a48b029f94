public import Contracts
internal import Cryptography
public import Frames
public import Nostr
public import NostrContracts

// Which observations are active, and what has changed since the last message. A value without I/O.
//
//     begin, end ─▶ entries by plan ─▶ changed keys ─ takeChanges ─▶ the topic, one message after the other
//                         └────────────────────────── list ────────▶ a worker that starts
//
// Changes are gathered by key, and a message contains the entries as they are when it is made. So however slowly the
// topic moves, no more changes wait than there are entries. An entry that came and went meanwhile is never announced,
// unless a list contained it. A list has the version of the last message. Changes since then come in the next message
// too; because each entry is complete, a repetition does no harm.
//
// Bounds: the caller of `begin` limits the number of observers, and checks the bytes of an entry first, with
// `ObserveTable.entryByteMaximum(frameLimit:)`. Keys that are gone, but must still be announced as removed, are no more
// than those that were announced.

/// An observer's name: the caller, and its name for the observation.
public struct ObserverName: Hashable, Sendable {
  /// The caller's endpoint.
  public let caller: UInt32
  /// The caller's name for it.
  public let id: String

  /// A name.
  public init(caller: UInt32, id: String) {
    self.caller = caller
    self.id = id
  }
}

/// The set of active observations.
public struct ObserveTable: Sendable {
  /// The generation of the process: versions of another generation do not count here.
  public let generation: Int64
  /// The last message's version.
  public private(set) var version: Int64 = 0

  private struct Observer: Sendable {
    let key: FilterKey
    let placeKey: FilterKey
    let name: ObserverName?
    let maxAge: Int64
    let needsNetwork: Bool
    let trace: RequestTrace?
  }
  private struct Entry: Sendable {
    let plan: ObservePlan
    let byteCount: Int
    var observers: Set<UInt64> = []
  }

  private var observers: [UInt64: Observer] = [:]
  private var names: [ObserverName: UInt64] = [:]
  private var entries: [FilterKey: Entry] = [:]
  /// Keys that were announced.
  private var told: Set<FilterKey> = []
  private var changed: Set<FilterKey> = []

  /// No observations.
  public init(generation: Int64) { self.generation = generation }

  /// The number of observers.
  public var observerCount: Int { observers.count }
  /// The number of different observations.
  public var entryCount: Int { entries.count }
  /// Whether a change is to be announced.
  public var hasChanges: Bool { !changed.isEmpty }

  // MARK: Begin and end

  /// An observer begins.
  ///
  /// - Parameters:
  ///   - observer: a number that was never used before.
  ///   - plan: what it observes.
  ///   - maxAge: seconds; relays need not be asked if the last fetch is not older.
  ///   - fetchedAt: when relays were last asked, seconds since 1970.
  ///   - name: the observer's name, if it has one.
  ///   - trace: the trace of its request.
  ///   - now: seconds since 1970.
  /// - Returns: the observer that had the same name, and must be ended.
  public mutating func begin(
    _ observer: UInt64, _ plan: ObservePlan, maxAge: Int64 = 0, fetchedAt: Int64? = nil, name: ObserverName? = nil,
    trace: RequestTrace? = nil, now: Int64
  ) -> UInt64? {
    precondition(observers[observer] == nil, "an observer's number is used once")
    observers[observer] = Observer(
      key: plan.key, placeKey: plan.placeKey, name: name, maxAge: max(0, maxAge),
      needsNetwork: plan.needsNetwork(maxAge: maxAge, fetchedAt: fetchedAt, now: now), trace: trace)
    entries[plan.key, default: Entry(plan: plan, byteCount: Self.byteCount(plan))].observers.insert(observer)
    changed.insert(plan.key)
    guard let name else { return nil }
    return names.updateValue(observer, forKey: name)
  }

  /// An observer ends.
  public mutating func end(_ observer: UInt64) {
    guard let ended = observers.removeValue(forKey: observer) else { return }
    if let name = ended.name, names[name] == observer { names[name] = nil }
    entries[ended.key]?.observers.remove(observer)
    if entries[ended.key]?.observers.isEmpty == true { entries[ended.key] = nil }
    if entries[ended.key] != nil || told.contains(ended.key) {
      changed.insert(ended.key)
    } else {
      changed.remove(ended.key)
    }
  }

  /// What is now observed under a name, by the key under which marks are kept.
  public func plan(of name: ObserverName) -> FilterKey? { names[name].flatMap { observers[$0]?.placeKey } }

  // MARK: Messages

  /// The next message for the topic; nil when everything is announced.
  ///
  /// - Parameter byteMaximum: the most bytes of its entries together; a larger entry is sent alone.
  public mutating func takeChanges(byteMaximum: Int) -> ObserveChanges? {
    guard !changed.isEmpty else { return nil }
    version += 1
    var message = ObserveChanges(generation: generation, version: version)
    var byteCount = 0
    // In the order of keys, so that the same changes give the same message.
    for key in changed.sorted(by: { $0.digest < $1.digest }) {
      let cost = entries[key]?.byteCount ?? Self.removalByteCount
      guard byteCount == 0 || byteCount + cost <= byteMaximum else { break }
      byteCount += cost
      changed.remove(key)
      if let entry = entries[key] {
        told.insert(key)
        message.changed.append(described(entry))
      } else {
        told.remove(key)
        message.removed.append("\(key)")
      }
    }
    return message
  }

  /// All entries in the order of their keys, for one reader. From then on the end of each must be announced.
  public mutating func takeList() -> [ActiveObserve] {
    told.formUnion(entries.keys)
    return entries.values.sorted { $0.plan.key.digest < $1.plan.key.digest }.map(described)
  }

  private func described(_ entry: Entry) -> ActiveObserve {
    let observers = entry.observers.sorted().compactMap { self.observers[$0] }
    var described = ActiveObserve(
      key: "\(entry.plan.key)", filters: entry.plan.filters.map { JSONValue(of: $0) }, policy: entry.plan.policy,
      relays: entry.plan.relays, exclusiveRelays: entry.plan.isExclusive, maxAge: observers.map(\.maxAge).min() ?? 0,
      needsNetwork: observers.contains(where: \.needsNetwork), observers: observers.count)
    described.networkLimit = entry.plan.networkLimit
    described.trace = observers.last { $0.needsNetwork }?.trace?.description
    return described
  }

  // MARK: Sizes

  /// The most bytes of an entry in a message.
  public static func byteCount(_ plan: ObservePlan) -> Int {
    let filters = plan.filters.reduce(0) { $0 + $1.json.count + 1 }
    return plan.relays.reduce(filters + fixedByteCount) { $0 + $1.utf8.count + 4 }
  }

  /// The most bytes of an entry that fits a frame.
  public static func entryByteMaximum(frameLimit: Int) -> Int { frameLimit - fixedByteCount }

  /// More than everything that an entry and its message have in addition to filters and relays.
  private static let fixedByteCount = 1_024
  private static let removalByteCount = 70
}
