import Clocks
import Bus
import Contracts
import EventLoop
import Frames
import MessageHub
import TestSupport
import Testing

@testable import RoostClient

@Suite(.serialized) struct ClientTests {
  @EventLoopActor
  private func settings(_ hub: FakeHub) -> ClientSettings {
    var settings = ClientSettings(name: "test", socket: hub.path, environment: [:])
    settings.backoff = BackOff(firstMilliseconds: 5, longestMilliseconds: 20)
    settings.patienceMilliseconds = 5_000
    settings.answerGraceMilliseconds = 50
    return settings
  }

  @Test("A request is answered; a refusal is thrown with its outcome; a mistyped method is told with the nearest")
  func request() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      hub.onServe = { call, method, payload in
        if method == "supervisor.why" {
          hub.refuse(call, Refusal(.badRequest, "no such worker", outcome: .notStarted))
        } else {
          _ = hub.answer(call, "{\"saw\":\(String(decoding: payload, as: UTF8.self))}")
        }
      }
      let client = RoostClient(settings(hub))
      let answer = try await client.request("supervisor.status", json: ["a": 1])
      #expect(String(decoding: answer.bytes, as: UTF8.self) == "{\"saw\":{\"a\":1}}")
      let refusal = await RoostClientTests.refusal { () throws(Refusal) in try await client.request("supervisor.why") }
      #expect(refusal?.code == .badRequest && refusal?.outcome == .notStarted)
      let unknown = await RoostClientTests.refusal { () throws(Refusal) in try await client.request("supervisor.statsu")
      }
      #expect(unknown?.code == .unknownMethod && unknown?.message.contains("supervisor.status") == true)
      #expect(client.requestCount == 0)
      client.close()
      hub.stop()
    }
  }

  @Test("No supervisor is a refusal that names the place; connect() does not wait")
  func noSupervisor() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let client = RoostClient(ClientSettings(name: "test", socket: directory.path + "/none.sock", environment: [:]))
      let refusal = await RoostClientTests.refusal { () throws(Refusal) in try await client.connect() }
      #expect(refusal?.code == .noSupervisor && refusal?.message.contains("none.sock") == true)
      #expect(client.connectionState == .idle)
    }
  }

  @Test("After a restart of the hub, what is idempotent is asked again and answered; the rest fails, outcome unknown")
  func reconnect() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      var asked = 0
      hub.onServe = { _, _, _ in asked += 1 }
      let client = RoostClient(settings(hub))
      var states: [RoostClient.ConnectionState] = []
      client.onConnectionState = { states.append($0) }
      let safe = try await client.stream("supervisor.status", options: .idempotent(ttlMilliseconds: 20_000))
      let once = try await client.stream("supervisor.start")
      try await eventually("both arrive") { asked == 2 }
      hub.stop()
      let lost = await refusal { () throws(Refusal) in try await once.next() }
      #expect(lost?.code == .disconnected && lost?.outcome == .unknown)
      hub.onServe = { call, _, _ in _ = hub.answer(call, "\"again\"") }
      try hub.start()
      let part = try await safe.next()
      #expect(part.map { String(decoding: $0.bytes, as: UTF8.self) } == "\"again\"")
      #expect(states.count { if case .connected = $0 { true } else { false } } == 2)
      #expect(states.contains { if case .waiting = $0 { true } else { false } })
      client.close()
      #expect(client.connectionState == .closed(nil))
      hub.stop()
    }
  }

  @Test("A request that waits for a supervisor which does not come back ends as a refusal")
  func goneForGood() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      var settings = settings(hub)
      settings.patienceMilliseconds = 100
      let client = RoostClient(settings)
      try await client.connect()
      hub.stop()
      let refusal = await RoostClientTests.refusal { () throws(Refusal) in
        // The first may still meet the old connection; the second waits for a new one.
        do throws(Refusal) { _ = try await client.request("supervisor.status") } catch {}
        _ = try await client.request("supervisor.status")
      }
      #expect(refusal != nil && refusal?.outcome == .notStarted)
      client.close()
    }
  }

  @Test("A subscription is made again after a restart, and says that events may be missing")
  func resubscribe() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      let client = RoostClient(settings(hub))
      var seen: [String] = []
      let subscription = try await client.subscribe(
        "supervisor.events", onGap: { seen.append("\($0)") },
        onEvent: { seen.append(String(decoding: $0.bytes, as: UTF8.self)) })
      hub.publish("supervisor.events", "1")
      try await eventually("the first event") { seen == ["1"] }
      hub.stop()
      try hub.start()
      try await eventually("resumption") { seen == ["1", "reconnected"] }
      hub.publish("supervisor.events", "2")
      try await eventually("the second event") { seen == ["1", "reconnected", "2"] }
      subscription.cancel()
      #expect(client.subscriptions.isEmpty)
      client.close()
      hub.stop()
    }
  }

  @Test("A hub that never answers is given up after the time to live and the grace")
  func hungHub() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      // The hub's own expiry is kept away by a time to live it takes for endless.
      let client = RoostClient(settings(hub))
      try await client.connect()
      let answer = try await client.stream("supervisor.status", options: .idempotent(ttlMilliseconds: 30))
      let refusal = await RoostClientTests.refusal { () throws(Refusal) in try await answer.next() }
      #expect(refusal?.code == .expired)
      client.close()
      hub.stop()
    }
  }

  @Test("Parts that nobody takes hold back their producer; taking them lets it go on")
  func backPressure() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      let total = 2_000
      var sent = 0
      var call: HubCall?
      @EventLoopActor func pump() {
        guard let call else { return }
        while sent < total {
          sent += 1
          if !hub.answer(call, "\(sent)", more: true) { return }
        }
        _ = hub.answer(call, "")
      }
      hub.onServe = { received, method, _ in
        guard method == "supervisor.logs" else {
          _ = hub.answer(received, "{}")
          return
        }
        call = received
        pump()
      }
      hub.onRoom = { pump() }
      let client = RoostClient(settings(hub))
      let answer = try await client.stream("supervisor.logs")
      try await eventually("the window is used up") { sent >= 64 }
      let heldAt = try await standstill("the stream", forMilliseconds: 50) { sent }
      #expect(heldAt < total)
      for expected in 1...500 {
        let part = try await answer.next()
        #expect(part?.bytes == Array("\(expected)".utf8))
      }
      #expect(sent > heldAt)
      answer.cancel()
      try await eventually("the hub hears of it") { !hub.cancelled.isEmpty }
      _ = try await client.request("supervisor.status")
      client.close()
      hub.stop()
    }
  }

  @Test("An answer released before its end is cancelled, and its credit comes back for others")
  func released() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      hub.onServe = { call, method, _ in
        if method == "supervisor.logs" {
          while hub.answer(call, String(repeating: "x", count: 10_000), more: true) {}
        } else {
          _ = hub.answer(call, "1", more: true)
          _ = hub.answer(call, "2")
        }
      }
      let client = RoostClient(settings(hub))
      for round in 1...5 {
        do {
          let answer = try await client.stream("supervisor.logs")
          _ = try await answer.next()
        }
        try await eventually("the hub hears of it") { hub.cancelled.count == round }
        let whole = try await client.request("supervisor.status")
        #expect(whole.bytes == Array("12".utf8))
      }
      #expect(client.requestCount == 0)
      client.close()
      hub.stop()
    }
  }

  @Test("A cancelled task ends its wait for an answer")
  func taskCancellation() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      var isAsked = false
      hub.onServe = { _, _, _ in isAsked = true }
      let client = RoostClient(settings(hub))
      let task = EventLoopActor.task {
        await refusal { () throws(Refusal) in try await client.request("supervisor.status") }
      }
      try await eventually("under way") { client.requestCount == 1 && isAsked }
      task.cancel()
      #expect(await task.value?.code == .cancelled)
      client.close()
      hub.stop()
    }
  }

  @Test("Requests beyond the limit are refused at once")
  func limit() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      var settings = settings(hub)
      settings.requestMaximum = 2
      let client = RoostClient(settings)
      let first = try await client.stream("supervisor.status")
      let second = try await client.stream("supervisor.status")
      let refusal = await RoostClientTests.refusal { () throws(Refusal) in try await client.stream("supervisor.status")
      }
      #expect(refusal?.code == .full && refusal?.outcome == .notStarted)
      first.cancel()
      second.cancel()
      client.close()
      hub.stop()
    }
  }
}

/// The refusal that `body` throws; nil when it throws none.
@EventLoopActor
func refusal<Value>(_ body: @EventLoopActor () async throws(Refusal) -> Value) async -> Refusal? {
  do throws(Refusal) {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}
