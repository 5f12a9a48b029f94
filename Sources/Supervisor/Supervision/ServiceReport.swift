public import Clocks

// What a service manager hears of the supervisor (sd_notify(3)): when it is ready, how it is in plain words, and how
// much more time it needs. Pure: the supervisor gives the states of its workers, and sends what comes back.
//
//     starting ─► ready ⇄ reloading
//         └─────────┴─────────┴────► stopping
//
// Ready means that each worker that was started is ready or has had its chance: it failed, is held, or waits for
// another one that did. So what is ordered after Roost finds it usable, and a worker that cannot start does not hold it
// up.

/// The messages to a service manager.
public struct ServiceReport: Sendable {
  /// A worker as it counts here.
  public struct Worker: Sendable {
    /// Its name.
    public var name: String
    /// Its state.
    public var state: WorkerState
    /// What it says of its own work; nil if nothing.
    public var note: String?
    /// When it must be ready, while it is starting, or be gone, while it stops; nil without such a deadline.
    public var deadline: Instant?

    /// A worker.
    public init(name: String, state: WorkerState, note: String? = nil, deadline: Instant? = nil) {
      (self.name, self.state, self.note, self.deadline) = (name, state, note, deadline)
    }

    /// Whether it comes up by itself: it is starting, or waits only for workers that are.
    ///
    /// - Parameter depth: how many workers may wait for each other in a row.
    func isComing(among workers: [Worker], depth: Int) -> Bool {
      switch state {
      case .starting, .waiting(.spawning), .waiting(.spawnRate): true
      case .waiting(.dependencies(let names)) where depth > 0:
        names.allSatisfy { name in
          workers.contains {
            $0.name == name && ($0.state == .ready || $0.isComing(among: workers, depth: depth - 1))
          }
        }
      default: false
      }
    }
  }

  private enum Phase { case starting, ready, stopping }

  private var phase = Phase.starting
  private var isReloading = false
  private var status = ""
  private var grantedUntil: Instant?

  /// The longest status, in characters; what is longer is cut.
  public static let statusCountMaximum = 200
  /// What is asked for beyond a worker's deadline, in milliseconds: the time in which the supervisor ends it.
  static let marginMilliseconds: UInt64 = 15_000

  /// A supervisor that has just begun.
  public init() {}

  /// The states of the workers as they are now; a line for each thing that the service manager does not know yet.
  public mutating func looked(at workers: [Worker], now: Instant) -> [String] {
    var lines: [String] = []
    let coming = workers.filter { $0.isComing(among: workers, depth: workers.count) }
    if phase == .starting, coming.isEmpty {
      phase = .ready
      lines.append("READY=1")
    }
    if let more = extensionNeeded(by: coming, now: now) { lines.append(more) }
    let text = String(sentence(workers, coming).prefix(Self.statusCountMaximum))
    if text != status {
      status = text
      lines.append("STATUS=\(text)")
    }
    return lines
  }

  /// A reload begins. Before READY a service manager does not hear of it.
  public mutating func reloadBegan(monotonicMicroseconds: UInt64) -> [String] {
    guard phase == .ready, !isReloading else { return [] }
    isReloading = true
    status = "Reloading the configuration"
    return ["RELOADING=1", "MONOTONIC_USEC=\(monotonicMicroseconds)", "STATUS=\(status)"]
  }

  /// The reload has ended; ``looked(at:now:)`` says how things are after it.
  public mutating func reloadEnded() -> [String] {
    guard isReloading else { return [] }
    isReloading = false
    return phase == .ready ? ["READY=1"] : []
  }

  /// The stop begins, and ends by `deadline` at the latest.
  public mutating func stopBegan(now: Instant, by deadline: Instant) -> [String] {
    phase = .stopping
    grantedUntil = nil
    let milliseconds = deadline.milliseconds(since: now) + Self.marginMilliseconds
    return ["STOPPING=1", "EXTEND_TIMEOUT_USEC=\(milliseconds * 1_000)"]
  }

  /// While it starts, the service manager must wait as long as each worker may take: a database that is rescued takes
  /// minutes, and the worker asks for more time as it makes progress.
  private mutating func extensionNeeded(by coming: [Worker], now: Instant) -> String? {
    guard phase == .starting, let last = coming.compactMap(\.deadline).max() else { return nil }
    let end = last.advanced(milliseconds: Self.marginMilliseconds)
    if let grantedUntil, end <= grantedUntil { return nil }
    grantedUntil = end
    return "EXTEND_TIMEOUT_USEC=\(end.milliseconds(since: now) * 1_000)"
  }

  // MARK: The sentence

  private func sentence(_ workers: [Worker], _ coming: [Worker]) -> String {
    let ready = workers.count { $0.state == .ready }
    let tally = "\(ready) of \(workers.count) \(workers.count == 1 ? "worker" : "workers") ready"
    switch phase {
    case .stopping:
      let left = workers.filter { !Self.isAtRest($0.state) }.map(\.name)
      return left.isEmpty ? "Stopping" : "Stopping; still there: \(left.joined(separator: ", "))"
    case .starting:
      let notes = coming.map { $0.name + ($0.note.map { ": \($0)" } ?? "") }
      return "Starting; \(tally); coming: \(notes.joined(separator: ", "))"
    case .ready:
      let troubled = workers.compactMap(Self.trouble)
      return troubled.isEmpty ? tally : "\(tally); \(troubled.joined(separator: ", "))"
    }
  }

  private static func trouble(_ worker: Worker) -> String? {
    switch worker.state {
    case .failed: "\(worker.name) has failed (roost why \(worker.name))"
    case .execFailed: "\(worker.name) cannot be run (roost why \(worker.name))"
    case .backoff: "\(worker.name) has died and is started again"
    case .held: "\(worker.name) is held"
    case .starting, .waiting: "\(worker.name) is starting" + (worker.note.map { ": \($0)" } ?? "")
    case .stopped, .exited, .attached, .ready, .draining, .stopping: nil
    }
  }

  private static func isAtRest(_ state: WorkerState) -> Bool {
    switch state.kind {
    case .stopped, .exited, .failed, .held, .attached: true
    default: false
    }
  }
}
