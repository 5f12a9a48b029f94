internal import Addresses
public import Clocks
public import Contracts
internal import Nostr

// Packs go to connectors, and their reports come back.
//
// The planner keeps, for each connector, the last set of subscriptions that the connector confirmed. The next message
// is the difference to that set. If the set is unknown (the planner or the connector is new, or an answer was lost),
// the planner sends all subscriptions, in several messages if they exceed a frame. One message at a time is in flight.

extension DesiredSubscriptions {
  /// What a connector has, and what is in flight to it.
  struct WorkerLine: Sendable {
    struct State: Sendable {
      var version: Int64
      var requests: [String: DesiredSubscription]
    }
    /// The state that the connector confirmed; nil when it is unknown.
    var base: State?
    var sent: State?
    /// Whether it has subscriptions of another generation.
    var hasOthers = false
    /// A `relay.follow` of this connector is in flight.
    var isFollowed = false
  }

  // MARK: To connectors

  /// The next message for a connector. Nil when the connector is up to date, is not followed, or has not answered the
  /// last message.
  public mutating func nextDesire(for worker: String) -> RelayDesire? {
    guard var line = lines[worker], line.isFollowed, line.sent == nil else { return nil }
    var wanted: [String: DesiredSubscription] = [:]
    for (key, pack) in packs where pack.worker == worker { wanted[key] = pack.request }
    let known = line.base?.requests ?? [:]
    let removed = known.keys.filter { wanted[$0] == nil }.sorted()
    // The connector dials in this order: first where most people are to be found.
    let weights = Dictionary(uniqueKeysWithValues: wanted.keys.filter { known[$0] == nil }.map { ($0, weight(of: $0)) })
    let new = weights.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    guard !removed.isEmpty || !new.isEmpty || (line.base == nil && line.hasOthers) else { return nil }
    lastVersion += 1
    var state = WorkerLine.State(version: lastVersion, requests: known)
    for key in removed { state.requests[key] = nil }
    var changed: [DesiredSubscription] = []
    var byteCount = removed.count * (DesiredSubscription.keyByteCountMaximum + 3)
    for key in new {
      guard let request = wanted[key] else { continue }
      byteCount += packs[key]?.byteCount ?? 0
      // What does not fit goes into the next message.
      if !changed.isEmpty, byteCount > byteMaximum { break }
      changed.append(request)
      state.requests[key] = request
    }
    let desire = RelayDesire(
      generation: generation, version: lastVersion, base: line.base?.version, changed: changed, removed: removed)
    line.sent = state
    lines[worker] = line
    return desire
  }

  /// The keys of the interests that a REQ is for, in their order.
  public func interests(ofRequest key: String) -> [String] {
    Set((packs[key]?.demands ?? []).flatMap { demands[$0]?.wishes ?? [] }).sorted()
  }

  /// How many people a REQ asks for.
  private func weight(of pack: String) -> Int {
    packs[pack]?.demands.reduce(0) { count, id in
      (demands[id]?.filters ?? []).reduce(count) { $0 + RelayDirectory.subjects(of: $1).count }
    } ?? 0
  }

  /// A connector has taken the message with this version. An outdated version is ignored.
  public mutating func desireTaken(by worker: String, version: Int64) {
    guard let sent = lines[worker]?.sent, sent.version == version else { return }
    lines[worker]?.base = sent
    lines[worker]?.sent = nil
    lines[worker]?.hasOthers = false
  }

  /// A connector has refused the message with this version, or its answer was lost. The next message has all
  /// subscriptions.
  public mutating func desireFailed(at worker: String, version: Int64) {
    guard lines[worker]?.sent?.version == version else { return }
    lines[worker]?.base = nil
    lines[worker]?.sent = nil
    lines[worker]?.hasOthers = true
  }

  /// The answer to `relay.follow` has ended.
  public mutating func followEnded(of worker: String) {
    lines[worker]?.isFollowed = false
  }

  /// Forgets all connectors but these.
  public mutating func connectorsAre(_ names: Set<String>) {
    lines = lines.filter { names.contains($0.key) }
  }

  // MARK: From connectors

  /// A part of the answer to `relay.follow`.
  public mutating func reported(_ worker: String, _ report: RelayReport, at now: Instant) {
    if report.isWhole { began(worker, report) }
    for relay in report.relays { noteReach(of: relay) }
    for request in report.requests where packs[request.key]?.worker == worker {
      reports[request.key] = request
      receivedReport(of: request.key, at: now)
    }
  }

  private mutating func began(_ worker: String, _ report: RelayReport) {
    var line = lines[worker] ?? WorkerLine()
    line.isFollowed = true
    // A message may have arrived although its answer was lost.
    let has = [line.base, line.sent].compactMap { $0 }.first {
      report.generation == generation && report.version == $0.version
    }
    line.base = has
    line.sent = nil
    line.hasOthers = report.generation != nil
    lines[worker] = line
    for (key, pack) in packs where pack.worker == worker {
      if reports.removeValue(forKey: key) != nil { for id in pack.demands { noteChange(ofDemand: id) } }
    }
  }

  private mutating func noteReach(of relay: RelayStates.Relay) {
    guard let url = RelayURL(canonical: relay.relay) else { return }
    slots[url] = relay.subscriptionMaximum
    // `waiting`: the last attempt failed, and the back-off has not ended. A relay that waits for the budget of its
    // connector will be dialled, so its answer is still expected.
    let isLeftAlone = (relay.state == .waiting && relay.waitsForBudget != true) || relay.state == .quarantined
    unreachable[url] = isLeftAlone ? relay.reason ?? "it cannot be reached" : nil
    guard unreachable[url] != nil else { return }
    for (id, demand) in demands where id.relay == url && demand.pack != nil && !demand.hasFailed {
      demands[id]?.hasFailed = true
      noteChange(ofDemand: id)
    }
  }

  private mutating func receivedReport(of key: String, at now: Instant) {
    guard let pack = packs[key], let report = reports[key] else { return }
    for id in pack.demands {
      noteChange(ofDemand: id)
      if report.state == .stored { noteStored(id, isWhole: report.isWhole) }
      // `asked` with a reason: the EOSE is overdue, so the progress does not wait for it.
      if report.state == .asked, report.reason != nil { demands[id]?.hasFailed = true }
    }
    let isShared = Set(pack.demands.map(\.question)).count > 1
    if report.state == .refused, report.isAboutRelay != true, isShared {
      // The relay rejects one of these demands. Asking for each alone finds out which. If the relay refuses because of
      // its own bounds, that would be ten REQs instead of one, at a relay that has too many.
      for id in pack.demands { demands[id]?.isAlone = true }
      packs[key]?.isDirty = true
    }
    if packs[key]?.isDirty == true, report.state == .stored || report.state == .refused { gather(at: now) }
  }

  private mutating func noteChange(ofDemand id: DemandID) {
    for key in demands[id]?.wishes ?? [] { noteChange(of: key) }
  }

  // MARK: Progress

  /// The progress of an interest at its relays; nil for an unknown key.
  public func progress(of key: String) -> ObserveProgress? {
    guard let entry = entries[key] else { return nil }
    let relays = entry.stops.map { progress(of: $0) }
    let isComplete = isSettled && entry.stops.allSatisfy { isOver($0, for: entry) }
    return ObserveProgress(isObserved: true, isComplete: isComplete, relays: relays)
  }

  /// Whether the relay will send no more stored events.
  private func isOver(_ id: DemandID, for entry: Entry) -> Bool {
    guard let demand = demands[id] else { return true }
    if entry.stored.contains(id) || demand.hasFailed { return true }
    return demand.pack.flatMap { reports[$0] }?.state == .refused
      && demand.pack.map { packs[$0]?.isDirty != true } == true
  }

  private func progress(of id: DemandID) -> ObserveProgress.Relay {
    guard let demand = demands[id] else {
      return ObserveProgress.Relay(relay: id.relay.text, state: .waiting, reason: nil, events: 0)
    }
    if demand.isOver {
      return ObserveProgress.Relay(relay: id.relay.text, state: .stored, reason: nil, events: demand.events)
    }
    guard let pack = demand.pack, let report = reports[pack] else {
      return ObserveProgress.Relay(
        relay: id.relay.text, state: .waiting, reason: demand.waits ?? unreachable[id.relay], events: demand.events)
    }
    return ObserveProgress.Relay(
      relay: id.relay.text, state: report.state,
      reason: report.reason ?? (report.state == .waiting ? unreachable[id.relay] : nil),
      events: demand.events + report.events)
  }
}

extension RequestReport {
  /// Whether all stored events that were wanted are here.
  var isWhole: Bool { end == nil || end == .drained }
}
