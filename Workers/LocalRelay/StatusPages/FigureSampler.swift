internal import Contracts

// Takes a sample of a snapshot. Some figures are what was added since the sample before: the sampler knows the counters
// of that one. A counter that has become smaller began again with its process, and what it says now was added since.

/// Makes samples of snapshots.
public struct FigureSampler: Sendable {
  /// The counters of a sample.
  private struct Counters {
    var at: Int64
    /// The store's last seq.
    var seq: Int64?
    /// Refusals and failed connections of each relay, by connector.
    var relays: [String: [String: (refusals: UInt64, failures: UInt64)]] = [:]
  }

  private var before: Counters?

  /// No sample yet.
  public init() {}

  /// Longest time since the sample before, in periods, for which what was added is a figure: after a longer one, such
  /// as the sleep of the machine, it would be a peak that never was.
  private static let periodMaximum: Int64 = 3

  /// The sample of a snapshot.
  public mutating func sampled(_ snapshot: RoostSnapshot) -> FigureSample {
    var counters = Counters(at: snapshot.at)
    counters.seq = snapshot.store.value?.seq
    for connector in snapshot.connectors {
      guard let relays = connector.relays.value?.relays else { continue }
      counters.relays[connector.name] = Dictionary(
        relays.map { ($0.relay, ($0.refusals, $0.failures)) }, uniquingKeysWith: { $1 })
    }
    var sample = FigureSample(at: snapshot.at)
    addLevels(snapshot, to: &sample)
    if let before, counters.at > before.at,
      counters.at - before.at <= Self.periodMaximum * FigureHistory.periodSeconds
    {
      sample.coveredSeconds = UInt32(counters.at - before.at)
      if let (old, new) = both(before.seq, counters.seq), new >= old { sample[.newEvents] = new - old }
      addRelays(from: before, to: counters, &sample)
    }
    before = counters
    return sample
  }

  private func both<Value>(_ first: Value?, _ second: Value?) -> (Value, Value)? {
    first.flatMap { first in second.map { (first, $0) } }
  }

  private func addRelays(from before: Counters, to now: Counters, _ sample: inout FigureSample) {
    for (connector, relays) in now.relays {
      guard let old = before.relays[connector] else { continue }
      var (refusals, failures) = (sample[.refusals] ?? 0, sample[.connectFailures] ?? 0)
      for (url, counts) in relays {
        let last = old[url] ?? (0, 0)
        refusals += Self.added(from: last.refusals, to: counts.refusals)
        failures += Self.added(from: last.failures, to: counts.failures)
      }
      (sample[.refusals], sample[.connectFailures]) = (refusals, failures)
    }
  }

  private static func added(from old: UInt64, to new: UInt64) -> Int64 {
    Int64(clamping: new >= old ? new - old : new)
  }

  private func addLevels(_ snapshot: RoostSnapshot, to sample: inout FigureSample) {
    sample[.clients] = Int64(snapshot.local.connections)
    sample[.storedEvents] = snapshot.store.value?.events
    if let plan = snapshot.plan.value {
      func count(_ state: Publication.State) -> Int64 { Int64(plan.publications[state.rawValue] ?? 0) }
      sample[.queued] = count(.optimistic) + count(.partial)
      sample[.unpublished] = count(.failed)
    }
    if let mirror = snapshot.mirror.value, !mirror.entries.isEmpty {
      let entries = mirror.entries.filter { $0.kind != .follows }
      let relays = entries.reduce(0) { $0 + $1.relays.count }
      if relays > 0 {
        sample[.mirrored] = Int64(entries.reduce(0) { $0 + $1.completeCount } * 1_000 / relays)
      }
      sample[.lackingCopies] = mirror.copies.reduce(0) { sum, copies in
        sum + copies.relays.reduce(0) { $0 + Int64($1.open) }
      }
    }
    if let jobs = snapshot.jobs.value {
      sample[.askedJobs] = Job.State.allCases.filter { !$0.isFinal }.reduce(0) {
        $0 + Int64(jobs.jobs[$1.rawValue] ?? 0)
      }
    }
    if let serving = snapshot.serving.value {
      sample[.servedJobs] = Int64(serving.waiting) + serving.services.reduce(0) { $0 + Int64($1.running) }
    }
    if let supervisor = snapshot.supervisor.value {
      let bytes = supervisor.workers.compactMap(\.residentBytes).reduce(supervisor.residentBytes ?? 0, &+)
      sample[.memory] = Int64(clamping: bytes)
    }
    addRelayLevels(snapshot, to: &sample)
  }

  private func addRelayLevels(_ snapshot: RoostSnapshot, to sample: inout FigureSample) {
    guard snapshot.connectors.contains(where: { $0.relays.value != nil }) else { return }
    let relays = snapshot.relays
    sample[.openRelays] = Int64(relays.count { $0.state == .open })
    sample[.wantedRelays] = Int64(relays.count { $0.state != .idle })
    let latencies = relays.filter { $0.state == .open }.compactMap(\.storedMilliseconds).sorted()
    guard !latencies.isEmpty else { return }
    sample[.medianLatency] = Int64(clamping: latencies[(latencies.count - 1) / 2])
    sample[.slowLatency] = Int64(clamping: latencies[(latencies.count * 9 - 1) / 10])
  }
}
