public import Clocks

/// Where a worker stands in its life.
///
///     stopped ─► waiting ─► starting ─► ready ─► draining ─► stopping ─► stopped
///                   ▲                                           │
///                   ├──────────────── backoff ◄─────────────────┤
///                   ├──────────────── exec-failed ◄─────────────┤
///                   └─ held, attached ◄── failed, exited ◄──────┘
///
/// `stopping` is left only when the whole process group and every descendant are gone, so the states after it promise
/// that nothing of the worker runs. ``Kind/successors`` lists what each may become.
public enum WorkerState: Hashable, Sendable {
  /// Nothing runs and nobody wants it to.
  case stopped
  /// Wanted, and something stands before its spawn.
  case waiting(WaitingReason)
  /// The process is there; READY is not.
  case starting
  /// It takes work.
  case ready
  /// It gets no new work and finishes what it has.
  case draining
  /// On its way out: told to go, or gone while the rest of its group lives on.
  case stopping(StoppingStep)
  /// It left; the next spawn is at this instant.
  case backoff(until: Instant)
  /// The program could not be run; the next try is at this instant.
  case execFailed(text: String, until: Instant)
  /// Not started again until somebody asks.
  case failed(FailureReason)
  /// Parked by the operator: nothing runs, mail is kept.
  case held
  /// A hand-started process took its place; the supervisor neither watches nor restarts it.
  case attached(pid: Int32)
  /// It left, and the policy does not start it again.
  case exited

  /// The state without its details.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case stopped, waiting, starting, ready, draining, stopping, backoff, failed, held, attached, exited
    case execFailed = "exec-failed"
  }

  /// The state without its details. Its raw value is the word that commands print.
  public var kind: Kind {
    switch self {
    case .stopped: .stopped
    case .waiting: .waiting
    case .starting: .starting
    case .ready: .ready
    case .draining: .draining
    case .stopping: .stopping
    case .backoff: .backoff
    case .execFailed: .execFailed
    case .failed: .failed
    case .held: .held
    case .attached: .attached
    case .exited: .exited
    }
  }
}

extension WorkerState.Kind {
  /// What a worker in this state may become.
  public var successors: Set<WorkerState.Kind> {
    switch self {
    case .stopped: [.waiting, .held, .attached]
    case .waiting: [.waiting, .starting, .stopping, .execFailed, .failed, .stopped, .held, .attached]
    case .starting: [.ready, .stopping]
    case .ready: [.draining, .stopping]
    case .draining: [.stopping]
    case .stopping: [.stopping, .waiting, .backoff, .execFailed, .failed, .exited, .stopped, .held, .attached]
    case .backoff, .execFailed, .failed, .exited: [.waiting, .stopped, .held, .attached]
    case .held: [.waiting, .stopped, .attached]
    case .attached: [.waiting, .stopped, .held]
    }
  }

  /// Whether senders may put mail into the worker's mailbox. It stays open through restarts and holds, so a sender sees
  /// latency and not an error; it is closed where no instance is to be expected.
  public var keepsMailbox: Bool {
    switch self {
    case .stopped, .failed, .exited: false
    default: true
    }
  }
}

/// What stands between a wanted worker and its process.
public enum WaitingReason: Hashable, Sendable {
  /// These workers must be ready first.
  case dependencies([String])
  /// The supervisor has used up its spawns for the moment.
  case spawnRate
  /// The supervisor has no descriptor, memory or disk for another process; what the system said.
  case resources(String)
  /// An instance from before still holds the lock of this name; nil when the holder is unknown.
  case instanceLock(holder: Int32?)
  /// The kernel is making the process.
  case spawning

  /// The reason after "waits": `for event-store, signer`.
  public var sentence: String {
    switch self {
    case .dependencies(let names): "for \(names.joined(separator: ", "))"
    case .spawnRate: "its turn: the supervisor spawns only so many a second"
    case .resources(let text): "until the supervisor can make a process again: \(text)"
    case .instanceLock(let holder):
      "for an old instance\(holder.map { " (pid \($0))" } ?? "") that still holds its lock"
    case .spawning: "for its process"
    }
  }
}

/// The steps of stopping. Each but the first and the last has a deadline after which a stronger one comes.
public enum StoppingStep: String, Hashable, Sendable, CaseIterable {
  /// The kernel is still making the process; it will be told to go as soon as it is there.
  case unspawned
  /// Expected to go by itself: its bus has ended, or its leader is gone and the rest should follow.
  case leaving
  /// SIGTERM was sent.
  case terminating
  /// SIGABRT was sent.
  case aborting
  /// SIGKILL was sent, and is repeated until the group is gone.
  case killing
}

/// Why a worker is not started again.
public enum FailureReason: Hashable, Sendable {
  /// It was restarted too often; the arithmetic at that instant, and how the last life ended.
  case breaker(RestartTally, last: String)
  /// It left with a code that asks not to be started again.
  case refused(WorkerExit)
  /// The program could not be run and the policy does not try again; what the system said.
  case notExecutable(String)

  /// What happened and what to do.
  public var sentence: String {
    switch self {
    case .breaker(let tally, let last):
      "\(tally.sentenceWithLimit). It \(last). Find out why it dies, then start it"
    case .refused(let status):
      "it \(status.sentence), which asks not to be started again. Mend the cause, then start it"
    case .notExecutable(let text):
      "it could not be run: \(text)"
    }
  }
}
