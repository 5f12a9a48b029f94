import Contracts
import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// Memory, processor and attention of roostd while others misbehave.
  @Suite("Bounds of the supervisor")
  struct BoundsTests {
    static let memoryMaximum = 64 << 20

    @Test("50 workers with full mailboxes, a flood of logs and slow large frames: roostd stays below 64 MiB")
    func memory() throws {
      var layout = Layout(workers: (0..<50).map { Layout.Worker(name: "w\($0)") }, bus: ["mailbox-frames": "200"])
      for number in 50..<52 { layout.workers.append(Layout.Worker(name: "w\(number)", arguments: ["--shout"])) }
      try withRoost(layout) { roost in
        let empty = roost.memory()
        let slow = try Self.announceLargeFrames(roost)
        let senders = try (0..<16).map { try roost.client("sender \($0)") }
        try Self.deafen(50, roost)
        let sent = try Self.fill(50, senders)
        for peer in slow { peer.sendBytes([7]) }
        let status = try roost.status()
        let peak = roost.memory(peak: true)
        print(
          "roostd: \(empty >> 20) MiB at rest, \(peak >> 20) MiB at most, \(sent) frames sent, \(status.keptBytes >> 10) KiB kept"
        )
        #expect(status.keptBytes > 10 << 20, "the mailboxes are full")
        #expect(status.workers.filter { $0.mailboxFrames > 0 }.count >= 50)
        #expect(peak < Self.memoryMaximum, "\(peak >> 20) MiB")
      }
    }

    /// Peers that announce a frame of 1 MiB and send little of it.
    private static func announceLargeFrames(_ roost: RunningRoost) throws -> [BusPeer] {
      try (0..<30).map { number in
        let peer = try roost.client("slow \(number)")
        let header = FrameHeader(type: .request, id: 1, method: 1, payloadByteCount: (1 << 20) - 44)
        peer.sendBytes(Array(BusPeer.bytes(header, []).prefix(FrameHeader.byteCount)))
        return peer
      }
    }

    private static func deafen(_ count: Int, _ roost: RunningRoost) throws {
      let client = try roost.client("deafener")
      let members = try #require(client.welcome?.registry.members)
      for number in 0..<count {
        let member = try #require(members.first { $0.name == "w\(number)" })
        try client.ask("example.deaf", to: Endpoint(rawValue: member.endpoint))
      }
      try awaitSoon("all are deaf") { try roost.status(client).workers.filter { $0.inHand > 0 }.count >= count }
    }

    /// Sends to each until no credit comes back for a second; the number of frames sent.
    private static func fill(_ count: Int, _ senders: [BusPeer]) throws -> Int {
      let payload = [UInt8](repeating: 0x20, count: 1_100)
      let members = try #require(senders[0].welcome?.registry.members)
      let targets = try (0..<count).map { number in
        Endpoint(rawValue: try #require(members.first { $0.name == "w\(number)" }).endpoint)
      }
      var sent = 0
      var lastProgress = Monotonic.seconds
      while Monotonic.seconds - lastProgress < 1, sent < 40_000 {
        for sender in senders {
          sender.receive()
          while sender.hasCredit {
            sender.spend(payload.count)
            sender.send(try sender.request("example.echo", to: targets[sent % count]), payload)
            sent += 1
            lastProgress = Monotonic.seconds
          }
        }
        usleep(1_000)
      }
      return sent
    }

    @Test("Who leaves more unread than output-limit is cut, and log and status say who held how much")
    func outputLimit() throws {
      let layout = Layout(
        workers: [Layout.Worker(name: "deaf"), Layout.Worker(name: "echo")],
        bus: ["frame-limit": "\"64KiB\"", "output-limit": "\"128KiB\""])
      try withRoost(layout) { roost in
        let (client, silent) = (try roost.client("looker"), try roost.client("silent"))
        let members = try #require(client.welcome?.registry.members)
        let endpoints = try ["deaf", "echo"].map { name in
          Endpoint(rawValue: try #require(members.first { $0.name == name }).endpoint)
        }
        // Its answers are free of credit, and fill the kernel's buffer first.
        let payload = [UInt8](repeating: 0x20, count: 50_000)
        for _ in 0..<20 where silent.hasCredit {
          silent.spend(payload.count)
          silent.send(try silent.request("example.echo", to: endpoints[1]), payload)
        }
        func logged() throws -> String {
          let logs = try client.call("supervisor.logs", #"{"worker":"roostd"}"#)
          return (logs.parts.map(\.text) + [logs.text]).joined()
        }
        try awaitSoon("the client is cut, and the log says why") {
          try logged().contains(/silent left \d+ KiB unread, more than output-limit \(128 KiB\) allows/)
        }
        try client.ask("example.deaf", to: endpoints[0])
        for _ in 0..<20 where client.hasCredit {
          client.spend(payload.count)
          client.send(try client.request("example.echo", to: endpoints[0]), payload)
          client.receive()
        }
        try awaitSoon("status says why the worker was cut", within: 30) {
          try roost.worker("deaf", client).lastExit?.contains("unread, more than output-limit (128 KiB)") == true
        }
        #expect(try logged().contains("deaf left"))
      }
    }

    @Test("Idle roostd uses less than 1 % of a processor, also with ends of connections left hanging")
    func noSpin() throws {
      var layout = Layout(workers: [Layout.Worker(), Layout.Worker(name: "dropped", arguments: ["--ignore-term"])])
      layout.workers[1].keys = ["term-deadline": "\"1h\""]
      try withRoost(layout) { roost in
        let clients = try (0..<5).map { try roost.client("idle \($0)") }
        let idle = Self.load(of: roost)
        #expect(idle < 0.01, "\(idle * 100) % idle")
        shutdown(clients[0].descriptor, Int32(SHUT_RD))
        let member = try #require(clients[1].welcome?.registry.members.first { $0.name == "dropped" })
        try clients[1].ask("example.drop-bus", to: Endpoint(rawValue: member.endpoint))
        try roost.awaitWorker("dropped", "is told to go") { $0.state == "stopping" }
        let hanging = Self.load(of: roost)
        #expect(hanging < 0.02, "\(hanging * 100) % with a bus closed at the other end")
        print("roostd: \(idle * 100) % of a processor idle, \(hanging * 100) % with a worker that will not go")
        kill(try #require(try roost.worker("dropped").pid), SIGKILL)
      }
    }

    /// The part of a processor that roostd uses, over three seconds.
    private static func load(of roost: RunningRoost) -> Double {
      let start = (Monotonic.seconds, roost.processorSeconds)
      // Time is what is measured here: nothing can be waited for.
      usleep(3_000_000)
      return (roost.processorSeconds - start.1) / (Monotonic.seconds - start.0)
    }

    @Test(
      "Status is answered in 100 ms while workers spin, are deaf, flood, and wait for one that never comes")
    func neverBlocked() throws {
      var layout = Layout(workers: [])
      for name in ["spinning", "deaf", "good", "storm"] { layout.workers.append(Layout.Worker(name: name)) }
      layout.workers.append(Layout.Worker(name: "flood", arguments: ["--shout"]))
      layout.workers.append(
        Layout.Worker(name: "unborn", arguments: ["--never-ready"], keys: ["start-deadline": "\"1h\""]))
      layout.workers.append(Layout.Worker(name: "waiting", keys: ["after": "[\"unborn\"]"]))
      try withRoost(layout, awaitsReady: false) { roost in
        let client = try roost.client()
        try roost.awaitWorker("deaf", "is ready", client) { $0.state == "ready" }
        try roost.awaitWorker("spinning", "is ready", client) { $0.state == "ready" }
        try roost.awaitWorker("storm", "is ready", client) { $0.state == "ready" }
        try client.ask("supervisor.start", #"{"worker":"waiting"}"#)
        for name in ["spin", "deaf"] {
          let target = try #require(client.welcome?.registry.members.first { $0.name.hasPrefix(name) })
          try client.ask("example.\(name)", to: Endpoint(rawValue: target.endpoint))
        }
        let storm = try #require(client.welcome?.registry.members.first { $0.name == "storm" })
        try client.ask("example.die", #"{"lives":30}"#, to: Endpoint(rawValue: storm.endpoint))
        try roost.expectPromptStatus()
      }
    }

    @Test(
      "Status is answered in 100 ms while the disk of the logs is full", .enabled(if: SmallDisk.isPossible))
    func fullDisk() throws {
      let disk = try SmallDisk()
      disk.fill()
      var layout = Layout(workers: [Layout.Worker(), Layout.Worker(name: "flood", arguments: ["--shout"])])
      layout.supervisor = ["log-directory": "\"\(disk.path)\""]
      try withRoost(layout) { roost in
        try roost.expectPromptStatus()
        #expect(try roost.client().call("example.echo", "still").text == "still")
      }
    }
  }
}

/// A small file system, where that can be mounted.
final class SmallDisk {
  let directory: TemporaryDirectory
  var path: String { directory.path }

  /// Whether this process may mount. Tried once.
  static let isPossible: Bool = (try? SmallDisk()) != nil

  init(kibibytes: Int = 64) throws {
    directory = try TemporaryDirectory()
    let options = "size=\(kibibytes)k,mode=0700"
    guard mount("tmpfs", directory.path, "tmpfs", UInt(MS_NOSUID), options) == 0 else {
      throw DeadlinePassed(description: "mounting is not allowed")
    }
  }

  deinit { umount2(directory.path, Int32(MNT_DETACH)) }

  /// Takes all the room there is.
  func fill() {
    let file = open(directory.path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let bytes = [UInt8](repeating: 0, count: 4_096)
    while write(file, bytes, bytes.count) == bytes.count { continue }
    close(file)
  }

  /// Gives it back.
  func makeRoom() { unlink(directory.path + "/filler") }
}
