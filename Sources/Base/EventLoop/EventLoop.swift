public import Clocks
internal import CLibUV
internal import Glibc
internal import Synchronization

// The one loop of a process, as the executor of its one isolation.
//
// A libuv loop on one thread is also a Swift serial executor and task executor. `EventLoopActor` is the global actor
// that runs on it. All code that touches a handle is isolated to that actor, so the compiler keeps other threads away
// from handles, and nothing needs a lock.
//
// Why both kinds of executor: continuations resume on the task's preferred executor. Without a preference they resume
// on the generic pool and hop back, 40 µs per await. With it, and with jobs run by
// `runSynchronously(isolatedTo:taskExecutor:)`, an await stays on the thread and costs well under a microsecond. So
// tasks start with `EventLoopActor.task`.
//
// One turn: timers → prepare (run jobs, flush output) → poll → check (run jobs, flush output) → close callbacks. Jobs
// enqueued by jobs run in the same turn, up to `jobRoundsPerTurn` rounds. If jobs are left then, the poll does not
// block, so neither jobs nor sockets can starve the other.
//
// Rejected: libuv's own model of a callback per await (no structured concurrency); Dispatch as the executor (a second
// event loop in each process, and an await costs a thread hop).

// @unchecked: mutable state is touched on the loop's thread only, except `remote`, a mutex, and `owner`, an atomic.
// Other threads call only uv_hrtime and, with `wake`, uv_async_send, which libuv allows on any thread.

/// The libuv loop of this process.
///
/// Created on first use, and run by the thread that calls ``run()``: the main thread of every Roost program, which runs
/// it for life (a worker's parent-death signal depends on that thread).
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  /// The loop of this process.
  public static let process = EventLoop()

  let raw: UnsafeMutablePointer<uv_loop_t>
  private let wake: UnsafeMutablePointer<uv_async_t>
  private let prepare: UnsafeMutablePointer<uv_prepare_t>
  private let check: UnsafeMutablePointer<uv_check_t>
  private let idle: UnsafeMutablePointer<uv_idle_t>
  private let owner = Atomic<UInt>(0)
  private let remote = Mutex<[UnownedJob]>([])

  // Loop thread only.
  private var local: [UnownedJob] = []
  private var running: [UnownedJob] = []
  private var isDraining = false
  private var isIdleActive = false
  private var unflushed: [ByteStream] = []
  private var atEnd: [@EventLoopActor () -> Void] = []
  private var turnStartReading: Instant?
  /// Counts the polls.
  private(set) var turn: UInt64 = 0
  let readBuffer: UnsafeMutableRawBufferPointer

  /// Rounds of jobs in one turn before sockets are polled again.
  private static let jobRoundsPerTurn = 64
  /// Bytes of the read buffer that all streams of the loop share.
  static let readBufferByteCount = 256 << 10

  private init() {
    raw = .allocate(capacity: 1)
    wake = .allocate(capacity: 1)
    prepare = .allocate(capacity: 1)
    check = .allocate(capacity: 1)
    idle = .allocate(capacity: 1)
    readBuffer = .allocate(byteCount: Self.readBufferByteCount, alignment: 64)
    StandardDescriptors.ensureOpen()
    // libuv writes to sockets with write(2): without this, a peer's death would kill the process.
    signal(SIGPIPE, SIG_IGN)
    let made = uv_loop_init(raw)
    precondition(made == 0, "libuv could not make its loop: \(String(cString: uv_strerror(made)))")
    let status = uv_async_init(raw, wake) { _ in EventLoop.process.takeRemoteJobs() }
    precondition(status == 0, "libuv could not make its wake-up: \(String(cString: uv_strerror(status)))")
    uv_prepare_init(raw, prepare)
    uv_check_init(raw, check)
    uv_idle_init(raw, idle)
  }

  // MARK: Running

  /// Runs the loop on the calling thread until ``stop()``. May be called again afterwards from the same thread.
  public func run() {
    owner.store(UInt(pthread_self()), ordering: .releasing)
    uv_prepare_start(prepare) { _ in EventLoop.process.settle(beforePoll: true) }
    uv_check_start(check) { _ in EventLoop.process.settle(beforePoll: false) }
    takeRemoteJobs()
    uv_run(raw, UV_RUN_DEFAULT)
    uv_prepare_stop(prepare)
    uv_check_stop(check)
  }

  /// Makes ``run()`` return after the current turn. Loop thread only.
  public func stop() {
    precondition(isOnLoop, "stop is for the loop's own thread")
    uv_stop(raw)
  }

  /// Whether the caller is on the loop's thread.
  @inline(__always)
  public var isOnLoop: Bool { owner.load(ordering: .acquiring) == UInt(pthread_self()) }

  /// The monotonic clock now, read at each call.
  @inline(__always)
  public var now: Instant { Instant(nanoseconds: uv_hrtime()) }

  /// The monotonic clock as first read in this turn: for many time stamps in one turn. Loop thread only.
  @inline(__always)
  public var turnStart: Instant {
    if let turnStartReading { return turnStartReading }
    let reading = now
    turnStartReading = reading
    return reading
  }

  /// Calls `body` once, at the end of the current turn and before its output is written; if called while output is
  /// being written, at the end of the next turn. Loop thread only.
  public func atTurnEnd(_ body: @escaping @EventLoopActor () -> Void) { atEnd.append(body) }

  // MARK: Executor

  /// Takes a job from the Swift runtime; called from another thread, it wakes the loop.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isOnLoop {
      local.append(job)
      return
    }
    let isFirst = remote.withLock { queue in
      queue.append(job)
      return queue.count == 1
    }
    if isFirst { uv_async_send(wake) }
  }

  /// The runtime's reference to this executor.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  /// Stops the process when the caller is not on the loop's thread.
  public func checkIsolated() { precondition(isOnLoop, "this belongs to the event loop's thread") }
  /// Whether the caller is on the loop's thread.
  public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

  private func takeRemoteJobs() {
    let jobs = remote.withLock { queue in
      let taken = queue
      queue.removeAll(keepingCapacity: false)
      return taken
    }
    local.append(contentsOf: jobs)
  }

  private func settle(beforePoll: Bool) {
    runJobs()
    endTurn()
    flushStreams()
    guard beforePoll else { return }
    turn &+= 1
    // Jobs are left over from the last round, or flushing has deferred work to the end of the next turn: an active idle
    // handle makes the poll return at once.
    let wantsIdle = !local.isEmpty || !atEnd.isEmpty
    if wantsIdle != isIdleActive {
      isIdleActive = wantsIdle
      if wantsIdle { uv_idle_start(idle) { _ in } } else { uv_idle_stop(idle) }
    }
  }

  private func endTurn() {
    turnStartReading = nil
    while !atEnd.isEmpty {
      let bodies = atEnd
      atEnd.removeAll(keepingCapacity: true)
      EventLoopActor.assumeOnLoop { for body in bodies { body() } }
    }
  }

  private func runJobs() {
    if isDraining || local.isEmpty { return }
    isDraining = true
    let serial = asUnownedSerialExecutor()
    let task = asUnownedTaskExecutor()
    var rounds = Self.jobRoundsPerTurn
    while !local.isEmpty && rounds > 0 {
      swap(&local, &running)
      for job in running { job.runSynchronously(isolatedTo: serial, taskExecutor: task) }
      running.removeAll(keepingCapacity: true)
      rounds -= 1
    }
    isDraining = false
  }

  // MARK: Output

  func willFlush(_ stream: ByteStream) { unflushed.append(stream) }

  private func flushStreams() {
    while !unflushed.isEmpty {
      let streams = unflushed
      unflushed.removeAll(keepingCapacity: true)
      EventLoopActor.assumeOnLoop { for stream in streams { stream.flushMarked() } }
    }
  }
}
