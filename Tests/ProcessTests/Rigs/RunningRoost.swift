import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A real roostd with real workers in a temporary directory.
///
/// Nothing of it outlives its test, however that ends: `finish` kills and looks; and if the test process itself dies, a
/// guardian of our own ends roostd, whose guardian ends the rest.
final class RunningRoost {
  let directory: TemporaryDirectory
  private(set) var layout: Layout
  private(set) var daemon: SpawnedProcess
  private var safety: SpawnedProcess?
  private var safetyPipe: DescriptorPair
  private let mark: String
  /// Open sockets and pipes of roostd when all was ready and nobody connected.
  private(set) var descriptorBaseline = 0

  /// Where the layout says; else in the directory.
  var socket: String {
    layout.supervisor["socket"].map { String($0.dropFirst().dropLast()) } ?? directory.path + "/roost.sock"
  }
  var configuration: String { directory.path + "/supervisor.conf" }
  var output: String { directory.path + "/roostd.out" }
  /// What every process of a worker inherits, over all starts of roostd.
  var inherited: String { "ROOST_STATE=\(directory.path)/state" }

  /// Starts one, in a directory that may have the state of another.
  init(_ layout: Layout, in home: TemporaryDirectory? = nil, awaitsReady: Bool = true) throws {
    directory = try home ?? TemporaryDirectory()
    self.layout = layout
    mark = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
    safetyPipe = try Descriptors.pipe()
    try RunningRoost.write(layout, directory.path)
    safety = try SpawnedProcess(
      SpawnedProcess.builtProgram("roost-exec"), ["--guard", "--instance", mark, "--grace", "0"],
      descriptors: [3: safetyPipe.first])
    daemon = try RunningRoost.startDaemon(directory.path, mark, layout.environment)
    do {
      try awaitSocket()
      if awaitsReady { try awaitReady() }
    } catch {
      killEverything()
      throw DeadlinePassed(description: "\(error); roostd said: \(said)")
    }
    // Where workers are not awaited, each may still open what it needs: the bus, two log pipes, the shim's status pipe.
    descriptorBaseline = descriptorCount + (awaitsReady ? 0 : 4 * layout.workers.count)
  }

  deinit {
    killEverything()
    _ = Glibc.write(safetyPipe.second, "q", 1)
    Descriptors.close(safetyPipe.first)
    Descriptors.close(safetyPipe.second)
  }

  // MARK: Starting

  private static func write(_ layout: Layout, _ directory: String) throws {
    let text = layout.text(directory: directory, program: SpawnedProcess.builtProgram("misbehaving-worker"))
    let file = open(directory + "/supervisor.conf", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(text, to: file)
    Descriptors.close(file)
  }

  private static func startDaemon(
    _ directory: String, _ mark: String, _ environment: [String]
  ) throws -> SpawnedProcess {
    let file = open(directory + "/roostd.out", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { Descriptors.close(file) }
    let own = ["PATH=/usr/bin:/bin", "HOME=\(directory)", "ROOST_INSTANCE=\(mark)"]
    let program = SpawnedProcess.builtProgram("roostd")
    // With libfaketime preloaded a Swift program does not see its arguments, but it finds the file where it stands.
    guard environment.isEmpty else {
      return try SpawnedProcess(
        "/usr/bin/env", ["--chdir=\(directory)"] + environment + [program], environment: own,
        descriptors: [1: file, 2: file])
    }
    return try SpawnedProcess(
      program, ["--config", directory + "/supervisor.conf"], environment: own, descriptors: [1: file, 2: file])
  }

  /// What roostd wrote, at most the last lines of it.
  var said: String {
    String(decoding: (SharedFolder.bytes(ofFile: output) ?? []).suffix(2_000), as: UTF8.self)
  }

  private func awaitSocket() throws {
    try awaitSoon("roostd listens") {
      if daemon.hasEnded() { throw DeadlinePassed(description: "roostd has ended") }
      return (try? BusPeer(socket: socket)) != nil
    }
  }

  /// Waits until every worker is ready.
  func awaitReady(within seconds: Double = 60) throws {
    let client = try self.client()
    try awaitSoon("all workers are ready", within: seconds) {
      try status(client).workers.allSatisfy { $0.state == "ready" }
    }
  }

  /// Writes a changed configuration; roostd is not told.
  func rewrite(_ change: (inout Layout) -> Void) throws {
    change(&layout)
    try RunningRoost.write(layout, directory.path)
  }

  // MARK: Using

  /// A client of the bus.
  func client(_ name: String = "test") throws -> BusPeer {
    try BusPeer(socket: socket, hello: Hello(name: name, role: "client"))
  }

  /// `supervisor.status`.
  func status(_ client: BusPeer? = nil) throws -> SupervisorStatus {
    let client = try client ?? self.client()
    return try JSONPayload.decode(SupervisorStatus.self, from: try client.call("supervisor.status").terminal.payload)
  }

  /// One worker's status.
  func worker(_ name: String = "example", _ client: BusPeer? = nil) throws -> WorkerStatus {
    try #require(try status(client).workers.first { $0.name == name })
  }

  /// What `roost why` says of a worker.
  func explanation(of name: String, _ client: BusPeer) throws -> [String] {
    let answer = try client.call("supervisor.why", #"{"worker":"\#(name)"}"#)
    return try JSONPayload.decode(WhyResult.self, from: answer.terminal.payload).sentences
  }

  /// Waits until a worker is in a state.
  @discardableResult
  func awaitWorker(
    _ name: String = "example", _ what: String, within seconds: Double = 30, _ client: BusPeer? = nil,
    _ condition: (WorkerStatus) -> Bool
  ) throws -> WorkerStatus {
    let client = try client ?? self.client()
    var last: WorkerStatus?
    try awaitSoon("\(name) \(what)", within: seconds) {
      let now = try worker(name, client)
      last = now
      return condition(now)
    }
    return try #require(last)
  }

  /// The lines of a file of side effects.
  func lines(_ name: String) -> [String] {
    String(decoding: SharedFolder.bytes(ofFile: path(name)) ?? [], as: UTF8.self).split(separator: "\n").map(
      String.init)
  }

  /// A file of the test's own.
  func path(_ name: String) -> String { directory.path + "/" + name }

  // MARK: Killing

  /// `kill -9` of roostd.
  func killDaemon() throws {
    daemon.send(SIGKILL)
    _ = try daemon.waitForEnd()
  }

  /// `kill -9` of roostd and of all workers at once.
  func killDaemonAndWorkers() throws {
    let workers = livingProcesses.map(\.process)
    daemon.send(SIGKILL)
    for worker in workers { kill(worker, SIGKILL) }
    _ = try daemon.waitForEnd()
  }

  /// Starts roostd again, on the same directories.
  func startAgain() throws {
    daemon = try RunningRoost.startDaemon(directory.path, mark, layout.environment)
    try awaitSocket()
  }

  // MARK: Looking

  /// Living processes of workers and their descendants.
  var livingProcesses: [ProcessEntry] {
    ProcessTable.entries().filter {
      $0.state != .ended && ProcessTable.environment(of: $0.process, holds: inherited) == true
    }
  }

  /// Children of roostd that have ended and were not waited for.
  var zombieCount: Int { ProcessTable.children(of: daemon.pid).filter { $0.state == .ended }.count }

  /// Open sockets, pipes and the like of roostd. Files are left out: a log file is opened at the first line.
  var descriptorCount: Int {
    guard let folder = opendir("/proc/\(daemon.pid)/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    var target = [CChar](repeating: 0, count: 256)
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard readlink("/proc/\(daemon.pid)/fd/\(name)", &target, target.count) > 0 else { continue }
      if target[0] != CChar(UInt8(ascii: "/")) { count += 1 }
    }
    return count
  }

  /// The fewest of these that are seen within five seconds; it is looked no longer than until there are no more than
  /// `enough`.
  ///
  /// A single look says little: whoever starts a worker has both ends of its pipes for a moment. What leaks is there
  /// always.
  func fewestDescriptors(enough: Int) -> Int {
    var fewest = Int.max
    try? awaitSoon("roostd closes what it opened", within: 5) {
      fewest = min(fewest, descriptorCount)
      return fewest <= enough
    }
    return fewest
  }

  /// Resident bytes of roostd, or of another process; the most it ever had with `peak`.
  func memory(peak: Bool = false, of pid: pid_t? = nil) -> Int {
    let text = String(decoding: SharedFolder.bytes(ofFile: "/proc/\(pid ?? daemon.pid)/status") ?? [], as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(peak ? "VmHWM:" : "VmRSS:") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
  }

  /// Processor time roostd has used, in seconds.
  var processorSeconds: Double {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(daemon.pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  // MARK: Ending

  /// The end of a test that went well: roostd leaks nothing, stops in order, and leaves nobody behind.
  func finish() throws {
    if !daemon.hasEnded() {
      #expect(fewestDescriptors(enough: descriptorBaseline) <= descriptorBaseline, "roostd leaks descriptors")
      daemon.send(SIGTERM)
      #expect(try daemon.waitForEnd() == .exited(0), "roostd said: \(said)")
      #expect(livingProcesses.isEmpty, "roostd left processes behind")
    }
    killEverything()
  }

  private func killEverything() {
    daemon.send(SIGKILL)
    _ = try? daemon.waitForEnd()
    for process in livingProcesses { kill(process.process, SIGKILL) }
  }
}

/// Runs a test against a roostd of its own.
func withRoost(_ layout: Layout = .one(), awaitsReady: Bool = true, _ body: (RunningRoost) throws -> Void) throws {
  let roost = try RunningRoost(layout, awaitsReady: awaitsReady)
  do { try body(roost) } catch {
    throw DeadlinePassed(description: "\(error); roostd said: \(roost.said)")
  }
  try roost.finish()
}

/// All tests with real processes: one after the other, since each of them is several processes already.
@Suite("Real processes", .serialized)
struct ProcessTests {}
