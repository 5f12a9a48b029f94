public import Clocks

/// What a ``WorkerMachine`` receives; every input is a past event.
///
/// An input about a process carries its generation. If that is not the live generation, the input is stale and ignored,
/// so a late callback can never harm a successor.
public enum WorkerInput: Hashable, Sendable {
  // The operator

  /// A start was requested.
  case startRequested
  /// A stop was requested. `drain` replaces the policy's drain deadline; EXTEND cannot move it then. A second request
  /// while the first is in progress takes the next step at once: SIGTERM, then SIGKILL.
  case stopRequested(drain: Duration?)
  /// Drain it, then start it at once; the breaker does not count it.
  case restartRequested
  /// Park it: nothing runs, its messages are kept.
  case holdRequested
  /// The end of a hold.
  case releaseRequested
  /// The configuration was read again.
  case policyChanged(WorkerPolicy)

  // A hand-started instance

  /// An instance with a valid token sent HELLO and requests this worker's place.
  case attachArrived(pid: Int32)
  /// Its connection ended, for this reason.
  case attachedLeft(pid: Int32, why: String = "its connection has ended")

  // Before the process

  /// These workers of ``WorkerPolicy/after`` are not ready now; an empty list means that all are.
  case dependenciesChanged(missing: [String])
  /// An answer to ``WorkerAction/spawn(generation:)``: no spawn is free before `retryAt`. Nothing was made.
  case spawnRateReached(generation: UInt32, retryAt: Instant)
  /// An answer to ``WorkerAction/spawn(generation:)``: the supervisor lacks something that every process needs
  /// (descriptors, memory or disk space), with the system's message. Nothing was made, and the worker is not the cause.
  case spawnLacked(generation: UInt32, text: String)
  /// An answer to ``WorkerAction/spawn(generation:)``: an old instance holds the lock of this name. Nothing was made.
  case lockBusy(generation: UInt32, holder: Int32?)
  /// The lock of this name was found free.
  case lockFreed
  /// An answer to ``WorkerAction/spawn(generation:)``: the process exists, leader of its own group.
  case spawned(generation: UInt32, pid: Int32)
  /// An answer to ``WorkerAction/spawn(generation:)``: fork or exec failed, with the system's message. Nothing of the
  /// process is left.
  case spawnFailed(generation: UInt32, text: String)

  // The bus

  /// HELLO arrived.
  case helloReceived(generation: UInt32)
  /// READY arrived.
  case readyReceived(generation: UInt32)
  /// EXTEND arrived: the worker needs this many more milliseconds, from now, to start or to stop.
  case extendReceived(generation: UInt32, milliseconds: UInt64)
  /// The hub has seen the end of its last work in flight.
  case drainFinished(generation: UInt32)
  /// The bus was read to its end, or the supervisor cut it for what the worker did; `cut` follows the word "it".
  case busEnded(generation: UInt32, cut: String? = nil)
  /// The worker broke the protocol and its connection was cut; the refusal's code.
  case violated(generation: UInt32, code: String)
  /// Its waiting work has made no progress for ``WorkerPolicy/stuckAfter``; `why` is the evidence and follows the word
  /// "it".
  case becameStuck(generation: UInt32, why: String)
  /// It uses more memory than its limit.
  case memoryExceeded(generation: UInt32, text: String)
  /// A poisoned message caused its death; the same message was in flight at an earlier death. Neither death counts for
  /// the breaker or the back-off. Arrives before the life is over.
  case deathChargedToPoison(generation: UInt32)

  // The process

  /// The leader of the group is gone.
  case exited(generation: UInt32, WorkerExit)
  /// The process group is empty and every descendant the supervisor adopted from it is gone.
  case groupEmptied(generation: UInt32)

  // Time

  /// The timer's instant has come.
  case timerFired(WorkerTimer)
  /// The machine was suspended for `gap`. Every deadline is extended by one period, because no worker could make
  /// progress.
  case resumedAfterSuspend(gap: Duration)

  /// The generation that the input is about, if it is about one.
  public var generation: UInt32? {
    switch self {
    case .spawnRateReached(let generation, _), .spawnLacked(let generation, _), .lockBusy(let generation, _),
      .spawned(let generation, _),
      .spawnFailed(let generation, _), .helloReceived(let generation), .readyReceived(let generation),
      .extendReceived(let generation, _), .drainFinished(let generation), .busEnded(let generation, _),
      .violated(let generation, _), .becameStuck(let generation, _), .memoryExceeded(let generation, _),
      .deathChargedToPoison(let generation), .exited(let generation, _), .groupEmptied(let generation):
      generation
    case .startRequested, .stopRequested, .restartRequested, .holdRequested, .releaseRequested, .policyChanged,
      .attachArrived, .attachedLeft, .dependenciesChanged, .lockFreed, .timerFired, .resumedAfterSuspend:
      nil
    }
  }
}
