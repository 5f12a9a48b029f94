import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// Peers, workers and clean-ups that mean no good.
  @Suite("Bad intentions")
  struct HostileTests {
    private static func token(_ client: BusPeer, _ name: String) throws -> String {
      let answer = try client.call("supervisor.attach", #"{"role":"example","name":"\#(name)"}"#)
      return try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
    }

    private static func attach(
      _ roost: RunningRoost, _ client: BusPeer, _ name: String, methods: [String] = [], frameLimit: Int? = nil
    ) throws -> BusPeer {
      let visitor = try BusPeer(socket: roost.socket, hello: nil)
      var hello = Hello(name: name, role: "example")
      hello.token = try token(client, name)
      hello.methods = methods
      hello.frameLimit = frameLimit
      visitor.send(FrameHeader(type: .hello), JSONPayload.encode(hello))
      try awaitSoon("an answer to HELLO") {
        visitor.receive(withinMilliseconds: 20)
        return visitor.welcome != nil || visitor.isEnded
      }
      return visitor
    }

    @Test("What a worker started does not get in, whatever it has shed of its origin")
    func sneaker() throws {
      try withRoost { roost in
        let client = try roost.client()
        let order = #"{"key":"\#(roost.socket)","path":"\#(roost.path("report"))"}"#
        #expect(try client.call("example.sneak", order).isResponse)
        try awaitSoon("the report") { !roost.lines("report").isEmpty }
        #expect(roost.lines("report") == ["refused"])
      }
    }

    @Test("A worker that is not let in is told of with the reason")
    func refusedWorker() throws {
      let keys = ["restart": "\"never\""]
      try withRoost(.one(["--greet-as", "client"], keys), awaitsReady: false) { roost in
        let status = try roost.awaitWorker("example", "has ended") { $0.state == "exited" || $0.state == "failed" }
        #expect(status.lastExit?.contains("greets as 'client'") == true, "\(status.lastExit ?? "")")
      }
    }

    @Test("A HELLO that is announced with more than 64 KiB is refused by its header, before anything of it is kept")
    func longHello() throws {
      try withRoost(Layout(bus: ["hello-deadline": "\"60s\""])) { roost in
        for length: UInt32 in [65_581, 1 << 20] {
          let peer = try BusPeer(socket: roost.socket, hello: nil)
          peer.sendBytes(withUnsafeBytes(of: length.littleEndian) { Array($0) } + [1, FrameType.hello.rawValue, 0, 0])
          try peer.waitForEnd()
          #expect(peer.fatal?.code == .badLength)
        }
        let peer = try BusPeer(socket: roost.socket, hello: nil)
        var hello = JSONPayload.encode(Hello(name: "long", role: "client"))
        hello += [UInt8](repeating: UInt8(ascii: " "), count: Hello.byteCountMaximum - hello.count)
        peer.send(FrameHeader(type: .hello), hello)
        try peer.wait("WELCOME", within: 10) { peer.welcome != nil }
      }
    }

    @Test(
      "An event that no worker takes is refused to its sender, whatever method it names, and leaves nobody with work",
      arguments: [FrameFlags.needsAck, [.needsAck, .atMostOnce], [.needsAck, .raw]])
    func eventForNobody(flags: FrameFlags) throws {
      var layout = ServingRig.layout()
      for index in layout.workers.indices { layout.workers[index].keys["stuck-after"] = "\"2s\"" }
      try ServingRig.run(layout) { rig in
        let members = try #require(rig.client.welcome).registry.members
        let methods = try #require(rig.client.welcome).registry.methods
        for member in members where member.role != Role.supervisor.name && member.role != "client" {
          for (name, method) in methods.sorted(by: { $0.key < $1.key }) where method.role == member.role {
            let header = try rig.client.request(
              name, flags: flags, to: Endpoint(rawValue: member.endpoint), type: .event)
            try rig.client.wait("credit") { rig.client.hasCredit }
            rig.client.spend(2)
            rig.client.send(header, Array("{}".utf8))
            try rig.client.wait("a word for \(name)", within: 10) { rig.client.acknowledgements[header.id] != nil }
          }
        }
        for worker in try rig.roost.status(rig.client).workers { #expect(worker.generation == 1, "\(worker.name)") }
      }
    }

    @Test("A violation behind a long frame that came in pieces ends its peer and nobody else")
    func violationBehindLongFrame() throws {
      try withRoost { roost in
        let witness = try roost.client("witness")
        let peer = try roost.client("wrong")
        let frame = BusPeer.bytes(
          try peer.request("example.echo"), [UInt8](repeating: UInt8(ascii: "x"), count: 400_000))
        let wrong = BusPeer.bytes(FrameHeader(type: .welcome), [])
        peer.sendBytes(Array(frame[..<300_000]))
        // The first part has been read when the next question is answered.
        #expect(try witness.call("example.echo", "before").text == "before")
        peer.sendBytes(Array(frame[300_000...]) + wrong)
        try awaitSoon("the end of the peer") {
          peer.receive(withinMilliseconds: 20)
          return peer.isEnded
        }
        #expect(peer.fatal?.code == .unknownType)
        #expect(try witness.call("example.echo", "after").text == "after")
      }
    }

    @Test("A name is attached once, and one that could not be let in takes nobody's place")
    func guests() throws {
      try withRoost { roost in
        let client = try roost.client()
        let pid = try roost.worker("example", client).pid
        let first = try Self.attach(roost, client, "guest", methods: ["example.guest"])
        #expect(first.welcome != nil)
        let second = try Self.attach(roost, client, "guest", methods: ["example.guest"])
        #expect(second.fatal?.code == .nameTaken)
        let forbidden = try Self.attach(roost, client, "example", methods: ["example.fine", "relay.list"])
        #expect(forbidden.fatal?.code == .notPermitted)
        #expect(try roost.worker("example", client).pid == pid)
        #expect(try client.call("supervisor.attach", #"{"role":"example","name":"a b;c"}"#).refusal != nil)
      }
    }

    @Test("Nobody is sent a longer frame than it said it takes")
    func lengths() throws {
      try withRoost { roost in
        let client = try roost.client()
        let guest = try Self.attach(roost, client, "guest", methods: ["example.guest"], frameLimit: 65_536)
        guest.send(FrameHeader(type: .ready))
        try client.wait("its method") { client.welcome?.registry.methods["example.guest"] != nil }
        let long = String(repeating: "x", count: 70_000)
        let refusal = try client.call("example.guest", long).refusal
        #expect(refusal?.code == .badRequest && refusal?.outcome == .notStarted)

        var hello = Hello(name: "small", role: "client")
        hello.frameLimit = 65_536
        let small = try BusPeer(socket: roost.socket, hello: hello)
        let lost = try small.call("example.parts", #"{"parts":2,"bytes":70000}"#)
        #expect(lost.refusal?.code == .failed && lost.parts.isEmpty)
        #expect(try small.call("example.echo", "still").text == "still")
      }
    }

    @Test("A guest whose methods would make REGISTRY too long for a worker is refused itself, and nobody else is hurt")
    func longRegistry() throws {
      try withRoost { roost in
        let client = try roost.client()
        let narrow = try Self.attach(roost, client, "narrow", frameLimit: 65_536)
        #expect(narrow.welcome != nil)
        var refusal: Refusal?
        var count = 0
        while refusal == nil, count < 10 {
          // 200 names of 60 bytes are about 22 KB of registry.
          let names = (0..<200).map { "example.\(count)-\($0)-" + String(repeating: "m", count: 45) }
          let guest = try Self.attach(roost, client, "guest-\(count)", methods: names)
          refusal = guest.fatal
          count += 1
        }
        #expect(refusal?.code == .full && refusal?.message.contains("narrow takes less") == true, "\(refusal as Any)")
        #expect(count > 1 && count < 6)
        narrow.receive(withinMilliseconds: 50)
        #expect(narrow.fatal == nil && !narrow.isEnded)
        #expect(try client.call("example.echo", "still").text == "still")
        #expect(try roost.worker("example", client).generation == 1)
      }
    }

    @Test("A dead letter longer than a frame is shown cut, and dropped")
    func longLetter() throws {
      try withRoost(Layout(bus: ["deliveries-maximum": "1"])) { roost in
        let client = try roost.client()
        let payload = #"{"lives":1,"key":"\#(String(repeating: #"\""#, count: 400_000))"}"#
        #expect(try client.call("example.die", payload).refusal?.code == .quarantined)
        func letters(_ action: String) throws -> DeadLettersResult {
          let answer = try client.call("supervisor.dead-letters", #"{"action":\#(action)}"#)
          return try JSONPayload.decode(DeadLettersResult.self, from: answer.terminal.payload)
        }
        try awaitSoon("the letter") { try !letters(#""list""#).letters.isEmpty }
        let id = try #require(try letters(#""list""#).letters.first?.id)
        let shown = try letters(#""show","id":"\#(id)""#)
        #expect(shown.letters.first?.payload.hasPrefix(#"{"lives":1"#) == true && shown.sentence != nil)
        #expect(try letters(#""drop","id":"\#(id)""#).letters.map(\.id) == [id])
        #expect(client.fatal == nil && !client.isEnded)
      }
    }

    @Test(
      "A dead letter of the last moment is on the disk when roostd ends; with a maximum of 0 none is",
      arguments: [0, 10])
    func lastLetter(maximum: Int) throws {
      try withRoost(Layout(bus: ["deliveries-maximum": "1", "dead-letters-maximum": "\(maximum)"])) { roost in
        let client = try roost.client()
        #expect(try client.call("example.die", #"{"lives":1}"#).refusal?.code == .quarantined)
        roost.daemon.send(SIGTERM)
        #expect(try roost.daemon.waitForEnd() == .exited(0))
        let list = try SpawnedProcess("/bin/ls", [roost.path("state/dead-letters")])
        #expect(try list.readAllOutput().split(separator: "\n").count == min(1, maximum))
      }
    }

    @Test("Directories and locks that are removed under roostd are made again")
    func removedDirectories() throws {
      try withRoost { roost in
        let client = try roost.client()
        let before = try roost.worker("example", client)
        let cleaner = try SpawnedProcess("/bin/rm", ["-rf", roost.path("run"), roost.path("state")])
        _ = try cleaner.waitForEnd()
        kill(pid_t(try #require(before.pid)), SIGKILL)
        try roost.awaitWorker("example", "is ready again", within: 30, client) {
          $0.state == "ready" && $0.generation == 2
        }
        let second = try SpawnedProcess(
          SpawnedProcess.builtProgram("roostd"), ["--config", roost.configuration],
          environment: ["PATH=/usr/bin:/bin", "HOME=\(roost.directory.path)"])
        #expect(try second.waitForEnd() == .exited(3))
      }
    }

    @Test("roostd does not remove a file that is no socket to listen in its place")
    func noSocket() throws {
      let directory = try TemporaryDirectory()
      let file = directory.path + "/diary"
      let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll("dear diary", to: descriptor)
      Descriptors.close(descriptor)
      var layout = Layout()
      layout.supervisor["socket"] = "\"\(file)\""
      let text = layout.text(directory: directory.path, program: SpawnedProcess.builtProgram("misbehaving-worker"))
      let configuration = open(directory.path + "/supervisor.conf", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(text, to: configuration)
      Descriptors.close(configuration)
      let roostd = try SpawnedProcess(
        SpawnedProcess.builtProgram("roostd"), ["--config", directory.path + "/supervisor.conf"],
        environment: ["PATH=/usr/bin:/bin", "HOME=\(directory.path)"])
      #expect(try roostd.waitForEnd() == .exited(71))
      #expect(SharedFolder.bytes(ofFile: file) == Array("dear diary".utf8))
    }

    @Test("roost ends with standard output closed, and when the reader of a stream goes")
    func closedOutput() throws {
      try withRoost { roost in
        let program = SpawnedProcess.builtProgram("roost")
        let environment = ["PATH=/usr/bin:/bin", "ROOST_SOCKET=\(roost.socket)"]
        let status = try SpawnedProcess(program, ["status"], environment: environment, closed: [0, 1])
        #expect(try status.waitForEnd() == .exited(0))
        for command in [["logs", "-f"], ["events"]] {
          let pipe = try Descriptors.pipe()
          let follower = try SpawnedProcess(program, command, environment: environment, descriptors: [1: pipe.second])
          Descriptors.close(pipe.second)
          if command[0] == "logs" {
            var byte: UInt8 = 0
            #expect(read(pipe.first, &byte, 1) == 1)
          }
          Descriptors.close(pipe.first)
          #expect(try follower.waitForEnd() == .exited(0))
        }
      }
    }
  }
}
