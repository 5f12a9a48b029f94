import Contracts
import Frames
import Glibc
import Recordings
import TestSupport
import Testing

/// `roost record` under way.
final class RecordCommand {
  let process: SpawnedProcess
  let path: String

  init(_ roost: RunningRoost, _ arguments: [String] = ["--restart"], worker: String = "example", to name: String) throws
  {
    path = roost.path(name)
    process = try SpawnedProcess(
      SpawnedProcess.builtProgram("roost"), ["record", worker, "--output", path] + arguments,
      environment: ["PATH=/usr/bin:/bin", "ROOST_SOCKET=\(roost.socket)"])
  }

  /// Waits until the first frame can be recorded.
  func awaitBegin() throws { _ = try process.readLine { $0.hasPrefix("Recording ") } }

  /// Ctrl-C; what it wrote.
  @discardableResult
  func end() throws -> String {
    process.send(SIGINT)
    let text = try process.readAllOutput()
    #expect(try process.waitForEnd() == .exited(0), "\(text)")
    return text
  }

  /// The file, read.
  func recording() throws -> Recording { try Recording(reading: SharedFolder.bytes(ofFile: path) ?? []) }
}

extension ProcessTests {
  @Suite("Recordings")
  struct RecordingTests {
    /// `roost replay` of a file to a worker with these flags.
    private func replay(
      _ path: String, _ flags: [String] = [], options: [String] = []
    ) throws -> (ending: SpawnedProcess.Ending, text: String) {
      let process = try SpawnedProcess(
        SpawnedProcess.builtProgram("roost"),
        ["replay", path] + options + ["--", SpawnedProcess.builtProgram("misbehaving-worker")] + flags)
      let text = try process.readAllOutput()
      return (try process.waitForEnd(), text)
    }

    /// Calls, streamed answers, a cancelled request, events, and a drain: everything that a worker may be told.
    private func exercise(_ roost: RunningRoost, _ client: BusPeer) throws {
      for number in 0..<20 { #expect(try client.call("example.echo", "\(number)").text == "\(number)") }
      #expect(try client.call("example.parts", #"{"parts":300,"bytes":9000}"#).parts.count == 300)
      let slow = try client.ask("example.slow", #"{"milliseconds":60000}"#)
      let together = try (0..<30).map { try client.ask("example.echo", "together \($0)") }
      for id in together { #expect(try client.answer(to: id).isResponse) }
      client.send(FrameHeader(type: .cancel, re: slow))
      #expect(try client.answer(to: slow).refusal?.code == .cancelled)
      let event = try client.ask("example.notice", "{}", flags: .needsAck, type: .event)
      try client.wait("the acknowledgement") { client.acknowledgements[event] != nil }
    }

    @Test("A recording replays to identical outputs, again and again")
    func replaysIdentically() throws {
      try withRoost { roost in
        let record = try RecordCommand(roost, to: "a.recording")
        try record.awaitBegin()
        let client = try roost.client()
        try exercise(roost, client)
        let text = try record.end()
        #expect(text.contains("Play it again"))
        let recording = try record.recording()
        #expect(recording.end?.reason == .asked && recording.missingCount == 0 && !recording.isCutOff)
        #expect(recording.frames.first?.header.type == .hello)
        for _ in 0..<3 {
          let result = try replay(record.path)
          #expect(result.ending == .exited(0) && result.text.hasPrefix("identical"), "\(result.text)")
        }
        let paced = try replay(record.path, options: ["--paced", "--json"])
        #expect(paced.ending == .exited(0) && paced.text.contains(#""outcome":"identical""#), "\(paced.text)")
      }
    }

    @Test("A program that answers otherwise gives a difference that names the frame")
    func differs() throws {
      try withRoost { roost in
        let record = try RecordCommand(roost, to: "a.recording")
        try record.awaitBegin()
        let client = try roost.client()
        try exercise(roost, client)
        try record.end()
        let number = try #require(
          try record.recording().frames.firstIndex { $0.direction == .fromWorker && $0.header.type == .response })
        let result = try replay(record.path, ["--say", "else"])
        #expect(result.ending == .exited(1))
        #expect(result.text.hasPrefix("different at frame \(number + 1) of "), "\(result.text)")
        #expect(result.text.contains("expected  RESPONSE") && result.text.contains("got       RESPONSE"))
        let dead = try replay(record.path, ["--die-at", "ready"])
        #expect(dead.ending == .exited(1) && dead.text.contains("killed by signal 9"), "\(dead.text)")
        let mute = try replay(record.path, ["--never-ready"], options: ["--timeout", "300ms"])
        #expect(mute.ending == .exited(5) && mute.text.contains("READY"), "\(mute.text)")
      }
    }

    @Test("A worker killed in the middle of its recording leaves a file that is readable, private, and replays")
    func killed() throws {
      try withRoost { roost in
        let client = try roost.client()
        let record = try RecordCommand(roost, to: "a.recording")
        try record.awaitBegin()
        try roost.awaitWorker("example", "is new", within: 30, client) { $0.state == "ready" && $0.generation == 2 }
        #expect(try client.call("example.echo", "before").isResponse)
        kill(try #require(try roost.worker("example", client).pid), SIGKILL)
        let text = try record.process.readAllOutput()
        #expect(try record.process.waitForEnd() == .exited(0) && text.contains("Ended with the connection"), "\(text)")
        let recording = try record.recording()
        #expect(recording.end?.reason == .connection)
        #expect(recording.frames.contains { $0.payload == Array("before".utf8) && $0.direction == .fromWorker })
        var status = stat()
        #expect(stat(record.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try replay(record.path).ending == .exited(0))
        // The next life is not recorded, and lives as if nothing had been.
        #expect(try client.call("example.echo", "after").text == "after")
      }
    }

    @Test("A recording never passes its size, says that it reached it, and replays as far as it goes")
    func limited() throws {
      try withRoost { roost in
        let record = try RecordCommand(roost, ["--restart", "--bytes", "262144"], to: "a.recording")
        try record.awaitBegin()
        let client = try roost.client()
        #expect(try client.call("example.parts", #"{"parts":500,"bytes":9000}"#).parts.count == 500)
        let text = try record.process.readAllOutput()
        #expect(try record.process.waitForEnd() == .exited(0) && text.contains("Ended at its size"), "\(text)")
        #expect(try record.recording().end?.reason == .size)
        #expect((SharedFolder.bytes(ofFile: record.path)?.count ?? .max) <= 262_144)
        #expect(try replay(record.path).ending == .exited(0))
      }
    }

    @Test("A disk that takes no more ends the recording and nothing else; what is in the file can be read and replayed")
    func fullDisk() throws {
      try withRoost { roost in
        let record = try RecordCommand(roost, to: "a.recording")
        try record.awaitBegin()
        let client = try roost.client()
        #expect(try client.call("example.echo", "before").isResponse)
        let limit = try SpawnedProcess("/usr/bin/prlimit", ["--pid", "\(roost.daemon.pid)", "--fsize=200000"])
        #expect(try limit.waitForEnd() == .exited(0))
        #expect(try client.call("example.parts", #"{"parts":100,"bytes":9000}"#).parts.count == 100)
        let text = try record.process.readAllOutput()
        #expect(try record.process.waitForEnd() == .exited(1), "\(text)")
        #expect(text.contains("Ended by a fault of the disk"), "\(text)")
        #expect(text.contains("195 KiB"), "what is in the file, not what was meant to be: \(text)")
        #expect(try client.call("example.echo", "after").text == "after")
        #expect(SharedFolder.bytes(ofFile: record.path)?.count == 200_000)
        let recording = try record.recording()
        #expect(recording.isCutOff && recording.end == nil)
        let show = try SpawnedProcess(SpawnedProcess.builtProgram("roost"), ["recording", "show", record.path])
        #expect(
          try show.readAllOutput().contains("truncated: the recording stops without an end, in the middle of a record"))
        #expect(try show.waitForEnd() == .exited(1))
        let result = try replay(record.path)
        #expect(result.ending == .exited(0), "\(result.text)")
      }
    }

    @Test("A worker started by hand is recorded without its token")
    func attached() throws {
      try withRoost { roost in
        let client = try roost.client()
        #expect(try client.call("supervisor.hold", #"{"worker":"example"}"#).isResponse)
        let record = try RecordCommand(roost, [], to: "a.recording")
        _ = try record.process.readLine { $0.hasPrefix("Waiting ") }
        let grant = try JSONPayload.decode(
          AttachGrant.self,
          from: try client.call("supervisor.attach", #"{"role":"example","name":"example"}"#).terminal.payload)
        var hello = Hello(name: "example", role: "example")
        hello.token = grant.token
        let visitor = try BusPeer(socket: roost.socket, hello: hello)
        try record.awaitBegin()
        visitor.send(FrameHeader(type: .goodbye))
        try record.end()
        let text = String(decoding: SharedFolder.bytes(ofFile: record.path) ?? [], as: UTF8.self)
        #expect(text.contains("GOODBYE") || text.contains(#""name":"example""#))
        #expect(!text.contains(grant.token))
        #expect(try record.recording().frames.first?.header.type == .hello)
      }
    }

    @Test("A worker of one's own that no configuration names is recorded while it is here, and cannot be restarted")
    func guest() throws {
      try withRoost { roost in
        let client = try roost.client()
        let answer = try client.call("supervisor.attach", #"{"role":"example","name":"guest"}"#)
        var hello = Hello(name: "guest", role: "example")
        hello.token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
        let guest = try BusPeer(socket: roost.socket, hello: hello)
        let refused = try RecordCommand(roost, worker: "guest", to: "refused.recording")
        #expect(try refused.process.readAllOutput().contains("guest was started by hand, and roostd cannot start it"))
        let asked = try RecordCommand(roost, [], worker: "guest", to: "asked.recording")
        try asked.awaitBegin()
        let twice = try RecordCommand(roost, [], worker: "guest", to: "twice.recording")
        #expect(try twice.process.readAllOutput().contains("guest is being recorded to"))
        try asked.end()
        #expect(try asked.recording().end?.reason == .asked)
        let record = try RecordCommand(roost, [], worker: "guest", to: "a.recording")
        try record.awaitBegin()
        guest.send(FrameHeader(type: .goodbye))
        guest.sendBytes([0, 0, 0, 0])
        let text = try record.process.readAllOutput()
        #expect(try record.process.waitForEnd() == .exited(0), "\(text)")
        let recording = try record.recording()
        #expect(recording.opening.worker == "guest" && recording.opening.role == "example")
        #expect(!recording.opening.isFromStart && recording.opening.program.isEmpty)
        #expect(recording.end?.reason == .connection && recording.frames.first?.header.type == .goodbye)
        #expect(recording.opening.methods?["example.echo"] != nil)
      }
    }

    @Test("A recording from the middle is shown, and not replayed; one is made over no file, and none twice at once")
    func fromTheMiddle() throws {
      try withRoost { roost in
        let client = try roost.client()
        let record = try RecordCommand(roost, ["--seconds", "1"], to: "a.recording")
        try record.awaitBegin()
        let second = try RecordCommand(roost, [], to: "b.recording")
        #expect(try second.process.readAllOutput().contains("is being recorded to"))
        #expect(try second.process.waitForEnd() == .exited(1))
        #expect(try client.call("example.echo", "middle").isResponse)
        #expect(try record.process.readAllOutput().contains("Ended at its time"))
        #expect(try replay(record.path).text.contains("--restart"))
        let show = try SpawnedProcess(SpawnedProcess.builtProgram("roost"), ["recording", "show", record.path])
        let text = try show.readAllOutput()
        #expect(text.contains("← RESPONSE example.echo") && text.contains("middle"), "\(text)")
        let before = SharedFolder.bytes(ofFile: record.path)
        let over = try RecordCommand(roost, [], to: "a.recording")
        #expect(try over.process.readAllOutput().contains("It is there already, and nothing is written over"))
        #expect(SharedFolder.bytes(ofFile: record.path) == before)
      }
    }

    @Test("A worker that is restarted in the middle of its start is recorded from the next HELLO, not from that one")
    func restartedWhileStarting() throws {
      try withRoost(.one(["--ready-after", "400"])) { roost in
        let client = try roost.client()
        try client.ask("supervisor.restart", #"{"worker":"example"}"#)
        try roost.awaitWorker("example", "starts again", within: 30, client) {
          $0.state == "starting" && $0.generation == 2
        }
        let record = try RecordCommand(roost, to: "a.recording")
        try record.awaitBegin()
        try roost.awaitWorker("example", "is ready", within: 30, client) { $0.state == "ready" }
        #expect(try client.call("example.echo", "x").text == "x")
        try record.end()
        let recording = try record.recording()
        #expect(recording.opening.generation == 3)
        #expect(recording.frames.filter { $0.header.type == .hello }.count == 1)
        #expect(try replay(record.path, ["--ready-after", "1"]).ending == .exited(0))
      }
    }

    @Test("A worker may not record another, even if it may call the supervisor; a path is absolute")
    func forClientsOnly() throws {
      try withRoost { roost in
        let client = try roost.client()
        try roost.rewrite { $0.roleKeys["may-call"] = "[\"supervisor.*\"]" }
        #expect(try client.call("supervisor.reload").isResponse)
        let grant = try JSONPayload.decode(
          AttachGrant.self,
          from: try client.call("supervisor.attach", #"{"role":"example","name":"guest"}"#).terminal.payload)
        var hello = Hello(name: "guest", role: "example")
        hello.token = grant.token
        let guest = try BusPeer(socket: roost.socket, hello: hello)
        #expect(try guest.call("supervisor.status").isResponse)
        let order = #"{"worker":"example","path":"\#(roost.path("stolen"))"}"#
        #expect(try guest.call("supervisor.record", order).refusal?.code == .denied)
        let relative = try client.call("supervisor.record", #"{"worker":"example","path":"here"}"#)
        #expect(relative.refusal?.code == .badRequest)
        #expect(access(roost.path("stolen"), F_OK) != 0)
        guest.send(FrameHeader(type: .goodbye))
      }
    }

    @Test("A recording ends when whoever asked for it leaves, and keeps nobody from recording again")
    func callerLeaves() throws {
      try withRoost { roost in
        let client = try roost.client()
        let record = try RecordCommand(roost, [], to: "a.recording")
        try record.awaitBegin()
        record.process.send(SIGKILL)
        _ = try record.process.waitForEnd()
        try awaitSoon("its end is written") { (try? record.recording().end?.reason) == .asked }
        let next = try RecordCommand(roost, [], to: "b.recording")
        try next.awaitBegin()
        #expect(try client.call("example.echo", "x").isResponse)
        try next.end()
      }
    }
  }
}
