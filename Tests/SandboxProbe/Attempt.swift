// swift-format-ignore-file: NeverForceUnwrap
// (A probe that was asked wrongly should trap: the test sees it.)
import EventLoop
import Glibc
import LinuxSystem
import Synchronization

/// One thing to try, written `verb` or `verb:object`. The outcome is `done`, or the name of the error number.
enum Attempt {
  static func run(_ text: String) -> String {
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    let object = parts.count > 1 ? parts[1] : ""
    switch parts[0] {
    case "read": return outcome(open(object, O_RDONLY | O_CLOEXEC))
    case "write": return outcome(open(object, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    case "list": return opendir(object) == nil ? name(errno) : "done"
    case "remove": return outcome(unlink(object))
    case "truncate": return outcome(truncate(object, 0))
    case "rename": return outcome(rename(object, object + ".renamed"))
    case "signal": return outcome(kill(Int32(object)!, 0))
    case "socket": return outcome(socket(Int32(object)!, Int32(SOCK_STREAM.rawValue), 0))
    case "wide-socket": return wideSocket(family: Int(object)!)
    case "datagram": return outcome(socket(Int32(object)!, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    case "pair": return pair(Int32(object)!)
    case "unix": return unix(object)
    case "fast-open": return fastOpen(port: UInt16(object)!)
    case "connect": return internet(port: UInt16(object)!, Glibc.connect)
    case "low-port": return internet(port: 1, Glibc.bind)
    case "bind": return internet(port: UInt16(object)!, Glibc.bind)
    case "listen": return listening()
    case "abstract": return abstract(object)
    case "spawn": return spawn(object)
    case "execve": return byName("execve", [address(object), 0, 0])
    case "fork": return fork()
    case "thread": return thread()
    case "tasks": return tasks()
    case "busy": return busy()
    case "loop": return loop()
    case "call": return call(object)
    case "ptrace": return byName("ptrace", [0, 0, 0, 0])
    case "unshare": return byName("unshare", [Int(object)!])
    case "clone": return clone(flags: Int(object)!)
    case "chroot": return byName("chroot", [address("/")])
    case "personality": return byName("personality", [0xFFFF_FFFF])
    case "io-uring": return byName("syscall", [425, 4, 0])
    case "io-setup": return byName("syscall", [numberOfIOSetup, 1, 0])
    case "clone3": return byName("syscall", [435, 0, 0])
    case "terminal-input": return byName("ioctl", [0, 0x5412, address("x")])
    case "terminal-input-wide": return byName("syscall", [numberOfIoctl, 0, 0x1_0000_5412, address("x")])
    default: return "unknown attempt"
    }
  }

  private static func name(_ code: Int32) -> String { SystemFault(call: "", subject: "", code: code).name }

  private static func outcome(_ result: Int32) -> String { result >= 0 ? "done" : name(errno) }

  #if arch(x86_64)
    private static let numberOfSocket = 41
    private static let numberOfIoctl = 16
    private static let numberOfIOSetup = 206
    private static let numberOfClone = 56
  #else
    private static let numberOfSocket = 198
    private static let numberOfIoctl = 29
    private static let numberOfIOSetup = 0
    private static let numberOfClone = 220
  #endif

  /// The address of a text that stays for the rest of the process.
  private static func address(_ text: String) -> Int { Int(bitPattern: strdup(text)) }

  /// Calls a C function that Swift does not import, with integer arguments.
  private static func byName(_ symbol: String, _ values: [Int]) -> String {
    typealias Function = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int
    guard let found = dlsym(nil, symbol) else { return "no such function" }
    let function = unsafeBitCast(found, to: Function.self)
    let all = values + Array(repeating: 0, count: 6 - values.count)
    // Many of these return an int: its upper half is not defined.
    return Int32(truncatingIfNeeded: function(all[0], all[1], all[2], all[3], all[4], all[5])) >= 0
      ? "done" : name(errno)
  }

  /// `NAME,ARGUMENT…`: a number is one, anything else is the address of a text.
  private static func call(_ text: String) -> String {
    let words = text.split(separator: ",").map(String.init)
    return byName(words[0], words.dropFirst().map { Int($0) ?? address($0) })
  }

  /// The kernel looks at the lower half of the family only; a filter that compares the whole is evaded like this.
  private static func wideSocket(family: Int) -> String {
    byName("syscall", [numberOfSocket, 1 << 32 | family, Int(SOCK_RAW.rawValue), 0])
  }

  private static func clone(flags: Int) -> String {
    let parent = getpid()
    let result = byName("syscall", [numberOfClone, flags | Int(SIGCHLD), 0, 0, 0, 0])
    // In a child that was made after all, there is nothing to do but leave.
    if getpid() != parent { _exit(0) }
    return result
  }

  private static func internet(
    port: UInt16, _ call: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return name(errno) }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        outcome(call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)))
      }
    }
  }

  /// A pair of sockets of a kind, which may have flags.
  private static func pair(_ kind: Int32) -> String {
    var ends: [Int32] = [0, 0]
    return outcome(socketpair(AF_UNIX, kind, 0, &ends))
  }

  /// Connects to a socket in the file system.
  private static func unix(_ path: String) -> String {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return name(errno) }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        outcome(Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)))
      }
    }
  }

  /// Connects by sending: the first bytes go with the first packet (RFC 7413).
  private static func fastOpen(port: UInt16) -> String {
    internet(port: port) { descriptor, address, length in
      Int32(truncatingIfNeeded: sendto(descriptor, "x", 1, 0x2000_0000, address, length))
    }
  }

  private static func listening() -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return name(errno) }
    defer { close(descriptor) }
    return outcome(listen(descriptor, 1))
  }

  /// Sends to an abstract unix socket by way of the notifier, which has a name for it.
  private static func abstract(_ name: String) -> String {
    do throws(SystemFault) {
      try ServiceNotifier(address: "@" + name)?.send("READY=1")
      return "done"
    } catch { return error.name }
  }

  private static func spawn(_ program: String) -> String {
    var pid: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
    let code = posix_spawn(&pid, program, nil, nil, &arguments, nil)
    guard code == 0 else { return name(code) }
    var status: Int32 = 0
    return waitpid(pid, &status, 0) == pid && status == 0 ? "done" : "status \(status)"
  }

  private static func fork() -> String {
    let parent = getpid()
    let result = byName("fork", [])
    if getpid() != parent { _exit(0) }
    return result
  }

  private static func thread() -> String {
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, { _ in nil }, nil)
    guard code == 0 else { return name(code) }
    return pthread_join(thread, nil) == 0 ? "done" : "not joined"
  }

  /// The runtime's own pool: tasks on several threads that wait for each other.
  private static func tasks() -> String {
    Task.detached {
      let value = await withTaskGroup(of: Int.self) { group in
        for number in 1...100 {
          group.addTask {
            await Task.yield()
            return number
          }
        }
        return await group.reduce(0, +)
      }
      sum.withLock { $0 = value }
    }
    guard waited({ sum.withLock { $0 } != 0 }) else { return "no end" }
    return sum.withLock { $0 } == 5050 ? "done" : "wrong"
  }
  private static let sum = Mutex(0)

  /// Keeps all of the pool's threads waiting, with more work in the queue, for longer than Dispatch's monitor looks
  /// away (it looks each second): then it reads each thread's state to see whether another thread is due.
  private static func busy() -> String {
    for _ in 0..<32 {
      Task.detached {
        usleep(200_000)
        finishedCount.withLock { $0 += 1 }
      }
    }
    return waited { finishedCount.withLock { $0 } == 32 } ? "done" : "no end"
  }
  private static let finishedCount = Mutex(0)

  /// Blocks the main thread until a condition holds; false after a minute.
  private static func waited(_ condition: () -> Bool) -> Bool {
    let end = SystemClock.monotonicNanoseconds() + 60_000_000_000
    while !condition() {
      if SystemClock.monotonicNanoseconds() > end { return false }
      usleep(1_000)
    }
    return true
  }

  /// The event loop: a timer, and the thread pool.
  private static func loop() -> String {
    EventLoopActor.task {
      await EventLoopActor.sleep(milliseconds: 5)
      let value = await EventLoopActor.onThreadPool { 6 * 7 }
      loopOutcome.withLock { $0 = value == 42 ? "done" : "wrong" }
      EventLoop.process.stop()
    }
    EventLoop.process.run()
    return loopOutcome.withLock { $0 }
  }
  private static let loopOutcome = Mutex("no end")
}
