import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import MessageHub
import TestSupport
import Testing

@testable import RoostClient

// Programs that ask while they read: what they have not taken of one answer never keeps another away.

@Suite(.serialized) struct NestedAskingTests {
  /// A worker that answers a number with as many parts.
  @EventLoopActor
  private func streamer(_ hub: FakeHub) async throws -> BusConnection {
    let stream = try await BusSocket.connect(path: hub.path, environment: [:])
    var hello = Hello(name: "streamer", role: "example")
    hello.methods = ["example.stream"]
    let deadline = EventLoop.process.now.advanced(milliseconds: 10_000)
    let worker = try await BusConnection.open(stream, greeting: hello, deadline: deadline)
    worker.onRequest = { request in
      EventLoopActor.task {
        do throws(Refusal) {
          let count = Int(String(decoding: request.payload.bytes, as: UTF8.self)) ?? 0
          for number in 0..<count { try await request.send(part: BusPayload(Array("\(number)".utf8))) }
          request.respond()
        } catch {
          request.refuse(error)
        }
      }
    }
    worker.start()
    worker.sendReady()
    return worker
  }

  @EventLoopActor
  private func withStreamer(_ body: @EventLoopActor (RoostClient) async throws -> Void) async throws {
    let directory = try TemporaryDirectory()
    let hub = try FakeHub(path: directory.path + "/roost.sock")
    let worker = try await streamer(hub)
    let client = RoostClient(ClientSettings(name: "app", socket: hub.path, environment: [:]))
    try await client.connect()
    try await body(client)
    #expect(client.requestCount == 0)
    client.close()
    try await eventually("the worker has nothing in hand") { worker.servingCount == 0 }
    worker.leave()
    hub.stop()
  }

  /// Asks for so many parts; an answer that does not come is refused in the end.
  @EventLoopActor
  private func ask(_ client: RoostClient, parts: Int) async throws(Refusal) -> RoostAnswer {
    let options = RequestOptions(ttlMilliseconds: 60_000)
    return try await client.stream("example.stream", BusPayload(Array("\(parts)".utf8)), options: options)
  }

  @EventLoopActor
  private func count(_ answer: RoostAnswer) async throws(Refusal) -> Int {
    var count = 0
    while let part = try await answer.next() {
      guard part.bytes == Array("\(count)".utf8) else { return -1 }
      count += 1
    }
    return count
  }

  @Test("A question asked inside the loop over a stream is answered, at every part of it")
  func inside() async throws {
    try await LoopThread.run {
      try await withStreamer { client in
        let stream = try await ask(client, parts: 1_000)
        var taken = 0
        while try await stream.next() != nil {
          #expect(try await count(try await ask(client, parts: 3)) == 3)
          taken += 1
        }
        #expect(taken == 1_000)
      }
    }
  }

  @Test("Loops in loops, each over more than a window, come to their ends")
  func loopsInLoops() async throws {
    try await LoopThread.run {
      try await withStreamer { client in
        let outer = try await ask(client, parts: 200)
        let middle = try await ask(client, parts: 5_000)
        var taken = 0
        while try await outer.next() != nil {
          for _ in 0..<25 { if try await middle.next() != nil { taken += 1 } }
          taken += try await count(try await ask(client, parts: 200))
        }
        #expect(taken == 200 * 200 + 5_000)
        #expect(try await middle.next() == nil)
      }
    }
  }

  @Test("Beside sixty streams that it leaves untaken, a program is answered; one more is a refusal and not a silence")
  func idleStreams() async throws {
    try await LoopThread.run {
      try await withStreamer { client in
        var idle: [RoostAnswer] = []
        for _ in 0..<60 { idle.append(try await ask(client, parts: 1_000)) }
        for _ in 0..<300 { #expect(try await count(try await ask(client, parts: 100)) == 100) }
        var refusal: Refusal?
        while refusal == nil, idle.count < 200 {
          do throws(Refusal) {
            idle.append(try await ask(client, parts: 1_000))
            // Its parts are on their way behind this answer.
            _ = try await count(try await ask(client, parts: 1))
            _ = try await idle.last?.next()
          } catch {
            refusal = error
          }
        }
        #expect(refusal?.code == .full && refusal?.message.contains("read those answers") == true, "\(idle.count)")
        idle = []
        try await eventually("what was given up is gone") { client.requestCount == 0 }
        #expect(try await count(try await ask(client, parts: 100)) == 100)
      }
    }
  }
}
