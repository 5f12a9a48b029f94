public import Clocks

/// A worker's state in its life.
///
///     stopped ─► waiting ─► starting ─► ready ─► draining ─► stopping ─► stopped
///                   ▲                                           │
///                   ├──────────────── backoff ◄─────────────────┤
///                   ├──────────────── exec-failed ◄─────────────┤
///                   └─ held, attached ◄── failed, exited ◄──────┘
///
/// A worker leaves `stopping` only when the whole process group and every descendant are gone, so in the states after
/// it nothing of the worker runs. ``Kind/successors`` lists what each may become.
public enum WorkerState: Hashable, Sendable {
  /// Nothing runs, and the operator wants nothing to run.
  case stopped
  /// Wanted, and something must come before its spawn.
  case waiting(WaitingReason)
  /// The process exists; READY has not arrived.
  case starting
  /// It takes work.
  case ready
  /// It gets no new work and finishes what it has.
  case draining
  /// On its way out: asked to leave, or gone while the rest of its group lives on.
  case stopping(StoppingStep)
  /// It left; the next spawn is at this instant.
  case backoff(until: Instant)
  /// The program could not be run; the next attempt is at this instant.
  case execFailed(text: String, until: Instant)
  /// Not started again without a request.
  case failed(FailureReason)
  /// Parked by the operator: nothing runs, its messages are kept.
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

  /// Whether senders may put messages into the worker's mailbox. It stays open through restarts and holds, so that a
  /// sender sees latency and not an error; it is closed where no instance is expected.
  public var keepsMailbox: Bool {
    switch self {
    case .stopped, .failed, .exited: false
    default: true
    }
  }
}

/// What a wanted worker waits for before it has a process.
public enum WaitingReason: Hashable, Sendable {
  /// These workers must be ready first.
  case dependencies([String])
  /// The supervisor has used up its spawns for the moment.
  case spawnRate
  /// The supervisor has no descriptor, memory or disk for another process; with the system's message.
  case resources(String)
  /// An earlier instance still holds the lock of this name; nil when the holder is unknown.
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

/// The steps of stopping. Each, except the first and the last, has a deadline after which a stronger one follows.
public enum StoppingStep: String, Hashable, Sendable, CaseIterable {
  /// The kernel is still making the process; it gets SIGTERM as soon as it exists.
  case unspawned
  /// Expected to leave without a signal: its bus has ended, or its leader is gone and the rest should follow.
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
  /// It was restarted too often; with the breaker's figures at that instant, and how the last life ended.
  case breaker(RestartTally, last: String)
  /// It left with a code that asks for no restart.
  case refused(WorkerExit)
  /// The program could not be run and the policy does not try again; with the system's message.
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
