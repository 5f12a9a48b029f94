import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import MessageHub
import TestSupport
import Testing

// Workers and clients of the bus library over a real socket, with the real hub between them: answers that some callers
// take and others do not, and workers that ask each other.

@Suite(.serialized) struct StreamingTests {
  @EventLoopActor
  private func open(_ hub: FakeHub, name: String, role: String = "client", methods: [String] = []) async throws
    -> BusConnection
  {
    let stream = try await BusSocket.connect(path: hub.path, environment: [:])
    var hello = Hello(name: name, role: role)
    hello.methods = methods.isEmpty ? nil : methods
    let deadline = EventLoop.process.now.advanced(milliseconds: 10_000)
    return try await BusConnection.open(stream, greeting: hello, deadline: deadline)
  }

  /// A worker whose every answer has so many parts. What became of its senders is told to `onEnd`.
  @EventLoopActor
  private func streamer(
    _ hub: FakeHub, parts: Int, onSent: @escaping @EventLoopActor (BusRequest) -> Void = { _ in },
    onEnd: @escaping @EventLoopActor (Refusal?) -> Void = { _ in }
  ) async throws -> BusConnection {
    let worker = try await open(hub, name: "streamer", role: "example", methods: ["example.stream"])
    worker.onRequest = { request in
      EventLoopActor.task {
        do throws(Refusal) {
          for number in 0..<parts {
            try await request.send(part: BusPayload(Array("\(number)".utf8)))
            onSent(request)
          }
          request.respond()
          onEnd(nil)
        } catch {
          request.refuse(error)
          onEnd(error)
        }
      }
    }
    worker.start()
    worker.sendReady()
    return worker
  }

  @EventLoopActor
  private func numbers(in answer: BusAnswer) async throws -> [Int] {
    var numbers: [Int] = []
    while let part = try await answer.next() { numbers.append(Int(String(decoding: part.bytes, as: UTF8.self)) ?? -1) }
    return numbers
  }

  @Test(
    "An event that a worker lets go of without a word is refused to its sender; one that it keeps waits for it",
    arguments: [false, true])
  func eventForNobody(isRaw: Bool) async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      let worker = try await open(hub, name: "careless", role: "example", methods: ["example.keep", "example.drop"])
      var kept: [BusEvent] = []
      worker.onEvent = { event in if event.name == "example.keep" { kept.append(event) } }
      worker.start()
      worker.sendReady()
      let app = try await open(hub, name: "app")
      app.start()
      let payload = BusPayload(Array("{}".utf8), isRaw: isRaw)
      var refusedCount = 0
      for _ in 0..<3 {
        do throws(Refusal) {
          try await app.notify("example.drop", of: "careless", payload, needsAck: true)
        } catch { refusedCount += 1 }
      }
      #expect(refusedCount == 3)
      let sending = Task { @EventLoopActor in
        try await app.notify("example.keep", of: "careless", payload, needsAck: true)
      }
      while kept.isEmpty { await EventLoopActor.sleep(milliseconds: 1) }
      kept[0].acknowledge()
      kept = []
      try await sending.value
      let isIdle = hub.hub.isIdle(SeatIndex(of: Endpoint(rawValue: worker.welcome.endpoint)))
      #expect(isIdle)
    }
  }

  @Test("Callers that take nothing stop their own answers, and others of the same worker get theirs whole and in order")
  func othersGoOn() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      var sent: [UInt32: Int] = [:]
      let worker = try await streamer(hub, parts: 3_000, onSent: { sent[$0.caller.rawValue, default: 0] += 1 })
      var deaf: [BusConnection] = []
      for number in 0..<10 {
        let client = try await open(hub, name: "deaf \(number)")
        client.start()
        _ = try await client.ask("example.stream")
        deaf.append(client)
      }
      let app = try await open(hub, name: "app")
      app.start()
      let answer = try await app.ask("example.stream")
      #expect(try await numbers(in: answer) == Array(0..<3_000))
      for client in deaf {
        let count = sent[client.welcome.endpoint] ?? 0
        #expect(count >= 64 && count <= 64 + 64, "\(count) parts: the client's window, and the answer's")
      }
      for client in deaf { client.leave() }
      try await eventually("all senders are woken") { worker.servingCount == 0 }
      app.leave()
      worker.leave()
      hub.stop()
    }
  }

  @Test("A hub that tells no answer window is served as ever")
  func olderHub() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock", tellsAnswerWindow: false)
      let worker = try await streamer(hub, parts: 1_000)
      let app = try await open(hub, name: "app")
      app.start()
      #expect(try await numbers(in: try await app.ask("example.stream")) == Array(0..<1_000))
      app.leave()
      worker.leave()
      hub.stop()
    }
  }

  @Test(
    "A sender that waits for its caller is woken with the refusal when the caller gives up, and when the answer ends")
  func wokenSenders() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      var ends: [Refusal?] = []
      var requests: [BusRequest] = []
      let worker = try await streamer(hub, parts: 1_000, onSent: { requests.append($0) }, onEnd: { ends.append($0) })
      let client = try await open(hub, name: "deaf")
      client.start()
      let answer = try await client.ask("example.stream")
      try await eventually("its window is used up") { requests.count >= 64 }
      answer.abandon(Refusal(.cancelled, "not wanted"))
      try await eventually("the sender is woken") { ends.count == 1 }
      #expect(ends[0]?.code == .cancelled)
      requests = []
      let second = try await client.ask("example.stream")
      try await eventually("its window is used up") { requests.count >= 64 }
      requests[0].respond()
      try await eventually("the sender is woken") { ends.count == 2 }
      #expect(ends[1]?.code == .cancelled)
      #expect(try await numbers(in: second) == Array(0..<requests.count))
      client.leave()
      worker.leave()
      hub.stop()
    }
  }

  @Test("A part that is too long gives its place in the answer's window to the one behind it")
  func partTooLong() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      var limits = HubLimits()
      limits.answerWindow = Window(frames: 1, bytes: 1 << 20)
      let hub = try FakeHub(path: directory.path + "/roost.sock", limits: limits)
      let worker = try await open(hub, name: "streamer", role: "example", methods: ["example.stream"])
      var sentCount = 0
      var refusals: [Refusal] = []
      worker.onRequest = { request in
        #expect(request.sendNow(part: BusPayload(Array("0".utf8))), "the window has room for one")
        for part in [BusPayload(Array(repeating: 0, count: 1 << 20)), BusPayload(Array("1".utf8))] {
          EventLoopActor.task {
            do throws(Refusal) {
              try await request.send(part: part)
              sentCount += 1
            } catch { refusals.append(error) }
          }
        }
      }
      worker.start()
      worker.sendReady()
      let client = try await open(hub, name: "app")
      client.start()
      _ = try await client.ask("example.stream")
      try await eventually("the part behind it goes out") { sentCount == 1 }
      #expect(refusals.map(\.code) == [.badRequest])
      client.leave()
      worker.leave()
      hub.stop()
    }
  }

  @Test("Parts of many senders go out in the order in which they were given, whoever waits")
  func order() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      var limits = HubLimits()
      limits.window = Window(frames: 8, bytes: 1 << 20)
      limits.answerWindow = Window(frames: 3, bytes: 1 << 20)
      let hub = try FakeHub(path: directory.path + "/roost.sock", limits: limits)
      let worker = try await open(hub, name: "streamer", role: "example", methods: ["example.stream"])
      worker.onRequest = { request in
        var leftCount = 400
        for number in 0..<400 {
          EventLoopActor.task {
            let part = BusPayload(Array("\(number)".utf8))
            do throws(Refusal) {
              if !request.sendNow(part: part) { try await request.send(part: part) }
            } catch {}
            leftCount -= 1
            if leftCount == 0 { request.respond() }
          }
        }
      }
      worker.start()
      worker.sendReady()
      let app = try await open(hub, name: "app")
      app.start()
      #expect(try await numbers(in: try await app.ask("example.stream")) == Array(0..<400))
      app.leave()
      worker.leave()
      hub.stop()
    }
  }

  @Test(
    "Three workers in a circle, each with all it may ask outstanding, serve each other down to any depth",
    arguments: 1...3)
  func circle(depth: Int) async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      var limits = HubLimits()
      limits.window = Window(frames: 32, bytes: 1 << 20)
      limits.outstandingRequests = 64
      limits.mailboxFrames = 20
      let names = ["alpha", "beta", "gamma"]
      let hub = try Self.hub(of: names, at: directory.path + "/roost.sock", limits)
      var workers: [BusConnection] = []
      for name in names { workers.append(try await open(hub, name: name, role: name, methods: ["\(name).work"])) }
      for (position, worker) in workers.enumerated() {
        Self.serve(worker, asking: "\(names[(position + 1) % 3]).work")
      }
      var done = 0
      var refusals: [Refusal] = []
      for (position, worker) in workers.enumerated() {
        let next = "\(names[(position + 1) % 3]).work"
        for _ in 0..<400 {
          EventLoopActor.task {
            do throws(Refusal) { _ = try await worker.request(next, BusPayload(Array("\(depth)".utf8))) } catch {
              refusals.append(error)
            }
            done += 1
          }
        }
      }
      try await eventually("every request is answered") { done == 1_200 }
      #expect(refusals.allSatisfy { $0.code == .full }, "\(refusals.first?.message ?? "")")
      #expect(refusals.count < 600, "\(refusals.count) of 1,200")
      for worker in workers { worker.leave() }
      hub.stop()
    }
  }

  /// A hub with a role for each name, that serves `NAME.work` and may call all.
  @EventLoopActor
  private static func hub(of names: [String], at path: String, _ limits: HubLimits) throws -> FakeHub {
    let roles = names.map { AccessTable.CustomRole(name: $0, serves: ["\($0).*"], mayCall: ["*"], callableBy: []) }
    let hub = try FakeHub(path: path, limits: limits, roles: roles)
    for name in names {
      let role = try #require(hub.hub.table.role(named: name))
      _ = try hub.hub.register(methods: ["\(name).work"], of: role)
    }
    return hub
  }

  /// Lets a worker answer each request when it has asked the next one, until the number in it is 0.
  @EventLoopActor
  private static func serve(_ worker: BusConnection, asking next: String) {
    worker.onRequest = { request in
      EventLoopActor.task {
        let left = Int(String(decoding: request.payload.bytes, as: UTF8.self)) ?? 0
        do throws(Refusal) {
          if left > 0 { _ = try await worker.request(next, BusPayload(Array("\(left - 1)".utf8))) }
          request.respond()
        } catch {
          request.refuse(error)
        }
      }
    }
    worker.start()
    worker.sendReady()
  }
}
