// A worker of the role `example` that does, on demand, everything a worker must not do. It is run by ProcessTests under
// a real roostd, and by whoever wants to see what happens to such a worker.
//
//     misbehaving-worker [FLAG...]       started by roostd, bus on descriptor 3
//
// What it does from its start is a flag (`Flags`), what it does in the middle of work is a method:
// `example.half-frame`, `example.drop-bus`, … with an `Order` as payload. A method misbehaves on the first delivery of
// a request only, or on as many as the order's `lives` says, and answers like `example.echo` after that: so a test can
// tell a redelivery from a loss.
//
// It stands on Frames and the C library alone, blocks where it likes, and writes bytes no well-meaning library would.
import Frames
import Glibc

@main
enum MisbehavingWorker {
  static func main() {
    signal(SIGPIPE, SIG_IGN)
    // Dies of it at once: the backtrace that the runtime would write first takes seconds.
    signal(SIGABRT, SIG_DFL)
    let flags = Flags(Array(CommandLine.arguments.dropFirst()))
    if flags.isFork { Orphan.beMiddle() }
    if flags.isSleeper { Orphan.sleep() }
    if let sneaker = flags.sneaker { Sneaker.enter(sneaker.socket, sneaker.report, isMiddle: sneaker.isMiddle) }
    if flags.ignoresTerm { signal(SIGTERM, SIG_IGN) }
    flags.dieIfAsked(at: .start)
    if flags.neverGreets { Orphan.sleep() }
    var worker = Worker(flags)
    worker.run()
  }
}

/// What the worker does from its start.
///
/// | flag | |
/// |---|---|
/// | `--die-at start\|hello\|ready\|drain` | dies there (after saying HELLO, READY, or on being told to drain) |
/// | `--lives N` | in the first N generations only (else in all) |
/// | `--exit CODE`, `--signal N` | how it dies; SIGKILL if neither is given |
/// | `--never-greet`, `--never-ready` | stays silent before HELLO, or after it |
/// | `--ready-after MS`, `--extend MS` | READY late; with an EXTEND before |
/// | `--ignore-term` | ignores SIGTERM |
/// | `--greet-as ROLE` | says in HELLO that it has that role |
/// | `--shout` | writes to standard output as fast as it is read |
/// | `--say TEXT` | `example.echo` answers with this |
struct Flags {
  enum Place: String { case start, hello, ready, drain }

  var diesAt: Place?
  var lives: UInt64 = .max
  var way = Death()
  var neverGreets = false
  var neverReady = false
  var readyAfterMilliseconds: UInt32 = 0
  var extendMilliseconds: UInt32 = 0
  var ignoresTerm = false
  var shouts = false
  var says: String?
  /// Started by itself: to fork once more, or to stay when all others go.
  var isFork = false
  var isSleeper = false
  var greetsAs = "example"
  var sneaker: (socket: String, report: String, isMiddle: Bool)?

  /// Which start of the worker this is.
  static let generation = getenv("ROOST_GENERATION").flatMap { UInt64(String(cString: $0)) } ?? 1

  init(_ arguments: [String]) {
    var rest = arguments[...]
    while let flag = rest.popFirst() {
      switch flag {
      case "--die-at": diesAt = rest.popFirst().flatMap(Place.init)
      case "--lives": lives = rest.popFirst().flatMap(UInt64.init) ?? .max
      case "--exit": way.code = rest.popFirst().flatMap(Int32.init)
      case "--signal": way.signal = rest.popFirst().flatMap(Int32.init)
      case "--never-greet": neverGreets = true
      case "--never-ready": neverReady = true
      case "--ready-after": readyAfterMilliseconds = rest.popFirst().flatMap(UInt32.init) ?? 0
      case "--extend": extendMilliseconds = rest.popFirst().flatMap(UInt32.init) ?? 0
      case "--ignore-term": ignoresTerm = true
      case "--shout": shouts = true
      case "--say": says = rest.popFirst()
      case "--greet-as": greetsAs = rest.popFirst() ?? ""
      case Sneaker.middleFlag, Sneaker.flag:
        sneaker = (rest.popFirst() ?? "", rest.popFirst() ?? "", flag == Sneaker.middleFlag)
      case Orphan.forkFlag: isFork = true
      case Orphan.sleepFlag: isSleeper = true
      default:
        let text = "misbehaving-worker: unknown flag \(flag)\n"
        _ = write(STDERR_FILENO, text, text.utf8.count)
        exit(64)
      }
    }
  }

  func dieIfAsked(at place: Place) {
    if diesAt == place, Flags.generation <= lives { way.die() }
  }
}

/// A way to go without a word.
struct Death {
  var code: Int32?
  var signal: Int32?

  func die() -> Never {
    if let code { _exit(code) }
    Glibc.signal(signal ?? SIGKILL, SIG_DFL)
    kill(getpid(), signal ?? SIGKILL)
    // A signal that does not end a process, such as STOP, ends here once it goes on.
    _exit(1)
  }
}

/// A grandchild that leaves the worker's group and session, keeps all its descriptors, and stays.
enum Orphan {
  static let forkFlag = "--as-middle"
  static let sleepFlag = "--as-sleeper"

  /// Starts the middle process, which starts the sleeper and ends; returns the sleeper's process id.
  static func make() -> pid_t {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return -1 }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    // The middle tells the sleeper's number over its standard input's number, which nothing else uses.
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    let middle = spawn(forkFlag, &actions)
    close(ends[1])
    var number: Int32 = -1
    _ = read(ends[0], &number, 4)
    close(ends[0])
    var status: Int32 = 0
    waitpid(middle, &status, 0)
    return number
  }

  /// POSIX_SPAWN_SETSID, which the C library's header hides from us.
  private static let newSession: Int16 = 0x80

  static func beMiddle() -> Never {
    var number = spawn(sleepFlag, nil)
    _ = write(0, &number, 4)
    _exit(0)
  }

  static func sleep() -> Never {
    signal(SIGTERM, SIG_IGN)
    while true { pause() }
  }

  /// Starts this program again as leader of a session of its own.
  static func spawn(
    _ flag: String, _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>?, _ more: [String] = [],
    withoutEnvironment: Bool = false
  ) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, newSession)
    var path = [CChar](repeating: 0, count: 4_096)
    _ = readlink("/proc/self/exe", &path, path.count - 1)
    let argv = (["misbehaving-worker", flag] + more).map { strdup($0) } + [nil]
    var pid: pid_t = -1
    if withoutEnvironment {
      posix_spawn(&pid, path, actions, &attributes, argv, [nil])
    } else {
      posix_spawn(&pid, path, actions, &attributes, argv, environ)
    }
    return pid
  }
}
