import Clocks
import Nostr
import RelaySubscriptions
import Testing

@testable import RelaySession

/// What a relay does that closes subscriptions behind EOSE, and one that is held back.
@Suite("Standing requests whose end has come") struct ClosedBehindEndTests {
  @Test("A question for ids whose events have all come is over with EOSE and CLOSED, and stored once committed")
  func ids() {
    let bench = WishBench()
    bench.open()
    bench.wish("a", .ids(2))
    _ = bench.deliver(.nth(0))
    _ = bench.deliver(.nth(0))
    bench.end(.nth(0))
    bench.fail(.nth(0), .closedByRelay, "")
    #expect(bench.state("a") == .asked, "what came is not committed yet")
    bench.commit("a", .nth(0))
    #expect(bench.state("a") == .stored && bench.timer == nil)
    bench.close()
    bench.open()
    bench.advance(milliseconds: 3_600_000)
    #expect(bench.state("a") == .stored && bench.request("a") == nil, "nobody asks again")
  }

  @Test(
    "What was asked for once is over with EOSE, whatever the relay closes it for behind that",
    arguments: ["", "bye", "error: shutting down", "rate-limited: enough"])
  func once(text: String) {
    let bench = WishBench()
    bench.open()
    bench.wish("a", .once())
    bench.end(.nth(0))
    bench.fail(.nth(0), .closedByRelay, text)
    bench.commit("a", .nth(0))
    #expect(bench.state("a") == .stored && bench.timer == nil && bench.request("a") == nil)
  }

  @Test("A live question that is closed behind EOSE stays stored, and is asked again, less and less often")
  func live() throws {
    let bench = WishBench()
    bench.open()
    bench.wish("a", .ids(2))
    var waits: [UInt64] = []
    for _ in 0..<10 {
      let request = try #require(bench.request("a"))
      _ = bench.deliver(request)
      bench.end(request)
      bench.commit("a", request)
      bench.fail(request, .closedByRelay, "")
      #expect(bench.state("a") == .stored && bench.request("a") == nil)
      let due = try #require(bench.timer)
      waits.append(due.milliseconds(since: bench.now))
      bench.advance(milliseconds: waits.last ?? 0)
    }
    for (index, wait) in waits.enumerated() {
      let least = min(5_000 << UInt64(index), 300_000)
      #expect(wait >= least && wait <= least * 3 / 2 + 1, "\(waits)")
    }
    // One that has stood for long was closed for its age.
    let request = try #require(bench.request("a"))
    bench.end(request)
    bench.advance(milliseconds: 400_000)
    bench.fail(request, .closedByRelay, "")
    #expect(try #require(bench.timer).milliseconds(since: bench.now) <= 7_501)
  }

  @Test("CLOSED with an error behind EOSE is a refusal of what was to come, as before")
  func refused() {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    bench.end(.nth(0))
    bench.commit("a", .nth(0))
    bench.fail(.nth(0), .closedByRelay, "restricted: no")
    #expect(bench.state("a") == .refused("restricted: no", .restricted))
  }

  @Test("While the relay is held back its silence does not count, and afterwards it has what was left")
  func held() {
    let bench = WishBench()
    bench.open()
    bench.wish("a", .once())
    bench.advance(milliseconds: 29_000)
    bench.apply { $0.held(at: $1) }
    #expect(bench.timer == nil)
    bench.wish("b", .once(2))
    bench.advance(milliseconds: 600_000)
    #expect(bench.state("a") == .asked && bench.state("b") == .asked)
    bench.apply { $0.released(at: $1) }
    bench.advance(milliseconds: 999)
    #expect(bench.state("a") == .asked)
    bench.advance(milliseconds: 2)
    guard case .refused? = bench.state("a") else {
      Issue.record("it has been read for 30 s, and said nothing")
      return
    }
    #expect(bench.state("b") == .asked, "its time began when the relay was read")
  }
}
