import Clocks
import Contracts
import Frames
import Nostr
import NostrContracts
import OutboxRouting
import Testing

/// A desired set with its connectors, which do what the contract says: they keep what they are told, and refuse changes
/// of a state that they do not have.
final class InterestBench {
  struct Connector {
    var generation: Int64?
    var version: Int64?
    var requests: [String: DesiredSubscription] = [:]
  }
  var directory: RelayDirectory
  var set = DesiredSubscriptions(generation: 7, frameLimit: 1 << 20)
  var now = Instant(nanoseconds: 1_000_000_000)
  var wall: Int64 = 100_000
  var connectors: [String: Connector] = [:]
  /// Each REQ that was ever opened, in order.
  var opened: [DesiredSubscription] = []
  /// What a key asks, for ever.
  var meanings: [String: DesiredSubscription] = [:]

  init(_ directory: RelayDirectory) {
    self.directory = directory
    for name in directory.connectors { follow(name) }
    set.replan(in: directory, at: now, wall: wall)
    set.settled()
  }

  static func observe(
    _ filters: [Filter], _ policy: ObservePolicy = .cacheWithNetwork, relays: [String] = [], isExclusive: Bool = false
  ) -> ActiveObserve {
    let plan = ObservePlan(filters, policy: policy, relays: relays, isExclusive: isExclusive)
    return ActiveObserve(
      key: "\(plan.key)", filters: plan.filters.map { JSONValue(of: $0) }, policy: policy, relays: plan.relays,
      exclusiveRelays: isExclusive, maxAge: 0, needsNetwork: policy != .cacheOnly, observers: 1)
  }

  func follow(_ name: String) {
    let connector = connectors[name] ?? Connector()
    connectors[name] = connector
    set.reported(
      name, RelayReport(isWhole: true, generation: connector.generation, version: connector.version), at: now)
  }

  /// Begins to wish; its key.
  func interest(_ observe: ActiveObserve) throws -> String {
    set.wished(try #require(Interest(observe)), in: directory, at: now, wall: wall)
    return observe.key
  }

  func interest(kind: UInt16) throws -> String { try interest(Self.observe([Filter(kinds: [kind])])) }

  func end(_ key: String) { set.ended(key, at: now, wall: wall) }

  /// Lets the time of gathering pass, and everything arrive.
  func settle(milliseconds: UInt64 = DesiredSubscriptions.gatherMilliseconds) {
    now = now.advanced(milliseconds: milliseconds)
    wall += Int64(milliseconds / 1_000)
    set.pack(at: now, wall: wall)
    deliver()
  }

  func deliver() {
    for name in connectors.keys.sorted() {
      while let desire = set.nextDesire(for: name) {
        if take(desire, name) {
          set.desireTaken(by: name, version: desire.version)
        } else {
          set.desireFailed(at: name, version: desire.version)
        }
      }
    }
  }

  /// What a connector does with a message; false: refused as `no-such-version`.
  func take(_ desire: RelayDesire, _ name: String) -> Bool {
    #expect(desire.objection == nil)
    var connector = connectors[name] ?? Connector()
    if let base = desire.base, base != connector.version || desire.generation != connector.generation { return false }
    var requests = desire.base == nil ? [:] : connector.requests
    for key in desire.removed { requests[key] = nil }
    for request in desire.changed {
      if let meaning = meanings[request.key] { #expect(meaning == request, "a key asks the same for ever") }
      meanings[request.key] = request
      if connector.requests[request.key] != request { opened.append(request) }
      requests[request.key] = request
    }
    (connector.generation, connector.version, connector.requests) = (desire.generation, desire.version, requests)
    connectors[name] = connector
    return true
  }

  /// All REQs that stand, in the order of relay and size.
  var standing: [DesiredSubscription] {
    connectors.values.flatMap(\.requests.values).sorted { ($0.relay, $0.filters.count) < ($1.relay, $1.filters.count) }
  }

  func report(
    _ state: RequestReport.State, of request: DesiredSubscription, reason: String? = nil, events: UInt64 = 1
  ) {
    let name = connectors.keys.first { connectors[$0]?.requests[request.key] != nil }
    let report = RequestReport(
      key: request.key, relay: request.relay, state: state, reason: reason, storedAt: state == .stored ? wall : nil,
      events: events)
    set.reported(name ?? "", RelayReport(isWhole: false, requests: [report]), at: now)
  }

  func progress(of key: String) -> ObserveProgress {
    set.progress(of: key) ?? ObserveProgress(isObserved: false, isComplete: false, relays: [])
  }
  func fetches() -> [StoreFetched] { set.takeFetches() }
  func changes() -> Set<String> { set.takeChanges() }
  func nextDesire(for name: String) -> RelayDesire? { set.nextDesire(for: name) }

  /// Packs what has gathered, and delivers nothing.
  func pack() {
    now = now.advanced(milliseconds: DesiredSubscriptions.gatherMilliseconds)
    set.pack(at: now, wall: wall)
  }

  func storeAll() { for request in standing { report(.stored, of: request) } }
}
