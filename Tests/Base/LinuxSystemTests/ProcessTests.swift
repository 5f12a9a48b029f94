import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite struct ProcessTests {
  @Test("A process descriptor tells the end of a process and signals nobody after it")
  func processDescriptor() throws {
    let child = try SpawnedProcess("/bin/sleep", ["1000"])
    let descriptor = try ProcessDescriptor(process: child.pid)
    #expect(fcntl(descriptor.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    #expect(descriptor.isAlive)
    #expect(try descriptor.send(signal: SIGTERM))
    try awaitSoon("the end to show") { !descriptor.isAlive }
    #expect(try child.waitForEnd() == .signalled(SIGTERM))
    #expect(try descriptor.send(signal: SIGTERM) == false)
    let fault = #expect(throws: SystemFault.self) { try ProcessDescriptor(process: child.pid) }
    #expect(fault?.code == ESRCH)
    #expect(throws: SystemFault.self) { try ProcessDescriptor(process: 0) }
    #expect(throws: SystemFault.self) { try ProcessDescriptor(process: -1) }
  }

  @Test("A socket's peer is known by user and process")
  func peer() throws {
    let pair = try Descriptors.socketPair()
    defer { for number in [pair.first, pair.second] { Descriptors.close(number) } }
    let credentials = try PeerCredentials(ofSocket: pair.first)
    #expect(credentials.process == getpid())
    #expect(credentials.user == geteuid())
    #expect(credentials.group == getegid())
    let process = try ProcessDescriptor.peer(ofSocket: pair.first)
    #expect(process.process == getpid())
    #expect(process.isAlive)
    let pipe = try Descriptors.pipe()
    defer { for number in [pipe.first, pipe.second] { Descriptors.close(number) } }
    let fault = #expect(throws: SystemFault.self) { try PeerCredentials(ofSocket: pipe.first) }
    #expect(fault?.code == ENOTSOCK)
  }

  @Test("Parents, sessions and names are read from the table")
  func table() throws {
    let child = try SpawnedProcess("/bin/sh", ["-c", "setsid sleep 1000 & echo up; wait"])
    _ = try child.readLine { $0 == "up" }
    let entry = try #require(ProcessTable.entry(of: child.pid))
    #expect(entry.parent == getpid())
    #expect(entry.session == getsid(0))
    #expect(entry.name == "sh")
    #expect(entry.state == .alive)
    #expect(ProcessTable.children(of: getpid()).contains { $0.process == child.pid })
    try awaitSoon("the sleep") { ProcessTable.children(of: child.pid).first?.name == "sleep" }
    let sleep = try #require(ProcessTable.children(of: child.pid).first)
    #expect(sleep.startTicks >= entry.startTicks)
    defer { kill(sleep.process, SIGKILL) }

    #expect(ProcessTable.descends(sleep.process, from: child.pid))
    #expect(ProcessTable.descends(sleep.process, from: getpid()))
    #expect(ProcessTable.descends(child.pid, from: child.pid))
    #expect(!ProcessTable.descends(child.pid, from: sleep.process))
    #expect(!ProcessTable.descends(getpid(), from: child.pid))
    child.send(SIGSTOP)
    try awaitSoon("the stop to show") { ProcessTable.entry(of: child.pid)?.state == .stopped }
  }

  @Test("A descendant whose parent ended is known by its session, or else by its environment")
  func lostParent() throws {
    let mark = "ROOST_INSTANCE=test\(getpid())x\(UInt32.random(in: .min ... .max))"
    // The first keeps the session of the setsid'ed shell, the second makes its own.
    let script = "echo $$; (sleep 1000 & echo $!) ; (setsid sleep 1000 & echo $!); exec sleep 1000"
    let worker = try SpawnedProcess(
      "/usr/bin/setsid", ["/bin/sh", "-c", script], environment: ["PATH=/usr/bin:/bin", mark])
    // No wait here: its pipe stays open as long as the sleeps live.
    var numbers: [Int32] = []
    for _ in 0..<3 {
      let line = try worker.readLine { line in Int32(line).map { !numbers.contains($0) } ?? false }
      numbers.append(Int32(line)!)
    }
    let (session, keeping, leaving) = (numbers[0], numbers[1], numbers[2])
    defer { for number in [keeping, leaving] { kill(number, SIGKILL) } }
    // The subshells between end when they please, and an exec on the way shows no environment yet.
    try awaitSoon("both to lose their parents") {
      let names = [keeping, leaving].map { ProcessTable.entry(of: $0)?.name }
      return names == ["sleep", "sleep"] && !ProcessTable.descends(leaving, from: session)
        && ProcessTable.entry(of: keeping)?.parent != session
    }
    #expect(ProcessTable.descends(keeping, from: session))
    try awaitSoon("the mark to show") { ProcessTable.environment(of: leaving, holds: mark) == true }
    #expect(ProcessTable.environment(of: leaving, holds: String(mark.dropLast())) == false)
    #expect(ProcessTable.environment(of: getpid(), holds: mark) == false)
  }

  @Test("Memory, threads and descriptors of a process are counted")
  func accounting() throws {
    let memory = try #require(ProcessTable.memory(of: getpid()))
    #expect(memory.residentByteCount > 1 << 20)
    #expect(try #require(memory.proportionalByteCount) > 1 << 20)
    #expect(ProcessTable.memory(of: getpid(), withProportional: false)?.proportionalByteCount == nil)
    #expect(try #require(ProcessTable.threadCount(of: getpid())) >= 1)

    let pipe = try Descriptors.pipe()
    defer { for number in [pipe.first, pipe.second] { Descriptors.close(number) } }
    let child = try SpawnedProcess("/bin/sleep", ["1000"], descriptors: [3: pipe.first, 4: pipe.second])
    try awaitSoon("the sleep") { ProcessTable.entry(of: child.pid)?.name == "sleep" }
    // The test runner leaves some of its own to its children.
    let listed = try SpawnedProcess("/bin/sh", ["-c", "ls /proc/\(child.pid)/fd | wc -l"]).readAllOutput()
    let count = try #require(ProcessTable.openDescriptorCount(of: child.pid))
    #expect(count >= 5 && "\(count)\n" == listed)
    #expect(try #require(ProcessTable.openDescriptorCount(of: getpid())) >= 5)
  }

  @Test("A process that is gone is nil")
  func gone() throws {
    let child = try SpawnedProcess("/bin/true", [])
    _ = try child.waitForEnd()
    #expect(ProcessTable.entry(of: child.pid) == nil)
    #expect(ProcessTable.memory(of: child.pid) == nil)
    #expect(ProcessTable.openDescriptorCount(of: child.pid) == nil)
    #expect(ProcessTable.environment(of: child.pid, holds: "A=B") == nil)
    #expect(!ProcessTable.descends(child.pid, from: getpid()))
  }

  @Test("A name with parentheses and blanks does not shift the fields")
  func awkwardName() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/a) R 1 (b"
    _ = try SpawnedProcess("/bin/cp", ["/bin/sleep", path]).waitForEnd()
    let child = try SpawnedProcess(path, ["1000"])
    try awaitSoon("the exec") { ProcessTable.entry(of: child.pid)?.name == "a) R 1 (b" }
    #expect(ProcessTable.entry(of: child.pid)?.parent == getpid())
  }

  @Test("A subreaper reaps what it adopted and leaves its managed children alone")
  func adoption() throws {
    let probe = try SpawnedProcess(SpawnedProcess.builtProgram("sandbox-probe"), ["--adopt"])
    #expect(try probe.readAllOutput() == "{\"managedStatus\":7,\"reaped\":[\"exited(3)\",\"signalled(9)\"]}\n")
    #expect(try probe.waitForEnd() == .exited(0))
  }

  @Test("A limit is lowered for soft and hard, and does not rise again")
  func limits() throws {
    let program = SpawnedProcess.builtProgram("sandbox-probe")
    #expect(try SpawnedProcess(program, ["--limit", "nofile", "77"]).readAllOutput() == "77 77 77\n")
    let script = "ulimit -c 0; exec \(program) --limit core 100"
    #expect(try SpawnedProcess("/bin/sh", ["-c", script]).readAllOutput() == "0 0 0\n")
    for resource in ResourceLimit.Resource.allCases {
      let limit = try ResourceLimit.current(resource)
      #expect(limit.soft <= limit.hard)
    }
  }

  @Test("The clocks run, and the boot clock is never behind the monotonic one")
  func clocks() {
    let first = SystemClock.monotonicNanoseconds()
    let boot = SystemClock.bootNanoseconds()
    #expect(boot >= first)
    #expect(SystemClock.monotonicNanoseconds() >= first)
  }

  @Test("The threads of a process stand in its status, and of what is no status there are none")
  func threads() throws {
    let status = "Name:\tThreads: 9\nPid:\t77\nThreads:\t3001\nSigQ:\t0/1\n"
    #expect(ProcessTable.threadCount(in: Array(status.utf8)) == 3_001)
    for text in ["", "Threads:", "Threads:\tx", "Threads:\t99999999999999999999"] {
      #expect(ProcessTable.threadCount(in: Array(text.utf8)) == 0)
    }
    let group = ProcessTable.group(of: getpgrp())
    #expect(try #require(group).threadCount >= 1)
  }
}
