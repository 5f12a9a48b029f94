public import Glibc
import LinuxSystem

/// A real process started by a test, with chosen descriptors; killed and reaped when the object goes.
///
/// Everything here blocks the calling thread, on purpose: the death signal of a child is tied to the *thread* that
/// spawned it, and a synchronous test stays on one thread from beginning to end.
public final class SpawnedProcess {
  /// Process id.
  public let pid: pid_t
  private var status: Int32?
  private var output: Int32
  private var collected: [UInt8] = []

  /// Where the built programs are: beside the test bundle.
  public static func builtProgram(_ name: String) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = max(readlink("/proc/self/exe", &bytes, bytes.count), 0)
    let path = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    return "/\(folder)/\(name)"
  }

  /// Starts a program. Its stdin is `/dev/null`, its stdout and stderr go to one pipe of ours.
  /// - Parameters:
  ///   - descriptors: number in the child → number here; the ones here stay the caller's.
  ///   - blocked: signals blocked in the child at its start.
  ///   - closed: descriptors closed in the child at its start.
  public init(
    _ program: String, _ arguments: [String], environment: [String] = ["PATH=/usr/bin:/bin"],
    descriptors: [Int32: Int32] = [:], blocked: [Int32] = [], closed: [Int32] = []
  ) throws {
    let pipe = try Descriptors.pipe()
    output = pipe.first
    defer { Descriptors.close(pipe.second) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, pipe.second, 1)
    posix_spawn_file_actions_adddup2(&actions, pipe.second, 2)
    // By way of high numbers, so that no source is overwritten before its turn.
    let copies = descriptors.map { (child: $0.key, copy: fcntl($0.value, F_DUPFD_CLOEXEC, 200)) }
    defer { for pair in copies { Descriptors.close(pair.copy) } }
    for pair in copies { posix_spawn_file_actions_adddup2(&actions, pair.copy, pair.child) }
    for descriptor in closed { posix_spawn_file_actions_addclose(&actions, descriptor) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    sigemptyset(&mask)
    for signal in blocked { sigaddset(&mask, signal) }
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    let argv = ([program] + arguments).map { strdup($0) } + [nil]
    let envp = environment.map { strdup($0) } + [nil]
    defer { for text in argv + envp { free(text) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, program, &actions, &attributes, argv, envp)
    guard code == 0 else {
      Descriptors.close(pipe.first)
      throw SpawnFailed(code: code, program: program)
    }
    self.pid = pid
  }

  deinit {
    if status == nil {
      kill(pid, SIGKILL)
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0 && errno == EINTR { continue }
    }
    Descriptors.close(output)
  }

  /// Sends a signal, unless the process was waited for.
  public func send(_ signal: Int32) { if status == nil { kill(pid, signal) } }

  /// How a process ended.
  public enum Ending: Equatable, Sendable {
    /// With this exit status.
    case exited(Int32)
    /// By this signal.
    case signalled(Int32)
  }

  /// Waits for the end.
  public func waitForEnd(within seconds: Double = 30) throws -> Ending {
    try awaitSoon("process \(pid) to end", within: seconds) { self.hasEnded() }
    let status = self.status ?? 0
    return status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F)
  }

  /// Whether it has ended; reaps it if so.
  public func hasEnded() -> Bool {
    if status != nil { return true }
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return false }
    self.status = status
    return true
  }

  /// All that it and its children wrote, up to the end of the pipe.
  public func readAllOutput(within seconds: Double = 30) throws -> String {
    try collect("all output of process \(pid)", within: seconds) { _ in false }
  }

  /// What it wrote up to and with the first line that satisfies the condition; that line is returned.
  public func readLine(within seconds: Double = 30, where condition: (Substring) -> Bool) throws -> String {
    let text = try collect("a line of process \(pid)", within: seconds) { text in
      text.hasSuffix("\n") && text.split(separator: "\n").contains(where: condition)
    }
    guard let line = text.split(separator: "\n").first(where: condition) else {
      throw DeadlinePassed(description: "the process ended without the line; it wrote: \(text)")
    }
    return String(line)
  }

  private func collect(_ what: String, within seconds: Double, until isEnough: (String) -> Bool) throws -> String {
    var chunk = [UInt8](repeating: 0, count: 4096)
    let end = monotonicSeconds() + seconds
    while true {
      let text = String(decoding: collected, as: UTF8.self)
      if isEnough(text) { return text }
      let left = end - monotonicSeconds()
      guard left > 0 else { throw DeadlinePassed(description: "not within \(seconds) s: \(what); so far: \(text)") }
      var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(left * 1000) + 1) > 0 else { continue }
      let count = read(output, &chunk, chunk.count)
      if count == 0 { return text }
      if count > 0 { collected += chunk[..<count] }
    }
  }
}

/// A program could not be started.
public struct SpawnFailed: Error, CustomStringConvertible {
  let code: Int32
  let program: String
  /// The program and the reason.
  public var description: String { "\(program): \(String(cString: strerror(code)))" }
}

private func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Waits until a condition holds, looking every 5 ms, without blocking a thread: beside hundreds of other tests a task
/// may wait for its turn for a minute, so there is much time.
public func awaitPatiently(
  _ what: String, within seconds: Double = 300, isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool
) async throws {
  let end = monotonicSeconds() + seconds
  while !(try await condition()) {
    if monotonicSeconds() > end { throw DeadlinePassed(description: "not within \(seconds) s: \(what)") }
    try await Task.sleep(for: .milliseconds(5))
  }
}

/// Blocks until a condition holds, looking every 2 ms, or as seldom as a condition wants that is work to look at.
public func awaitSoon(
  _ what: String, within seconds: Double = 30, every milliseconds: UInt32 = 2, _ condition: () throws -> Bool
) throws {
  let end = monotonicSeconds() + seconds
  while !(try condition()) {
    if monotonicSeconds() > end { throw DeadlinePassed(description: "not within \(seconds) s: \(what)") }
    usleep(milliseconds * 1_000)
  }
}
