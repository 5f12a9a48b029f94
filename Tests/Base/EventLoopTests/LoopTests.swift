import Clocks
import EventLoop
import Glibc
import TestSupport
import Testing

@Suite struct LoopTests {
  @Test("An await on a loop task stays on the loop's thread")
  func affinity() async throws {
    try await LoopThread.run {
      for _ in 0..<1_000 {
        await withCheckedContinuation { $0.resume() }
        #expect(EventLoop.process.isOnLoop)
      }
    }
  }

  @Test("A timer does not fire early and can be replaced and cancelled")
  func timer() async throws {
    try await LoopThread.run {
      let timer = LoopTimer()
      let start = EventLoop.process.now
      var fired: [String] = []
      timer.set(afterMilliseconds: 1) { fired.append("replaced") }
      timer.set(at: start.advanced(milliseconds: 30)) { fired.append("due") }
      try await eventually("fired") { !fired.isEmpty }
      #expect(fired == ["due"])
      #expect(EventLoop.process.now.milliseconds(since: start) >= 30)
      timer.set(afterMilliseconds: 1) { fired.append("cancelled") }
      timer.cancel()
      try await remains("it does not fire", forMilliseconds: 10) { fired == ["due"] }
    }
  }

  @Test("Jobs that keep enqueueing jobs do not starve a timer")
  func fairness() async throws {
    try await LoopThread.run {
      var isDone = false
      let spinner = EventLoopActor.task { while !isStopped.value { await Task.yield() } }
      let timer = LoopTimer()
      timer.set(afterMilliseconds: 5) { isDone = true }
      try await eventually("the timer fires") { isDone }
      isStopped.value = true
      await spinner.value
    }
  }

  @Test("A child's exit code and signal arrive, its output comes through the descriptor given")
  func child() async throws {
    try await LoopThread.run {
      var descriptors: [Int32] = [0, 0]
      #expect(pipe(&descriptors) == 0)
      var exits: [ChildExit] = []
      let shell = try ChildProcess(
        path: "/bin/sh", arguments: ["-c", "echo $GREETING; exit 7"], environment: ["GREETING=hello"],
        descriptors: [nil, descriptors[1], nil]
      ) { exits.append($0) }
      close(descriptors[1])
      try await eventually("exit") { exits.count == 1 }
      #expect(exits[0] == exits.first && exits[0].code == 7 && !shell.isRunning)
      var buffer = [UInt8](repeating: 0, count: 16)
      let count = read(descriptors[0], &buffer, 16)
      #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "hello\n")
      close(descriptors[0])
      let sleeper = try ChildProcess(
        path: "/bin/sleep", arguments: ["60"], environment: [], descriptors: [nil, nil, nil]
      ) { exits.append($0) }
      sleeper.signal(SIGKILL)
      try await eventually("killed") { exits.count == 2 }
      #expect(exits[1].signal == SIGKILL)
    }
  }

  @Test("A program that is not there is a fault with its path")
  func missingProgram() async throws {
    try await LoopThread.run {
      do {
        _ = try ChildProcess(path: "/nonexistent/program", arguments: [], environment: [], descriptors: []) { _ in }
        Issue.record("started what does not exist")
      } catch let fault as LoopFault {
        #expect(fault.name == "ENOENT" && fault.description.contains("/nonexistent/program"))
      }
    }
  }

  @Test("Work on the thread pool leaves the loop's thread and comes back with its value")
  func pool() async throws {
    try await LoopThread.run {
      let wasOnLoop = await EventLoopActor.onThreadPool { EventLoop.process.isOnLoop }
      #expect(!wasOnLoop && EventLoop.process.isOnLoop)
      let tasks = (0..<50).map { index in
        EventLoopActor.task { await EventLoopActor.onThreadPool { index * index } }
      }
      for (index, task) in tasks.enumerated() { #expect(await task.value == index * index) }
    }
  }

  @Test("Literal addresses need no resolver; localhost resolves; a name that cannot exist is a fault that names it")
  func resolver() async throws {
    try await LoopThread.run {
      let literal = try await SocketAddress.resolve(host: "::1", port: 80)
      #expect(literal.map(\.description) == ["[::1]:80"])
      let local = try await SocketAddress.resolve(host: "localhost", port: 80)
      #expect(local.contains { $0.host == "127.0.0.1" || $0.host == "::1" })
      do {
        _ = try await SocketAddress.resolve(host: "no-such-host.invalid", port: 1)
        Issue.record("resolved .invalid")
      } catch let fault as LoopFault {
        #expect(fault.description.contains("no-such-host.invalid"))
      }
    }
  }

  @Test("A signal reaches its watcher on the loop")
  func signals() async throws {
    try await LoopThread.run {
      var count = 0
      let watcher = try SignalWatcher(SIGWINCH) { count += 1 }
      kill(getpid(), SIGWINCH)
      try await eventually("the signal") { count > 0 }
      _ = watcher
    }
  }
}

@EventLoopActor private final class Flag { var value = false }
@EventLoopActor private let isStopped = Flag()
