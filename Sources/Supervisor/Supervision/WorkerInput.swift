public import Clocks

/// What a ``WorkerMachine`` can be told, all of it past events.
///
/// Inputs about a process carry its generation; one that is not the live generation's is stale and ignored, so a
/// callback that comes late can never harm a successor.
public enum WorkerInput: Hashable, Sendable {
  // The operator

  /// Somebody wants it to run.
  case startRequested
  /// Somebody wants it gone. `drain` replaces the policy's drain deadline, and no EXTEND moves it then. A second
  /// request while the first is under way takes the next step at once: SIGTERM, then SIGKILL.
  case stopRequested(drain: Duration?)
  /// Drain it, then start it at once; the breaker does not count it.
  case restartRequested
  /// Park it: nothing runs, mail is kept.
  case holdRequested
  /// The end of a hold.
  case releaseRequested
  /// The configuration was read again.
  case policyChanged(WorkerPolicy)

  // A hand-started instance

  /// One with a valid token said HELLO and wants this worker's place.
  case attachArrived(pid: Int32)
  /// Its connection ended, and why.
  case attachedLeft(pid: Int32, why: String = "its connection has ended")

  // Before the process

  /// Of the workers in ``WorkerPolicy/after``, these are not ready now; none means that all are.
  case dependenciesChanged(missing: [String])
  /// An answer to ``WorkerAction/spawn(generation:)``: no spawn is free before `retryAt`. Nothing was made.
  case spawnRateReached(generation: UInt32, retryAt: Instant)
  /// An answer to ``WorkerAction/spawn(generation:)``: the supervisor lacks what every process needs, descriptors or
  /// memory or room on its disk, and what the system said. Nothing was made, and the worker has no part in it.
  case spawnLacked(generation: UInt32, text: String)
  /// An answer to ``WorkerAction/spawn(generation:)``: an old instance holds the lock of this name. Nothing was made.
  case lockBusy(generation: UInt32, holder: Int32?)
  /// The lock of this name was seen free.
  case lockFreed
  /// An answer to ``WorkerAction/spawn(generation:)``: the process is there, leader of its own group.
  case spawned(generation: UInt32, pid: Int32)
  /// An answer to ``WorkerAction/spawn(generation:)``: fork or exec failed, and what the system said. Nothing is left
  /// of it.
  case spawnFailed(generation: UInt32, text: String)

  // The bus

  /// HELLO came.
  case helloReceived(generation: UInt32)
  /// READY came.
  case readyReceived(generation: UInt32)
  /// EXTEND came: it needs so many more milliseconds, from now, to start or to stop.
  case extendReceived(generation: UInt32, milliseconds: UInt64)
  /// The hub has seen the last of its work in hand.
  case drainFinished(generation: UInt32)
  /// The bus was read to its end; or it was cut from it for what it did, which reads after "it".
  case busEnded(generation: UInt32, cut: String? = nil)
  /// It broke the protocol and its connection was cut; the refusal's code.
  case violated(generation: UInt32, code: String)
  /// Its waiting work has not moved for ``WorkerPolicy/stuckAfter``; why one thinks so, after "it".
  case becameStuck(generation: UInt32, why: String)
  /// It uses more memory than it may.
  case memoryExceeded(generation: UInt32, text: String)
  /// Its death is the work of one poisoned message that was in hand at an earlier death as well. Neither death counts
  /// for the breaker or the waits. Comes before the life is over.
  case deathChargedToPoison(generation: UInt32)

  // The process

  /// The leader of the group is gone.
  case exited(generation: UInt32, WorkerExit)
  /// The process group is empty and every descendant the supervisor adopted from it is gone.
  case groupEmptied(generation: UInt32)

  // Time

  /// The timer's instant has come.
  case timerFired(WorkerTimer)
  /// The machine slept for `gap`: every deadline is granted one period more, since nobody could work towards it.
  case resumedAfterSuspend(gap: Duration)

  /// The generation it speaks of, if it speaks of one.
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
