import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import MessageHub
import TestSupport
import Testing

/// The real `roost` program against the hub's machine.
@Suite(.serialized) struct CommandTests {
  /// What a run of the program gave.
  private struct Run: Equatable {
    var status: Int32
    var output: String
  }

  /// A started program that is waited for away from the loop, which meanwhile serves it.
  // @unchecked: each is used by one test, which waits for one call before the next.
  private struct Program: @unchecked Sendable {
    let process: SpawnedProcess

    init(_ hub: FakeHub, _ arguments: [String], descriptors: [Int32: Int32] = [:]) throws {
      process = try SpawnedProcess(
        SpawnedProcess.builtProgram("roost"), arguments,
        environment: ["ROOST_SOCKET=\(hub.path)", "PATH=/usr/bin:/bin"], descriptors: descriptors)
    }

    func line(where condition: @escaping @Sendable (Substring) -> Bool) async throws -> String {
      try await JoinedThread.run { try process.readLine(where: condition) }
    }
    func allOutput() async throws -> String { try await JoinedThread.run { try process.readAllOutput() } }
    func ending() async throws -> SpawnedProcess.Ending { try await JoinedThread.run { try process.waitForEnd() } }
  }

  /// Runs `roost` with a text on its standard input, a pipe, and waits for its end. Standard error goes with the
  /// output.
  @EventLoopActor
  private func roost(_ hub: FakeHub, _ arguments: [String], input: String = "") async throws -> Run {
    let pipe = try Descriptors.pipe()
    let program = try Program(hub, arguments, descriptors: [0: pipe.first])
    Descriptors.close(pipe.first)
    // More than the pipe holds would wait for the program, and so for this loop.
    async let writing: Void = JoinedThread.run {
      input.withCString { text in _ = write(pipe.second, text, strlen(text)) }
      Descriptors.close(pipe.second)
    }
    let output = try await program.allOutput()
    try await writing
    guard case .exited(let status) = try await program.ending() else { return Run(status: -1, output: output) }
    return Run(status: status, output: output)
  }

  @EventLoopActor
  private func hub(
    _ directory: TemporaryDirectory, _ serve: @escaping @EventLoopActor (FakeHub, HubCall, String, [UInt8]) -> Void
  ) throws -> FakeHub {
    LoopThread.start()
    let hub = try FakeHub(path: directory.path + "/roost.sock")
    hub.onServe = { [unowned hub] call, method, payload in serve(hub, call, method, payload) }
    return hub
  }

  @Test("A call prints each part on a line as it came, the last answer last")
  func call() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try hub(directory) { hub, call, _, payload in
        _ = hub.answer(call, "{\"b\": 1.50,\n\"a\":2}", more: true)
        _ = hub.answer(call, String(decoding: payload, as: UTF8.self))
      }
      let typed = try await roost(hub, ["call", "supervisor.status", "[1]"])
      #expect(typed == Run(status: 0, output: "{\"b\":1.50,\"a\":2}\n[1]\n"))
      let piped = try await roost(hub, ["call", "supervisor.status", "-", "--json"], input: "{\"x\":1}\n")
      #expect(piped == Run(status: 0, output: "{\"b\":1.50,\"a\":2}\n{\"x\":1}\n"))
      hub.stop()
    }
  }

  @Test("Each kind of failure has its exit code")
  func exitCodes() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try hub(directory) { hub, call, method, _ in
        switch method {
        case "supervisor.why": hub.refuse(call, Refusal(.badRequest, "no worker 'x'", outcome: .notStarted))
        case "supervisor.reload": hub.refuse(call, Refusal(.denied, "not for you", outcome: .notStarted))
        default: break
        }
      }
      let failed = try await roost(hub, ["why", "x"])
      #expect(failed == Run(status: 1, output: "roost: no worker 'x'\n       (bad-request; nothing was done)\n"))
      #expect(try await roost(hub, ["reload"]).status == 4)
      #expect(try await roost(hub, ["call", "supervisor.status", "--timeout", "100ms"]).status == 5)
      for wrong in [
        ["statsu"], ["why"], ["call", "x", "{"], ["log", "level", "a=b"], ["stop", "w", "--deadline", "1y"],
        ["logs", "-n", "-1"], ["call", "x", "{}", "--timeout", "5"],
      ] {
        #expect(try await roost(hub, wrong).status == 2, "\(wrong)")
      }
      #expect(try await roost(hub, ["statsu"]).output.contains("Did you mean 'roost status'?"))
      #expect(try await roost(hub, ["call", "x", "--timeout", "5"]).output.contains("A time has a unit: 5s"))
      #expect(try await roost(hub, ["logs", "-n", "-1"]).output.contains("cannot be negative"))
      hub.stop()
      let away = try await roost(hub, ["status", "--json"])
      #expect(away.status == 3 && away.output.hasPrefix("{\"code\":\"no-supervisor\""))
    }
  }

  @Test("The pipe answers every line, the bad ones too, and ends when all is answered")
  func pipe() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try hub(directory) { hub, call, method, payload in
        if method == "supervisor.logs" { _ = hub.answer(call, "1", more: true) }
        _ = hub.answer(call, String(decoding: payload, as: UTF8.self))
      }
      let input = """
        {"id":{"n":1},"method":"supervisor.logs","params":12345678901234567890}
        nonsense
        {"id":2,"method":"supervisor.statsu"}

        {"id":[],"method":"supervisor.status"}
        """
      let run = try await roost(hub, ["pipe"], input: input)
      #expect(run.status == 0)
      let lines = Set(run.output.split(separator: "\n").map(String.init))
      #expect(lines.count == 5)
      #expect(lines.contains(#"{"id":{"n":1},"part":1}"#))
      #expect(lines.contains(#"{"id":{"n":1},"result":12345678901234567890}"#))
      #expect(lines.contains(#"{"id":[],"result":{}}"#))
      #expect(lines.contains { $0.contains("line 2 is not JSON") })
      #expect(lines.contains { $0.hasPrefix(#"{"id":2,"error":{"code":"unknown-method""#) })
      hub.stop()
    }
  }

  @Test("Many requests through the pipe are all answered, beyond every window")
  func manyThroughPipe() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try hub(directory) { hub, call, _, payload in
        _ = hub.answer(call, String(decoding: payload, as: UTF8.self))
      }
      let count = 1_000
      let input = (1...count).map { "{\"id\":\($0),\"method\":\"supervisor.status\",\"params\":\($0)}\n" }.joined()
      let run = try await roost(hub, ["pipe"], input: input)
      let lines = Set(run.output.split(separator: "\n"))
      #expect(lines == Set((1...count).map { "{\"id\":\($0),\"result\":\($0)}" }))
      hub.stop()
    }
  }

  @Test("A reader that does not read holds back the call's producer, and Ctrl-C still ends the call with 130")
  func backPressure() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      var sent = 0
      var call: HubCall?
      @EventLoopActor func pump(_ hub: FakeHub) {
        guard let call else { return }
        repeat { sent += 1 } while hub.answer(call, "\"\(String(repeating: "x", count: 8_000))\"", more: true)
      }
      let hub = try hub(directory) { hub, received, _, _ in
        call = received
        pump(hub)
      }
      hub.onRoom = { [unowned hub] in pump(hub) }
      let program = try Program(hub, ["call", "supervisor.logs"])
      try await eventually("the stream has begun") { sent > 0 }
      // The pipe's 64 KB, the client's window of 1 MiB and the hub's mailbox of 1 MiB, and no more.
      #expect(try await standstill("the stream", forMilliseconds: 150) { sent } < 400)
      program.process.send(SIGINT)
      #expect(try await program.ending() == .exited(130))
      try await eventually("the hub hears of it") { hub.cancelled.count == 1 }
      hub.stop()
    }
  }

  @Test("Of a topic, a reader that does not read misses events, and a line at their place says how many")
  func missedEvents() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try hub(directory) { _, _, _, _ in }
      let (input, output) = (try Descriptors.pipe(), try Descriptors.pipe())
      let program = try Program(hub, ["bus"], descriptors: [0: input.first, 1: output.second])
      for descriptor in [input.first, output.second] { Descriptors.close(descriptor) }
      defer { Descriptors.close(output.first) }
      try Descriptors.writeAll("{\"id\":1,\"subscribe\":\"supervisor.events\"}\n", to: input.second)
      var lines = try await linesOf(output.first) { $0.last == #"{"id":1,"subscribed":true}"# }
      let count = 3_000
      for number in 1...count {
        hub.publish("supervisor.events", "{\"number\":\(number),\"text\":\"\(String(repeating: "x", count: 500))\"}")
        if number % 50 == 0 { await EventLoopActor.sleep(milliseconds: 1) }
      }
      hub.publish("supervisor.events", "\"last\"")
      @Sendable func missed(_ line: String) -> Int {
        guard let text = line.split(separator: "\"missed\":").dropFirst().first else { return 0 }
        return Int(text.dropLast()) ?? 0
      }
      lines = try await linesOf(output.first) { lines in
        lines.count { $0.contains("event") } + lines.reduce(0) { $0 + missed($1) } >= count + 1
      }
      let events = lines.count { $0.contains("event") }
      let dropped = lines.reduce(0) { $0 + missed($1) }
      // At least what the pipe and the queue hold.
      #expect(events + dropped == count + 1 && events > 256 && dropped > 256, "\(events) \(dropped)")
      try Descriptors.writeAll("{\"cancel\":1}\n", to: input.second)
      Descriptors.close(input.second)
      #expect(try await program.ending() == .exited(0))
      hub.stop()
    }
  }

  /// Reads lines of a pipe, away from the loop, until they are enough.
  private func linesOf(
    _ descriptor: Int32, until areEnough: @escaping @Sendable ([String]) -> Bool
  ) async throws -> [String] {
    try await JoinedThread.run {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = poll(&entry, 1, 60_000) > 0 ? read(descriptor, &chunk, chunk.count) : 0
        guard count > 0 else { throw DeadlinePassed(description: "no more lines after \(bytes.count) bytes") }
        bytes += chunk[..<count]
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        if bytes.last == 0x0A, areEnough(lines) { return lines }
      }
    }
  }

  @Test("Ctrl-C ends a stream with 0; a reader that goes away ends it quietly")
  func streams() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let record = LogRecord(time: "t", worker: "w", level: "info", category: "c", message: "m\u{1B}")
      let hub = try hub(directory) { hub, call, _, _ in
        _ = hub.answer(call, String(decoding: JSONPayload.encode([record]), as: UTF8.self), more: true)
      }
      let following = try Program(hub, ["logs", "-f"])
      let line = try await following.line { $0.contains("info") }
      #expect(line == #"t  w             info      c         m\e"#)
      following.process.send(SIGINT)
      #expect(try await following.ending() == .exited(0))

      let pipe = try Descriptors.pipe()
      let unread = try Program(hub, ["logs", "-f"], descriptors: [1: pipe.second])
      Descriptors.close(pipe.second)
      Descriptors.close(pipe.first)
      #expect(try await unread.ending() == .exited(0))
      #expect(try await unread.allOutput() == "")
      hub.stop()
    }
  }

  @Test("Events are printed as they happen, across a restart of the supervisor, with a mark where some may be missing")
  func events() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try hub(directory) { _, _, _, _ in }
      let program = try Program(hub, ["events"])
      let event = #"{"time":"t","worker":"w","from":"starting","to":"ready","sentence":"it said READY"}"#
      let repeated = LoopTimer()
      @EventLoopActor func publish() {
        hub.publish("supervisor.events", event)
        repeated.set(afterMilliseconds: 20) { publish() }
      }
      publish()
      let line = try await program.line { $0.contains("ready") }
      #expect(line == "t  w               starting → ready        it said READY")
      hub.stop()
      try hub.start()
      let gap = try await program.line { $0.hasPrefix("--") }
      #expect(gap.contains("missing here"))
      program.process.send(SIGINT)
      #expect(try await program.ending() == .exited(0))
      repeated.cancel()
      hub.stop()
    }
  }
}
