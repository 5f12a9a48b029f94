public import Clocks

/// What a ``WorkerMachine`` requests. The caller performs the actions in the order given.
public enum WorkerAction: Hashable, Sendable {
  /// Take a token from the spawn budget and the lock of this name, and make the process, leader of its own group. The
  /// answer is exactly one of ``WorkerInput/spawned(generation:pid:)``, ``WorkerInput/spawnFailed(generation:text:)``,
  /// ``WorkerInput/lockBusy(generation:holder:)``, ``WorkerInput/spawnRateReached(generation:retryAt:)`` and
  /// `WorkerInput.spawnLacked(generation:text:)`, now or later.
  case spawn(generation: UInt32)
  /// Send DRAIN with this time to live, at least 1 (a frame's 0 means no limit), and route no new work to the worker.
  case sendDrain(generation: UInt32, milliseconds: UInt64)
  /// Signal the whole process group. Never requested after the group was reported empty: its number may belong to
  /// another group by then.
  case signalGroup(generation: UInt32, GroupSignal)
  /// Close the bus without waiting for its end.
  case cutBus(generation: UInt32)

  /// Call back with ``WorkerInput/timerFired(_:)`` at this instant; replaces the timer's earlier instant.
  case setTimer(WorkerTimer, at: Instant)
  /// Forget the timer.
  case cancelTimer(WorkerTimer)

  /// Accept messages for this worker and keep them until an instance is ready.
  case openMailbox
  /// Refuse new messages, and answer those that wait; the reason is for the senders.
  case closeMailbox(reason: String)

  /// Give the hand-started instance the worker's place and its messages.
  case admitAttached(pid: Int32)
  /// Tell the hand-started instance that the place is taken, and cut its connection.
  case refuseAttached(pid: Int32, reason: String)
  /// Cut the connection of the hand-started instance.
  case dismissAttached(pid: Int32, reason: String)

  /// Report the change to the watchers and the log.
  case announce(StateChange)
  /// A critical worker has failed: the whole supervisor gives up.
  case escalate(reason: String)
}

/// The signals that a worker's group may get.
public enum GroupSignal: String, Hashable, Sendable, CaseIterable {
  /// SIGTERM: leave.
  case term = "SIGTERM"
  /// SIGABRT: write a backtrace and leave.
  case abort = "SIGABRT"
  /// SIGKILL.
  case kill = "SIGKILL"
}

/// The timers of one worker; each runs at most once at a time.
public enum WorkerTimer: String, Hashable, Sendable, CaseIterable {
  /// In `starting`: READY must have arrived.
  case start
  /// In `draining`: the work in flight must be done.
  case drain
  /// In `stopping`: the bus has ended or the leader is gone, so the rest should follow without a signal.
  case leave
  /// In `stopping`: SIGTERM must have worked.
  case term
  /// In `stopping`: the backtrace must be written.
  case abort
  /// In `stopping`: SIGKILL should have worked; it is sent again, to processes that were forked meanwhile.
  case kill
  /// In `stopping`: the group is gone; the exit status or the bus's end is overdue.
  case lastWords = "last-words"
  /// In `backoff` and `exec-failed`: the next spawn.
  case backoff
  /// In `waiting`: check again whether a spawn or the lock is free.
  case gate

  /// Whether it limits the time that the worker has for something, and so is extended after a suspend.
  var isDeadline: Bool {
    switch self {
    case .start, .drain, .leave, .term, .abort: true
    case .kill, .lastWords, .backoff, .gate: false
    }
  }
}

/// One step of a worker's life, for the log and for watchers.
public struct StateChange: Hashable, Sendable {
  /// The worker's name.
  public var name: String
  /// The state it left.
  public var from: WorkerState
  /// The state it is in now.
  public var to: WorkerState
  /// Why, as text after the worker's name: `is ready after 0.4 s`.
  public var sentence: String
  /// When.
  public var at: Instant
}
