import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `roost setup` with real workers, and relays by other people.
  @Suite("roost setup", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct SetupTests {
    private struct Step: Decodable { let step: String }

    private let directory: TemporaryDirectory
    private let alice = SecretKey.generate()
    private let bob = SecretKey.generate()

    init() throws { directory = try TemporaryDirectory() }

    private static func layout(_ relays: [String], port: UInt16, indexers: [String]) -> Layout {
      var layout = Layout.localRelay(port: port, beside: PlannerRig.layout(relays))
      layout.workers.append(
        Layout.Worker(
          name: "mirror",
          keys: [
            "role": "\"mirror\"", "program": "\"\(SpawnedProcess.builtProgram("mirror"))\"", "sandbox": "\"try\"",
          ]))
      if let place = layout.workers.firstIndex(where: { $0.name == "outbox-planner" }) {
        layout.workers[place].keys["indexers"] = "[" + indexers.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
      }
      return layout
    }

    private func event(_ author: SecretKey, _ number: Int, _ tags: [[String]] = [], kind: UInt16 = 1) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: WallClock.seconds - 100 * Int64(number) - 100, kind: kind, tags: tags,
        content: kind == 0 ? #"{"name":"Alice"}"# : "\(number)"
      ).signed(by: author)
    }

    /// Alice's lists, 60 notes of hers, and 30 that name her.
    private func world(_ url: String) -> [Event] {
      [
        event(alice, 1, kind: 0), event(alice, 2, [["p", "\(bob.publicKey)"]], kind: 3),
        event(alice, 3, [["r", url]], kind: 10_002), event(alice, 4, [["relay", url]], kind: 10_050),
      ] + (0..<60).map { event(alice, 10 + $0) } + (0..<30).map { event(bob, $0, [["p", "\(alice.publicKey)"]]) }
    }

    private func accounts(_ roost: RunningRoost) throws -> [SignerAccount] {
      let answer = try roost.client().call("signer.accounts", "{}")
      return try JSONPayload.decode(SignerAccounts.self, from: answer.terminal.payload).accounts
    }

    /// A Roost beside a relay with alice's world; the relay names itself in her lists.
    private func withWorld(
      _ body: (RunningRoost, _ relay: String) throws -> Void
    ) throws {
      let port = try RelayVisitor.freePort()
      let relay = try RealRelay("--port", "\(port)")
      let local = try RelayVisitor.freePort()
      try withRoost(Self.layout([relay.url], port: local, indexers: [relay.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        try rig.fill(relay.url, world(relay.url).map(\.json))
        try body(roost, relay.url)
      }
    }

    private func run(_ roost: RunningRoost, _ input: String = "", _ arguments: String...) throws
      -> (status: SpawnedProcess.Ending, output: String)
    {
      let pipe = try Descriptors.pipe()
      defer { Descriptors.close(pipe.first) }
      let process = try SpawnedProcess(
        SpawnedProcess.builtProgram("roost"), ["setup"] + arguments + ["--socket", roost.socket],
        descriptors: [0: pipe.first])
      try Descriptors.writeAll(input, to: pipe.second)
      Descriptors.close(pipe.second)
      let output = try process.readAllOutput(within: 90)
      return (try process.waitForEnd(), output)
    }

    @Test("An npub is read along with: its lists, what its relays have, and everything of it; twice does no harm")
    func watched() throws {
      try withWorld { roost, relay in
        let npub = alice.publicKey.npub
        let first = try run(roost, "", "--watch", npub, "--name", "alice", "--yes")
        #expect(first.status == .exited(0), "\(first.output)")
        for text in [
          "the profile of Alice", "a list of 1 person followed", "a list of 1 relay", "written: 64 events",
          "Reading along with alice",
          "ws://127.0.0.1:", "nak req -k 1", "roost client allow https://nostrudel.ninja",
        ] {
          #expect(first.output.contains(text), "\(text): \(first.output)")
        }
        #expect(!first.output.contains("gift wraps"), "nothing tells that its owner expects messages")
        let account = try #require(try accounts(roost).first)
        #expect(account.isReadOnly == true && account.state == .locked && account.isUsed == true)
        let status = try JSONPayload.decode(
          MirrorStatus.self, from: roost.client().call("mirror.status", "{}").terminal.payload)
        let own = try #require(status.entries.first { $0.kind == .own })
        #expect(own.events == 64 && status.entries.first { $0.kind == .named }?.events == 30)
        #expect(!status.entries.contains { $0.kind == .wraps } && status.copies.isEmpty)
        let again = try run(roost, "", "--watch", npub, "--name", "alice", "--yes")
        #expect(again.status == .exited(0) && again.output.contains("alice is here already"), "\(again.output)")
        #expect(try accounts(roost).count == 1)
      }
    }

    @Test("A key is imported, and its account is left until the yes; twice does no harm")
    func imported() throws {
      try withWorld { roost, _ in
        let secret = alice.withSecret { Hexadecimal.text(of: $0) }
        let usage = try run(roost, "\(secret)\n", "--import", "--name", "alice", "--no-passphrase")
        #expect(usage.status == .exited(2) && usage.output.contains("--yes"), "\(usage.output)")
        #expect(try accounts(roost).map(\.isLeft) == [true], "nothing is asked of relays before the yes")
        let client = try roost.client()
        let before = try JSONPayload.decode(
          MirrorStatus.self, from: client.call("mirror.status", "{}").terminal.payload)
        #expect(before.entries.allSatisfy { $0.end == nil && !$0.isFetching }, "\(before.entries)")
        let json = try run(roost, "", "--name", "alice", "--yes", "--json")
        #expect(json.status == .exited(0), "\(json.output)")
        let steps = try json.output.split(separator: "\n").map { line in
          try JSONPayload.decode(Step.self, from: Array(line.utf8)).step
        }
        #expect(steps.first == "supervisor" && steps.last == "end")
        #expect(Set(steps).isSuperset(of: ["lists", "relay", "begun", "progress"]), "\(steps)")
        let account = try #require(try accounts(roost).first)
        #expect(account.state == .unlocked && account.isLeft == nil)
        let again = try run(roost, "", "--import", "--name", "alice", "--no-wait")
        #expect(again.status == .exited(0) && again.output.contains("alice is here already"), "\(again.output)")
      }
    }

    @Test("A new account is made once, and its profile and lists are published")
    func new() throws {
      try withWorld { roost, relay in
        let usage = try run(roost, "", "--new", "--name", "carol", "--no-passphrase")
        #expect(usage.status == .exited(2) && usage.output.contains("--yes"), "\(usage.output)")
        #expect(try accounts(roost).isEmpty)
        let made = try run(
          roost, "", "--new", "--name", "carol", "--display-name", "Carol", "--no-passphrase", "--yes", "--no-wait")
        #expect(made.status == .exited(0) && made.output.contains("Published: "), "\(made.output)")
        let key = try #require(try accounts(roost).first?.publicKey)
        let rig = PlannerRig(roost: roost, client: try roost.client())
        try awaitSoon("the relay has the profile") {
          let filter = #"{"relay":"\#(relay)","filters":[{"authors":["\#(key)"],"kinds":[0]}]}"#
          return try rig.client.call("relay.request", filter).parts.count == 1
        }
        let again = try run(roost, "", "--new", "--name", "carol", "--yes", "--no-wait")
        #expect(again.status == .exited(0) && again.output.contains("carol is here already"), "\(again.output)")
        #expect(try accounts(roost).count == 1)
      }
    }

    @Test("Offline, and beside a relay that accepts and says nothing, it comes to its end and says so")
    func silent() throws {
      // A listener that no one accepts from: the kernel takes the connection, and nothing ever answers.
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(listener) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      #expect(isBound && listen(listener, 16) == 0)
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
      }
      let mute = "ws://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
      let local = try RelayVisitor.freePort()
      try withRoost(Self.layout(["ws://127.0.0.1:1", mute], port: local, indexers: [])) { roost in
        let begun = ContinuousClock.now
        let ended = try run(roost, "", "--watch", alice.publicKey.npub, "--name", "alice", "--yes", "--no-wait")
        #expect(ended.status == .exited(0), "\(ended.output)")
        // Twelve seconds for lists, ten for counts; the rest is the machine's.
        #expect(ContinuousClock.now - begun < .seconds(60))
        for text in ["is this machine offline?", "No relay says how much it has", "Reading along with alice"] {
          #expect(words(ended.output).contains(text), "\(text): \(ended.output)")
        }
      }
    }

    @Test("Without a terminal a missing answer is a usage error with the option's name; a failed start says why")
    func usage() throws {
      let socket = directory.path + "/none.sock"
      func setup(_ arguments: String...) throws -> (status: SpawnedProcess.Ending, output: String) {
        let process = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["setup", "--socket", socket] + arguments,
          environment: ["PATH=/usr/bin:/bin", "HOME=\(directory.path)"])
        return (try process.waitForEnd(within: 90), words(try process.readAllOutput()))
      }
      let unasked = try setup()
      #expect(unasked.status == .exited(2) && unasked.output.contains("--start starts it"), "\(unasked.output)")
      #expect(try setup("--no-start").status == .exited(3))
      #expect(try setup("--watch", "x", "--new").status == .exited(2))
      let configuration = directory.path + "/broken.conf"
      let file = open(configuration, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll("[supervisor]\nnonsense = 1\n", to: file)
      Descriptors.close(file)
      let broken = try setup("--start", "--config", configuration)
      #expect(broken.status == .exited(3) && broken.output.contains("nonsense"), "\(broken.output)")
      let port = try RelayVisitor.freePort()
      try withRoost(Self.layout([], port: port, indexers: [])) { roost in
        let noWay = try run(roost)
        #expect(noWay.status == .exited(2) && noWay.output.contains("--watch KEY, --import or --new"))
      }
    }

    @Test("A Roost that does not run is started, outlives the command, and is taken as it is the next time")
    func started() throws {
      let port = try RelayVisitor.freePort()
      let layout = Self.layout([], port: port, indexers: [])
      let configuration = directory.path + "/supervisor.conf"
      let file = open(configuration, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      let program = SpawnedProcess.builtProgram("misbehaving-worker")
      var meant = layout
      meant.workers.removeAll { $0.name == "example" }
      try Descriptors.writeAll(meant.text(directory: directory.path, program: program), to: file)
      Descriptors.close(file)
      let socket = directory.path + "/roost.sock"
      func setup() throws -> (status: SpawnedProcess.Ending, output: String) {
        let process = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"),
          ["setup", "--socket", socket, "--start", "--config", configuration, "--watch", alice.publicKey.npub]
            + ["--yes", "--no-wait"], environment: ["PATH=/usr/bin:/bin", "HOME=\(directory.path)"])
        // roostd has this output too, so its end is not the end of the command.
        let ending = try process.waitForEnd(within: 120)
        return (ending, "")
      }
      defer {
        if let peer = try? BusPeer(socket: socket, hello: Hello(name: "test", role: "client")),
          let answer = try? peer.call("supervisor.status"),
          let status = try? JSONPayload.decode(SupervisorStatus.self, from: answer.terminal.payload)
        {
          kill(pid_t(status.pid), SIGTERM)
          // `try?`: the test has failed already if this does.
          try? awaitSoon("roostd has ended", within: 30) { kill(pid_t(status.pid), 0) != 0 }
        }
      }
      #expect(try setup().status == .exited(0))
      let peer = try BusPeer(socket: socket, hello: Hello(name: "test", role: "client"))
      func pid() throws -> Int {
        Int(try JSONPayload.decode(SupervisorStatus.self, from: peer.call("supervisor.status").terminal.payload).pid)
      }
      let before = try pid()
      #expect(getsid(pid_t(before)) != getsid(0), "Ctrl-C at this terminal does not reach it")
      #expect(try setup().status == .exited(0))
      #expect(try pid() == before)
    }

    @Test("At a terminal each question may be answered wrongly once")
    func asked() throws {
      try withWorld { roost, _ in
        let environment = ["PATH=/usr/bin:/bin", "ROOST_SOCKET=\(roost.socket)", "HOME=\(directory.path)"]
        let terminal = try PseudoTerminal()
        let process = try terminal.start(
          SpawnedProcess.builtProgram("roost"), ["setup"], environment: environment)
        try terminal.answer("1, 2 or 3: ", "npub")
        try terminal.answer("Answer 1, 2 or 3:", "1")
        try terminal.answer("bob@example.com): ", "npub1wrong")
        try terminal.answer("Again:", alice.publicKey.npub)
        try terminal.answer("(Enter: me): ", "Alice B")
        try terminal.answer("Again:", "alice")
        try terminal.answer("keep it? [y/n] ", "perhaps")
        try terminal.answer("Answer y or n:", "y")
        try terminal.awaitText("The relay for your clients")
        try terminal.awaitText("roost feed")
        #expect(try process.waitForEnd(within: 60) == .exited(0))
        #expect(try accounts(roost).map(\.isReadOnly) == [true])

        let second = try PseudoTerminal()
        let taken = try second.start(
          SpawnedProcess.builtProgram("roost"), ["setup", "--import", "--no-wait"], environment: environment)
        try second.answer("not shown): ", "nsec1wrong")
        try second.awaitText("Again:")
        let nsec = bob.withSecret { Hexadecimal.text(of: $0) }
        try second.answer("not shown): ", nsec)
        try second.answer("(Enter: me): ", "bob")
        try second.answer("on this machine: ", "one")
        try second.answer("The same again: ", "two")
        try second.awaitText("Again:")
        try second.answer("on this machine: ", "one two three")
        try second.answer("The same again: ", "one two three")
        try second.answer("keep it? [y/n] ", "y")
        try second.awaitText("The relay for your clients")
        #expect(try taken.waitForEnd(within: 60) == .exited(0))
        #expect(!second.text.contains(nsec) && !second.text.contains("one two three"), "nothing secret is shown")
        let account = try #require(try accounts(roost).first { $0.name == "bob" })
        #expect(account.state == .unlocked && account.isEncrypted && account.isLeft == nil)
      }
    }
  }
}
