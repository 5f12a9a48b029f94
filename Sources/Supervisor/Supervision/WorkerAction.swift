public import Clocks

/// What a ``WorkerMachine`` wants done. The caller does it in the order given.
public enum WorkerAction: Hashable, Sendable {
  /// Take a token from the spawn budget and the lock of this name, and make the process, leader of its own group.
  /// Answered by exactly one of ``WorkerInput/spawned(generation:pid:)``,
  /// ``WorkerInput/spawnFailed(generation:text:)``, ``WorkerInput/lockBusy(generation:holder:)`` and
  /// ``WorkerInput/spawnRateReached(generation:retryAt:)``, now or later.
  case spawn(generation: UInt32)
  /// Send DRAIN with this time to live, at least 1 (a frame's 0 means no limit), and stop routing new work to it.
  case sendDrain(generation: UInt32, milliseconds: UInt64)
  /// Signal the whole process group. Never asked for after the group was reported empty: its number may be another's by
  /// then.
  case signalGroup(generation: UInt32, GroupSignal)
  /// Close the bus without waiting for its end.
  case cutBus(generation: UInt32)

  /// Call back with ``WorkerInput/timerFired(_:)`` at this instant; replaces the timer's earlier instant.
  case setTimer(WorkerTimer, at: Instant)
  /// Forget the timer.
  case cancelTimer(WorkerTimer)

  /// Take mail for this worker and keep it until an instance is ready.
  case openMailbox
  /// Refuse new mail, and answer what is waiting; the reason is for the senders.
  case closeMailbox(reason: String)

  /// Give the hand-started instance the worker's place and its mail.
  case admitAttached(pid: Int32)
  /// Tell the hand-started instance that the place is taken, and cut it.
  case refuseAttached(pid: Int32, reason: String)
  /// Cut the connection of the hand-started instance.
  case dismissAttached(pid: Int32, reason: String)

  /// Tell whoever listens, and the log.
  case announce(StateChange)
  /// A critical worker has failed: the supervisor gives up as a whole.
  case escalate(reason: String)
}

/// The signals a worker's group may get.
public enum GroupSignal: String, Hashable, Sendable, CaseIterable {
  /// SIGTERM: leave.
  case term = "SIGTERM"
  /// SIGABRT: leave, and say where you were.
  case abort = "SIGABRT"
  /// SIGKILL.
  case kill = "SIGKILL"
}

/// The timers of one worker; each runs at most once at a time.
public enum WorkerTimer: String, Hashable, Sendable, CaseIterable {
  /// In `starting`: READY must have come.
  case start
  /// In `draining`: the work in hand must be done.
  case drain
  /// In `stopping`: its bus has ended or its leader is gone, so the rest should follow by itself.
  case leave
  /// In `stopping`: SIGTERM must have worked.
  case term
  /// In `stopping`: the backtrace must be written.
  case abort
  /// In `stopping`: SIGKILL should have worked and is sent again, to what was forked meanwhile.
  case kill
  /// In `stopping`: the group is gone; the exit status or the bus's end is overdue.
  case lastWords = "last-words"
  /// In `backoff` and `exec-failed`: the next spawn.
  case backoff
  /// In `waiting`: ask again whether a spawn is free, or the lock.
  case gate

  /// Whether it ends somebody's patience with the worker, and so is put off after a suspend.
  var isDeadline: Bool {
    switch self {
    case .start, .drain, .leave, .term, .abort: true
    case .kill, .lastWords, .backoff, .gate: false
    }
  }
}

/// One step of a worker's life, for the log and for whoever watches.
public struct StateChange: Hashable, Sendable {
  /// The worker's name.
  public var name: String
  /// The state it left.
  public var from: WorkerState
  /// The state it is in now.
  public var to: WorkerState
  /// Why, after the worker's name: `is ready after 0.4 s`.
  public var sentence: String
  /// When.
  public var at: Instant
}
