import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// `roost bus` and `supervisor.*`, as programs of others use them.
  @Suite("Lines of JSON instead of frames")
  struct BusCommandTests {
    @Test("What a worker says while it works is a line before its answer; the former name of the command still works")
    func progress() throws {
      try withRoost { roost in
        let request = #"{"id":"a","method":"example.progress","params":{"parts":3}}"#
        let output = try roost.command(["pipe"], input: request + "\n").output
        let lines = output.split(separator: "\n")
        // Of what comes faster than it can be written the last is enough.
        #expect((2...4).contains(lines.count), "\(output)")
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix(#"{"id":"a","progress":{"text":"#) }, "\(output)")
        #expect(lines.dropLast().last == #"{"id":"a","progress":{"text":"3"}}"#)
        #expect(lines.last == #"{"id":"a","result":{"parts":3}}"#)
      }
    }

    @Test("One process asks, cancels and subscribes at once; a line that says nothing ends nothing")
    func conversation() throws {
      try withRoost { roost in
        let program = try LineProgram(roost, ["bus", "--name", "a program"])
        try program.send(#"{"id":"slow","method":"example.slow","params":{"milliseconds":60000}}"#)
        try program.send(#"{"id":"events","subscribe":"supervisor.events"}"#)
        try program.line(with: #"{"id":"events","subscribed":true}"#)
        #expect(try roost.status().clients.contains { $0.name == "a program" })
        for (line, problem) in [
          ("nonsense", "line 3 is not JSON"), ("[]", "line 4 is not an object"), ("{}", "line 5: 'method' is missing"),
          (#"{"id":7,"subscribe":"supervisor.event"}"#, "did you mean 'supervisor.events'"),
          (#"{"id":8,"method":"example.ecko"}"#, "did you mean 'example.echo'"),
          (#"{"id":9,"method":"example.echo","to":"nowhere"}"#, "there is no worker 'nowhere'"),
        ] {
          try program.send(line)
          let answer = try program.line(with: problem)
          #expect(answer.contains(#""error":{"code":"#) && answer.contains(#""outcome":"not-started""#), "\(answer)")
        }
        try program.send(#"{"id":{"n":1},"method":"example.echo","params":{"key":"1.50"}}"#)
        try program.line(with: #"{"id":{"n":1},"result":{"key":"1.50"}}"#)
        try program.send(#"{"cancel":"slow"}"#)
        try program.line(with: #"{"id":"slow","error":{"code":"cancelled""#)
        _ = try roost.client().call("supervisor.restart", #"{"worker":"example"}"#)
        try program.line(with: #"{"id":"events","event":{"#)
        try program.send(#"{"cancel":"events"}"#)
        try program.send(#"{"cancel":"what has ended long ago"}"#)
        try program.line(with: #"{"id":"events","error":{"code":"cancelled""#)
        #expect(try program.finish().ending == .exited(0))
      }
    }

    @Test("When roostd dies, each request ends with its fate; what is asked later waits for the next roostd")
    func death() throws {
      try withRoost(.store) { roost in
        let program = try LineProgram(roost, ["bus"])
        try program.send(#"{"id":"events","subscribe":"supervisor.events"}"#)
        try program.line(with: "subscribed")
        // So that it answers nothing.
        kill(pid_t(try #require(roost.worker("event-store").pid)), SIGSTOP)
        let request = #""method":"store.count","params":{"filters":[{}]}"#
        try program.send(#"{"id":"once",\#(request)}"#)
        try program.send(#"{"id":"again",\#(request),"idempotent":true}"#)
        // It is answered after both were sent.
        try program.send(#"{"id":"last","method":"supervisor.version"}"#)
        try program.line(with: #"{"id":"last","result""#)
        try roost.killDaemonAndWorkers()
        let fate = try program.line(with: #"{"id":"once","error""#)
        #expect(fate.contains(#""code":"disconnected""#) && fate.contains(#""outcome":"unknown""#), "\(fate)")
        try program.send(#"{"id":"later",\#(request)}"#)
        try roost.startAgain()
        try program.line(with: #"{"id":"later","result":{"count":0"#)
        try program.line(with: #"{"id":"again","result":{"count":0"#)
        try program.line(with: #"{"id":"events","missed":null}"#)
        try program.send(#"{"cancel":"events"}"#)
        #expect(try program.finish().ending == .exited(0))
      }
    }

    @Test("An answer with a window is written as far as its reader grants, and is no obstacle for another")
    func window() throws {
      try withRoost { roost in
        let program = try LineProgram(roost, ["bus"])
        try program.send(#"{"id":1,"method":"example.flow","params":{"parts":1000,"bytes":3},"window":2}"#)
        try program.send(#"{"id":"echo","method":"example.echo"}"#)
        try program.line(with: #"{"id":"echo","result""#)
        try program.send(#"{"more":1,"count":3}"#)
        try program.send(#"{"id":"then","method":"example.slow","params":{"milliseconds":200}}"#)
        try program.line(with: #"{"id":"then","result""#)
        try program.send(#"{"cancel":1}"#)
        try program.line(with: #"{"id":1,"error":{"code":"cancelled""#)
        let (output, ending) = try program.finish()
        let lines = output.split(separator: "\n")
        let cut = try #require(lines.firstIndex { $0.contains("then") })
        #expect(lines[..<cut].count { $0 == #"{"id":1,"part":"xxx"}"# } == 5)
        #expect(ending == .exited(0))
      }
    }

    @Test("A reader that does not read holds the producer back, in little memory, and can still give the answer up")
    func backPressure() throws {
      try withRoost { roost in
        let output = try Descriptors.pipe()
        defer { Descriptors.close(output.first) }
        let program = try LineProgram(roost, ["bus"], descriptors: [1: output.second])
        Descriptors.close(output.second)
        try program.send(#"{"id":0,"method":"example.echo"}"#)
        try Self.read(output.first) { $0.contains("result") }
        let before = (roost.memory(of: program.process.pid), roost.memory())
        // 400 MB in all; of these the window of the answer, and the same in the hub.
        try program.send(#"{"id":1,"method":"example.flow","params":{"parts":100000,"bytes":4000}}"#)
        try Self.read(output.first) { $0.contains(#""part""#) }
        var memory = -1
        try awaitSoon("it holds no more", every: 300) {
          defer { memory = roost.memory(of: program.process.pid) }
          return memory == roost.memory(of: program.process.pid)
        }
        #expect(memory - before.0 < 8 << 20)
        #expect(roost.memory() - before.1 < 8 << 20)
        try program.send(#"{"cancel":1}"#)
        try Self.read(output.first) { $0.contains(#"{"id":1,"error":{"code":"cancelled""#) }
        #expect(try program.finish().ending == .exited(0))
      }
    }

    /// Reads a pipe until its text is enough.
    private static func read(_ descriptor: Int32, until isEnough: (String) -> Bool) throws {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let isReady = poll(&entry, 1, 30_000) > 0
        let count = isReady ? Glibc.read(descriptor, &chunk, chunk.count) : 0
        guard count > 0 else {
          throw DeadlinePassed(description: "no more after \(String(decoding: bytes.suffix(200), as: UTF8.self))")
        }
        bytes += chunk[..<count]
        bytes = bytes.suffix(chunk.count)
        if isEnough(String(decoding: bytes, as: UTF8.self)) { return }
      }
    }

    @Test("An argument that a method of the supervisor does not have is refused, with the nearest one")
    func supervisorArguments() throws {
      try withRoost { roost in
        let client = try roost.client()
        for (method, json, message) in [
          ("stop", #"{"worker":"example","drainMiliseconds":1}"#, "has no argument 'drainMiliseconds'; did you mean"),
          ("start", #"{"worker":"example","hold":true}"#, "has no argument 'hold'"),
          ("status", #"{"memroy":true}"#, "did you mean 'memory'?"), ("doctor", #"{"x":1}"#, "it takes none"),
          ("why", "{}", "'worker' is missing"), ("shutdown", #"{"now":true}"#, "it takes none"),
          ("logs", #"{"lines":1,"lines":2}"#, "'lines' is there twice"), ("reload", #"{"dry-run":true}"#, "dryRun"),
        ] {
          let refusal = try client.call("supervisor." + method, json).refusal
          #expect(refusal?.code == .badRequest && refusal?.outcome == .notStarted, "\(method)")
          #expect(refusal?.message.contains(message) == true, "\(refusal?.message ?? method)")
        }
      }
    }
  }
}
