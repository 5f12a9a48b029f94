import Contracts
import Frames
import Testing

@testable import MessageHub

/// Frames longer than their receiver takes.
@Suite("Lengths")
struct LengthTests {
  private static let short = 1_000
  private static let long = String(repeating: "x", count: 1_001)

  /// Lets a seat take payloads of 1,000 bytes at most.
  private static func narrow(_ seat: SeatIndex, _ bench: HubBench) { bench.hub.seats[seat].payloadMaximum = short }

  @Test("A request that its worker does not take is refused, at once or from the mailbox")
  func requests() throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    Self.narrow(worker, bench)
    bench.request(Self.long, from: app)
    #expect(bench.take(worker) == nil)
    let refusal = try #require(bench.take(app)?.refusal)
    #expect(refusal.code == .badRequest && refusal.outcome == .notStarted)

    bench.leave(worker)
    bench.request(Self.long, from: app)
    bench.join(worker, isReady: false)
    Self.narrow(worker, bench)
    bench.send(FrameHeader(type: .ready), from: worker)
    #expect(bench.take(worker) == nil && bench.take(app)?.refusal?.code == .badRequest)
    #expect(bench.hub.openDeliveryCount == 0 && bench.hub.keptByteCount == 0)
  }

  @Test("An answer that its caller does not take becomes a refusal: done for the last frame, unknown for a part")
  func answers() throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    Self.narrow(app, bench)
    bench.request("whole", from: app)
    let whole = try #require(bench.take(worker))
    bench.answer(whole, .response, Self.long, from: worker)
    let done = try #require(bench.take(app)?.refusal)
    #expect(done.code == .failed && done.outcome == .done)

    bench.request("parts", from: app)
    let parts = try #require(bench.take(worker))
    bench.answer(parts, .response, Self.long, flags: .more, from: worker)
    let unknown = try #require(bench.take(app)?.refusal)
    #expect(unknown.code == .failed && unknown.outcome == .unknown)
    #expect(bench.take(worker)?.header.type == .cancel)
    bench.answer(parts, .response, "end", from: worker)
    #expect(bench.take(app) == nil && bench.hub.openDeliveryCount == 0)
  }

  @Test("An event of the supervisor that a subscriber does not take is a GAP at its place, for a worker too")
  func events() throws {
    let own = AccessTable.CustomRole(name: "bot", serves: ["bot.*"], mayCall: ["supervisor.*"], callableBy: [])
    let table = AccessTable(customRoles: [own])
    let role = try #require(table.role(named: "bot"))
    let bench = HubBench(table: table)
    for seat in [bench.client("app"), bench.worker("bot", role: role)] {
      bench.subscribe(seat, to: 32)
      Self.narrow(seat, bench)
      for text in ["first", Self.long, "second"] {
        bench.input { $0.publish(topic: 32, payload: Array(text.utf8), now: $1, actions: &$2) }
      }
      let texts = bench.takeAll(seat).map { $0.dropped.map { "gap of \($0)" } ?? $0.text }
      #expect(texts == ["first", "gap of 1", "second"])
    }
  }
}
