public import Contracts
internal import Cryptography
internal import Frames
public import Nostr
public import NostrContracts

// Who observes what, and what has changed of it since it was told last. A value without I/O.
//
//    begin, end ─▶ entries by plan ─▶ changed keys ─ takeChanges ─▶ the topic, one message after the other
//                        └────────────────────────── list ────────▶ whoever starts
//
// Changes are gathered by key, and a message takes the entries as they are when it is made. So however slowly the topic
// moves, no more waits than there are entries, and an entry that came and went meanwhile is never heard of, unless a
// list had it. A list has the version of the last message made: what has changed since then comes in the next one as
// well, and being whole does no harm a second time.
//
// Bounds: observers by whoever calls `begin`; the bytes of an entry by `ObserveTable.entryByteMaximum(frameLimit:)`,
// which he asks first; keys that were told and are gone by what is told.

/// An observer's name: who he is, and what he calls the observation.
public struct ObserverName: Hashable, Sendable {
  /// The caller's endpoint.
  public let caller: UInt32
  /// His name for it.
  public let id: String

  /// A name.
  public init(caller: UInt32, id: String) {
    self.caller = caller
    self.id = id
  }
}

/// The set of active observes.
public struct ObserveTable: Sendable {
  /// The life of the process: versions of another one count nothing here.
  public let generation: Int64
  /// The last message's version.
  public private(set) var version: Int64 = 0

  private struct Observer: Sendable {
    let key: FilterKey
    let placeKey: FilterKey
    let name: ObserverName?
    let maxAge: Int64
    let needsNetwork: Bool
  }
  private struct Entry: Sendable {
    let plan: ObservePlan
    let byteCount: Int
    var observers: Set<UInt64> = []
  }

  private var observers: [UInt64: Observer] = [:]
  private var names: [ObserverName: UInt64] = [:]
  private var entries: [FilterKey: Entry] = [:]
  /// Keys that others have been told of.
  private var told: Set<FilterKey> = []
  private var changed: Set<FilterKey> = []

  /// Nobody observes.
  public init(generation: Int64) { self.generation = generation }

  /// How many observe.
  public var observerCount: Int { observers.count }
  /// How many things are observed.
  public var entryCount: Int { entries.count }
  /// Whether there is something to be told.
  public var hasChanges: Bool { !changed.isEmpty }

  // MARK: Coming and going

  /// Somebody begins to observe.
  ///
  /// - Parameters:
  ///   - observer: a number never used before.
  ///   - plan: what he observes.
  ///   - maxAge: seconds; the network need not be asked if it was no longer ago.
  ///   - fetchedAt: when it was asked last, seconds since 1970.
  ///   - name: by which he is known, if at all.
  ///   - now: seconds since 1970.
  /// - Returns: the observer who had the same name, and must be ended.
  public mutating func begin(
    _ observer: UInt64, _ plan: ObservePlan, maxAge: Int64 = 0, fetchedAt: Int64? = nil, name: ObserverName? = nil,
    now: Int64
  ) -> UInt64? {
    precondition(observers[observer] == nil, "an observer's number is used once")
    observers[observer] = Observer(
      key: plan.key, placeKey: plan.placeKey, name: name, maxAge: max(0, maxAge),
      needsNetwork: plan.needsNetwork(maxAge: maxAge, fetchedAt: fetchedAt, now: now))
    entries[plan.key, default: Entry(plan: plan, byteCount: Self.byteCount(plan))].observers.insert(observer)
    changed.insert(plan.key)
    guard let name else { return nil }
    return names.updateValue(observer, forKey: name)
  }

  /// Somebody observes no more.
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

  /// What is observed under a name now, as places are kept by.
  public func plan(of name: ObserverName) -> FilterKey? { names[name].flatMap { observers[$0]?.placeKey } }

  // MARK: Telling

  /// The next message for the topic; nil when all has been told.
  ///
  /// - Parameter byteMaximum: most bytes of its entries together; one that has more goes alone.
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

  /// All entries, in the order of their keys, to be told to somebody. From then on he must hear of the end of each.
  public mutating func takeList() -> [ActiveObserve] {
    told.formUnion(entries.keys)
    return entries.values.sorted { $0.plan.key.digest < $1.plan.key.digest }.map(described)
  }

  private func described(_ entry: Entry) -> ActiveObserve {
    let observers = entry.observers.compactMap { self.observers[$0] }
    return ActiveObserve(
      key: "\(entry.plan.key)", filters: entry.plan.filters.map { JSONValue(of: $0) }, policy: entry.plan.policy,
      relays: entry.plan.relays, exclusiveRelays: entry.plan.isExclusive, maxAge: observers.map(\.maxAge).min() ?? 0,
      needsNetwork: observers.contains(where: \.needsNetwork), observers: observers.count)
  }

  // MARK: Sizes

  /// Bytes of an entry as it is told, at most.
  public static func byteCount(_ plan: ObservePlan) -> Int {
    let filters = plan.filters.reduce(0) { $0 + $1.json.count + 1 }
    return plan.relays.reduce(filters + fixedByteCount) { $0 + $1.utf8.count + 4 }
  }

  /// Most bytes of an entry that fits into a frame.
  public static func entryByteMaximum(frameLimit: Int) -> Int { frameLimit - fixedByteCount }

  /// More than all that an entry and its message have besides filters and relays.
  private static let fixedByteCount = 1_024
  private static let removalByteCount = 70
}
