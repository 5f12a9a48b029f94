import Glibc
import TestSupport
import Testing

@Suite struct GuardTests {
  /// A shell that plays the supervisor: it holds the writing end of the guardian's pipe on descriptor 9, starts the
  /// guardian and one worker, and waits.
  private func startSupervisor(
    _ instance: String, graceMilliseconds: Int = 50, worker: String, pipe: Pipe
  ) throws -> SpawnedProcess {
    // The worker closes 9 by itself (all above 5 are closed); the guardian too.
    let script = """
      \(Shim.path) --guard --instance \(instance) --grace \(graceMilliseconds) 3<&8 &
      exec 8<&-
      \(Shim.path) --parent $$ --env PATH --set ROOST_INSTANCE=\(instance) -- /bin/sh -c '\(worker)' &
      wait
      """
    let process = try SpawnedProcess("/bin/sh", ["-c", script], descriptors: [8: pipe.reader, 9: pipe.writer])
    pipe.closeWriter()
    return process
  }

  @Test("Grandchildren of a killed supervisor are ended, however they hid")
  func grandchildren() throws {
    let instance = Shim.newInstance()
    let worker = """
      sleep 1000 &
      setsid sleep 1000 &
      (setsid sh -c "sleep 1000 & sleep 1000 & exit" &)
      (setsid setsid sh -c "trap \\"\\" TERM HUP; while :; do sleep 0.01; done" &)
      exec sleep 1000
      """
    let supervisor = try startSupervisor(instance, worker: worker, pipe: try Pipe())
    try awaitSoon("the tree to stand") { Shim.marked(instance).count >= 6 }
    supervisor.send(SIGKILL)
    _ = try supervisor.waitForEnd()
    try awaitSoon("all descendants to end") { Shim.marked(instance).isEmpty }
    // The guardian's own end closes the last copy of the output.
    _ = try supervisor.readAllOutput()
  }

  @Test("After an orderly end nothing is killed")
  func orderlyEnd() throws {
    let instance = Shim.newInstance()
    let pipe = try Pipe()
    let bystander = try SpawnedProcess("/bin/sleep", ["1000"], environment: ["ROOST_INSTANCE=\(instance)"])
    let guardian = try guardian(instance, pipe)
    pipe.write("q")
    #expect(try guardian.waitForEnd() == .exited(0))
    pipe.closeWriter()
    #expect(!bystander.hasEnded())
  }

  @Test("Signals meant for the supervisor do not end the guardian")
  func signals() throws {
    let instance = Shim.newInstance()
    let pipe = try Pipe()
    let guardian = try guardian(instance, pipe)
    let bystander = try SpawnedProcess("/bin/sleep", ["1000"], environment: ["ROOST_INSTANCE=\(instance)"])
    try awaitSoon("the guardian to be ready") { try self.name(of: guardian) == "roost-guard" }
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE] { guardian.send(signal) }
    // Other bytes than q have no meaning; they show that it still reads.
    pipe.write("xyz")
    pipe.closeWriter()
    #expect(try bystander.waitForEnd() == .signalled(SIGKILL))
    #expect(try guardian.waitForEnd() == .exited(0))
  }

  @Test("Only the exact mark counts")
  func exactMark() throws {
    let instance = Shim.newInstance()
    let strangers = [
      "ROOST_INSTANCE=\(instance)0", "ROOST_INSTANCE=\(instance.dropLast())", "XROOST_INSTANCE=\(instance)",
      "X=ROOST_INSTANCE=\(instance)", "ROOST_INSTANCE=", "ROOST_INSTANCE",
    ]
    let others = try strangers.map { try SpawnedProcess("/bin/sleep", ["1000"], environment: [$0]) }
    // The mark behind a long environment, over several reads, and as the last entry.
    let filler = (0..<40).map { "FILLER\($0)=" + String(repeating: "x", count: 997) }
    let ours = try SpawnedProcess("/bin/sleep", ["1000"], environment: filler + ["ROOST_INSTANCE=\(instance)"])
    let pipe = try Pipe()
    let guardian = try guardian(instance, pipe)
    pipe.closeWriter()
    #expect(try ours.waitForEnd() == .signalled(SIGKILL))
    #expect(try guardian.waitForEnd() == .exited(0))
    for other in others { #expect(!other.hasEnded()) }
  }

  @Test("Within the grace a process may end by itself")
  func grace() throws {
    let instance = Shim.newInstance()
    let pipe = try Pipe()
    let finishing = try Pipe()
    let guardian = try guardian(instance, pipe, graceMilliseconds: 20_000)
    let process = try SpawnedProcess(
      "/bin/sh", ["-c", "read line <&3; exit 5"], environment: ["ROOST_INSTANCE=\(instance)"],
      descriptors: [3: finishing.reader])
    pipe.closeWriter()
    finishing.write("done\n")
    #expect(try process.waitForEnd() == .exited(5))
    #expect(!guardian.hasEnded())
  }

  @Test("Without its pipe the guardian kills nobody and says so")
  func noPipe() throws {
    let instance = Shim.newInstance()
    let bystander = try SpawnedProcess("/bin/sleep", ["1000"], environment: ["ROOST_INSTANCE=\(instance)"])
    let guardian = try SpawnedProcess(
      Shim.path, ["--guard", "--instance", instance, "--grace", "0"], closed: [3])
    #expect(try guardian.readAllOutput().contains("descriptor 3"))
    #expect(try guardian.waitForEnd() == .exited(71))
    let writing = try Pipe()
    let unreadable = try SpawnedProcess(
      Shim.path, ["--guard", "--instance", instance, "--grace", "0"], descriptors: [3: writing.writer])
    #expect(try unreadable.waitForEnd() == .exited(71))
    #expect(!bystander.hasEnded())
  }

  @Test("The guardian holds its pipe, /dev/null and stderr, and nothing else")
  func descriptors() throws {
    let pipe = try Pipe()
    let other = try Pipe()
    let extra = Dictionary(uniqueKeysWithValues: (Int32(4)...40).map { ($0, other.reader) })
    let guardian = try guardian(Shim.newInstance(), pipe, descriptors: extra)
    try awaitSoon("the guardian to be ready") { try self.name(of: guardian) == "roost-guard" }
    let listing = try SpawnedProcess(
      "/bin/sh", ["-c", "cd /proc/\(guardian.pid)/fd && echo *; readlink 0 1; readlink ../cwd"])
    #expect(try listing.readAllOutput() == "0 1 2 3\n/dev/null\n/dev/null\n/\n")
  }

  private func guardian(
    _ instance: String, _ pipe: Pipe, graceMilliseconds: Int = 0, descriptors: [Int32: Int32] = [:]
  ) throws -> SpawnedProcess {
    try SpawnedProcess(
      Shim.path, ["--guard", "--instance", instance, "--grace", "\(graceMilliseconds)"],
      descriptors: descriptors.merging([3: pipe.reader]) { _, new in new })
  }

  private func name(of process: SpawnedProcess) throws -> String {
    let reader = try SpawnedProcess("/bin/cat", ["/proc/\(process.pid)/comm"])
    return String(try reader.readAllOutput().dropLast())
  }
}
