import Clocks
import Cryptography
import Nostr
import RelaySubscriptions
import Testing

@testable import RelaySession

@Suite("Standing requests") struct StandingRequestTests {
  @Test("A wish waits for the connection, is asked, and is stored when all before its EOSE is committed")
  func life() throws {
    let bench = WishBench()
    bench.wish("a")
    #expect(bench.taken().isEmpty && bench.state("a") == .waiting(nil))
    bench.open()
    #expect(bench.taken() == [.start(.nth(0), "a", .live())] && bench.state("a") == .asked)
    #expect(bench.deliver(.nth(0)) == "a" && bench.requests.report("a")?.events == 1)
    bench.end(.nth(0))
    #expect(bench.taken() == [.commit("a", .nth(0))] && bench.state("a") == .asked)
    bench.commit("a", .nth(0))
    #expect(bench.taken().isEmpty && bench.state("a") == .stored && bench.timer == nil)
    #expect(bench.deliver(.nth(0)) == "a", "it is live")
  }

  @Test("After a reconnection a wish is asked all over under a new key, and stays stored meanwhile")
  func reconnection() {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    bench.end(.nth(0))
    bench.commit("a", .nth(0))
    bench.close("the cable")
    #expect(bench.state("a") == .waiting("the cable"))
    #expect(bench.deliver(.nth(0)) == nil)
    _ = bench.taken()
    bench.open()
    #expect(bench.taken() == [.start(.nth(1), "a", .live())] && bench.state("a") == .stored)
  }

  @Test("An older request's commit, behind a reconnection or another wish under its key, says nothing of the new one")
  func lateCommit() {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    bench.end(.nth(0))
    bench.close()
    bench.open()
    bench.commit("a", .nth(0))
    #expect(bench.state("a") == .asked)
    bench.end(.nth(1))
    bench.wish("a", .live(7))
    bench.commit("a", .nth(1))
    #expect(bench.state("a") == .asked && bench.request("a") == .nth(2))
  }

  @Test("A wish that is not live is cancelled once it is committed, and never asked again")
  func once() {
    let bench = WishBench()
    bench.open()
    bench.wish("a", .once())
    bench.end(.nth(0))
    _ = bench.taken()
    bench.commit("a", .nth(0))
    #expect(bench.taken() == [.cancel(.nth(0))] && bench.state("a") == .stored && bench.timer == nil)
    bench.close()
    bench.open()
    bench.wish("a", .once())
    #expect(bench.taken().isEmpty && bench.state("a") == .stored)
  }

  @Test("A relay that says nothing to one that is not live is given up after the patience; each sign begins it anew")
  func patience() {
    let bench = WishBench()
    let patience = SubscriptionLimits().patienceMilliseconds
    bench.open()
    bench.wish("a", .once())
    bench.wish("b", .live())
    bench.advance(milliseconds: patience - 1)
    #expect(bench.deliver(.nth(0)) == "a")
    bench.advance(milliseconds: patience - 1)
    #expect(bench.state("a") == .asked)
    _ = bench.taken()
    bench.advance(milliseconds: 1)
    #expect(bench.taken() == [.cancel(.nth(0))] && bench.timer == nil)
    #expect(bench.state("a") == .refused("it has sent neither an event nor EOSE for 30 s", nil))
    #expect(bench.state("b") == .asked && bench.requests.report("b")?.overdue != nil, "a live wish stands on")
  }

  @Test("Another wish under a key replaces it, and the same changes nothing; dropping cancels what is under way, once")
  func replacing() {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    bench.wish("a")
    #expect(bench.taken() == [.start(.nth(0), "a", .live())])
    bench.wish("a", .live(7))
    #expect(bench.taken() == [.cancel(.nth(0)), .start(.nth(1), "a", .live(7))])
    bench.drop("a")
    bench.drop("a")
    #expect(bench.taken() == [.cancel(.nth(1))] && bench.requests.isEmpty && bench.state("a") == nil)
    #expect(bench.deliver(.nth(1)) == nil)
    bench.end(.nth(1))
    #expect(bench.taken().isEmpty)
  }

  @Test("No more are asked at a time than the limit; the next in order follows when one is over")
  func limit() {
    let bench = WishBench()
    bench.apply { $0.slotsChanged(4, at: $1) }
    for key in ["d", "c", "b", "a"] { bench.wish(key, .once()) }
    bench.open()
    #expect(Set(bench.underWay.values.map(\.key)) == ["d", "c"])
    #expect(bench.state("b") == .waiting("2 subscriptions are open there already"))
    bench.end(.nth(0))
    bench.commit("d", .nth(0))
    #expect(Set(bench.underWay.values.map(\.key)) == ["c", "b"])
    bench.drop("c")
    #expect(Set(bench.underWay.values.map(\.key)) == ["b", "a"])
  }

  @Test(
    "After CLOSED a wish goes again as often as the word allows, and is refused then until the next connection",
    arguments: [
      ("rate-limited: slow", 3, .rate), ("error: x", 1, .failure), ("no word", 2, .unknown),
      ("payment-required: x", 2, .unknown), ("", 2, .unknown), ("restricted: x", 0, .restricted),
      ("blocked: x", 0, .blocked), ("invalid: x", 0, .invalid), ("mute: x", 0, .mute),
      ("unsupported: x", 0, .unsupported), ("pow: x", 0, .invalid), ("auth-required: x", 0, .authentication),
      ("queries not allowed", 0, .unsupported), ("ERROR: bad req: search filter is required", 0, .unsupported),
    ] as [(String, Int, RefusalClass)])
  func closedByRelay(text: String, retryCount: Int, kind: RefusalClass) throws {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    for _ in 0..<retryCount {
      bench.fail(try #require(bench.request("a")), .closedByRelay, text)
      #expect(bench.state("a") == .waiting(text) && bench.request("a") == nil)
      bench.advance(milliseconds: 999)
      #expect(bench.request("a") == nil, "not at once")
      bench.advance(milliseconds: 8_000)
    }
    bench.fail(try #require(bench.request("a")), .closedByRelay, text)
    #expect(bench.state("a") == .refused(text, kind) && bench.timer == nil)
    bench.close()
    #expect(bench.state("a") == .refused(text, kind))
    bench.open()
    #expect(bench.state("a") == .refused(text, kind), "another connection does not renew the retries")
    bench.advance(milliseconds: SubscriptionLimits().retryMemoryMilliseconds)
    #expect(bench.state("a") == .asked)
  }

  @Test("Retries count over connections, and from zero at one that comes ten minutes after the last refusal")
  func retriesOverConnections() throws {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    for _ in 0..<3 {
      bench.fail(try #require(bench.request("a")), .closedByRelay, "rate-limited: x")
      bench.close()
      bench.advance(milliseconds: 10_000)
      bench.open()
    }
    bench.fail(try #require(bench.request("a")), .closedByRelay, "rate-limited: x")
    #expect(bench.state("a") == .refused("rate-limited: x", .rate))
    bench.close()
    bench.advance(milliseconds: SubscriptionLimits().retryMemoryMilliseconds)
    bench.open()
    bench.fail(try #require(bench.request("a")), .closedByRelay, "rate-limited: x")
    #expect(bench.state("a") == .waiting("rate-limited: x"))
  }

  @Test("As many pages are asked for at a time as the setting says, also after it has changed")
  func pagesAtOnce() {
    let bench = WishBench()
    bench.apply { $0.pageMaximumChanged(2, at: $1) }
    bench.open()
    for key in ["a", "b", "c", "d", "e"] { bench.wish(key, .once()) }
    #expect(Set(bench.underWay.values.map(\.key)) == ["a", "b"])
    bench.apply { $0.pageMaximumChanged(4, at: $1) }
    #expect(Set(bench.underWay.values.map(\.key)) == ["a", "b", "c", "d"])
    bench.apply { $0.pageMaximumChanged(1, at: $1) }
    #expect(bench.underWay.count == 4, "what is under way goes on")
  }

  @Test("More live interests than a relay has subscriptions take turns, and none waits for ever")
  func turns() throws {
    let bench = WishBench()
    bench.apply { $0.slotsChanged(4, at: $1) }
    bench.open()
    let keys = (0..<10).map { "k\($0)" }
    for key in keys { bench.wish(key) }
    var served: Set<String> = []
    for _ in 0..<20 {
      #expect(bench.underWay.count == 2)
      for (request, wish) in bench.underWay {
        served.insert(wish.key)
        bench.end(request)
        bench.commit(wish.key, request)
      }
      bench.advance(milliseconds: SubscriptionLimits().turnMilliseconds)
    }
    #expect(served == Set(keys))
    #expect(keys.allSatisfy { bench.state($0) == .stored || bench.state($0) == .asked })
  }

  @Test("A refusal for want of a subscription costs an interest none of its retries")
  func tooMany() throws {
    let bench = WishBench()
    bench.open()
    for number in 0..<3 { bench.wish("k\(number)") }
    // Two have room; the third is refused again and again, each time when it has got a subscription.
    for _ in 0..<10 {
      bench.apply { $0.slotsChanged(4, at: $1) }
      bench.fail(try #require(bench.request("k0")), .closedByRelay, "rate-limited: too many concurrent REQs")
      guard case .waiting? = bench.state("k0") else {
        Issue.record("\(String(describing: bench.state("k0")))")
        return
      }
      bench.drop("k1")
      bench.wish("k1")
      bench.drop("k2")
      bench.wish("k2")
    }
  }

  @Test("When a relay allows fewer than are open, those without EOSE are closed first, and all have their turn")
  func lowered() {
    let bench = WishBench()
    bench.open()
    let keys = (0..<10).map { "k\($0)" }
    for key in keys { bench.wish(key) }
    for key in keys.prefix(4) { if let request = bench.request(key) { bench.end(request) } }
    bench.apply { $0.slotsChanged(6, at: $1) }
    #expect(Set(bench.underWay.values.map(\.key)) == Set(keys.prefix(4)))
    var served: Set<String> = []
    for _ in 0..<10 {
      for (request, wish) in bench.underWay {
        served.insert(wish.key)
        bench.end(request)
        bench.commit(wish.key, request)
      }
      bench.advance(milliseconds: SubscriptionLimits().turnMilliseconds)
      #expect(bench.underWay.count == 4)
    }
    #expect(served == Set(keys))
  }

  @Test("One interest more than there are subscriptions costs one REQ a minute")
  func oneMore() {
    let bench = WishBench()
    bench.open()
    for number in 0..<19 {
      bench.wish("k\(number)")
      for (request, wish) in bench.underWay {
        bench.end(request)
        bench.commit(wish.key, request)
      }
    }
    bench.advance(milliseconds: SubscriptionLimits().turnMilliseconds)
    _ = bench.taken()
    var count = 0
    for _ in 0..<100 {
      bench.advance(milliseconds: 6_000)
      for case .start(let request, let key, _) in bench.taken() {
        count += 1
        bench.end(request)
        bench.commit(key, request)
      }
    }
    #expect((8...12).contains(count), "\(count) in ten minutes")
  }

  @Test("The patience for a silent relay begins when the request is sent, and not while the session keeps it")
  func patienceFromSending() throws {
    let bench = WishBench()
    bench.sendsAtOnce = false
    bench.open()
    bench.wish("a", .once())
    bench.advance(milliseconds: 120_000)
    #expect(bench.state("a") == .asked)
    bench.send(try #require(bench.request("a")))
    bench.advance(milliseconds: SubscriptionLimits().patienceMilliseconds)
    #expect(bench.state("a") == .refused("it has sent neither an event nor EOSE for 30 s", nil))
  }

  @Test("What was refused for another reason is not revived by an authentication, and silence is no refusal")
  func otherReasons() throws {
    let alice = try #require(PublicKey(String(repeating: "1", count: 64)))
    let bench = WishBench()
    bench.wish("a", .live(account: alice))
    bench.wish("b", .once())
    bench.open()
    bench.fail(try #require(bench.request("a")), .closedByRelay, "restricted: no")
    bench.fail(try #require(bench.request("b")), .closedByRelay, "rate-limited: x")
    bench.close()
    bench.open()
    bench.apply { $0.shown(alice, at: $1) }
    #expect(bench.state("a") == .refused("restricted: no", .restricted))
    bench.advance(milliseconds: SubscriptionLimits().patienceMilliseconds)
    #expect(bench.state("b") == .refused("it has sent neither an event nor EOSE for 30 s", nil))
  }

  @Test("A foreign relay that blocks is asked nothing more until a person wants it tried")
  func aside() throws {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    bench.wish("b")
    bench.apply { $0.setAside("blocked: go away", at: $1) }
    bench.wish("c")
    #expect(bench.underWay.isEmpty)
    #expect(["a", "b", "c"].allSatisfy { bench.state($0) == .refused("blocked: go away", .blocked) })
    bench.close()
    bench.advance(milliseconds: 3_600_000)
    bench.open()
    #expect(bench.underWay.isEmpty)
    bench.apply { $0.forgiven(at: $1) }
    #expect(bench.underWay.count == 3)
  }

  @Test("A mixture of words makes no loop: there is one budget over all of them on a connection")
  func budget() throws {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    let words = ["rate-limited: x", "error: x", "x", "rate-limited: x", "x", "rate-limited: x"]
    for word in words {
      bench.fail(try #require(bench.request("a")), .closedByRelay, word)
      bench.advance(milliseconds: 10_000)
    }
    #expect(bench.state("a") == .refused("rate-limited: x", .rate))
  }

  @Test("A relay that is our own is not asked again", arguments: [WorkFailure.Code.ownRelay, .notProtected])
  func finalFailures(code: WorkFailure.Code) {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    bench.fail(.nth(0), code, "never")
    bench.advance(milliseconds: 1_000_000)
    #expect(bench.state("a") == .refused("never", nil))
  }

  @Test("A session that is full is asked again after a while; one that lacks an identity is not")
  func otherFailures() throws {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    bench.fail(.nth(0), .full, "full")
    #expect(bench.state("a") == .waiting("full"))
    bench.advance(milliseconds: SubscriptionLimits().fullMilliseconds)
    bench.fail(try #require(bench.request("a")), .notAuthenticated, "nobody")
    #expect(bench.state("a") == .refused("nobody", .authentication))
    bench.advance(milliseconds: 1_000_000)
    #expect(bench.state("a") == .refused("nobody", .authentication))
  }

  @Test("What nobody could sign for is asked again later and later, and at once when the account has shown himself")
  func unsigned() throws {
    let alice = try #require(PublicKey(String(repeating: "1", count: 64)))
    let limits = SubscriptionLimits()
    let bench = WishBench()
    bench.open()
    bench.wish("a", .live(account: alice))
    bench.wish("b", .live())
    let other = try #require(bench.request("b"))
    bench.end(other)
    bench.commit("b", other)
    var waits: [UInt64] = []
    for _ in 0..<8 {
      bench.fail(try #require(bench.request("a")), .notSigned, "the account is locked")
      #expect(bench.state("a") == .refused("the account is locked", nil), "nobody waits for its EOSE")
      let due = try #require(bench.timer)
      waits.append(due.milliseconds(since: bench.now))
      bench.advance(milliseconds: waits[waits.count - 1])
      #expect(bench.state("a") == .asked)
    }
    #expect(waits[0] >= limits.unsignedMilliseconds && waits[0] <= limits.unsignedMilliseconds * 3 / 2)
    #expect(waits.allSatisfy { $0 <= limits.unsignedCeilingMilliseconds * 3 / 2 } && waits[7] > waits[0] * 2)
    bench.fail(try #require(bench.request("a")), .notSigned, "the account is locked")
    bench.apply { $0.shown(alice, at: $1) }
    #expect(bench.state("a") == .asked && bench.state("b") == .stored)
    bench.fail(try #require(bench.request("a")), .notAuthenticated, "refused AUTH")
    bench.apply { $0.shown(alice, at: $1) }
    #expect(bench.state("a") == .refused("refused AUTH", .authentication), "the relay's own no is kept")
  }

  @Test("A wish that pauses while the connection ends waits for the next one, and a pause that is over starts nothing")
  func pausingWithoutConnection() {
    let bench = WishBench()
    bench.open()
    bench.wish("a")
    bench.wish("b")
    bench.fail(.nth(0), .closedByRelay, "error: x")
    bench.close("gone")
    _ = bench.taken()
    bench.advance(milliseconds: 10_000)
    #expect(bench.taken().isEmpty && bench.state("a") == .waiting("gone"))
    bench.open()
    #expect(bench.underWay.count == 2)
  }
}
