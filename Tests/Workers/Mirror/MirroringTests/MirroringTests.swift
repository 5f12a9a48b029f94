import Addresses
import Contracts
import Cryptography
import Frames
import Mirroring
import Nostr
import Testing

@Suite("What the mirror keeps")
struct MirroringTests {
  private func key(_ name: String) -> PublicKey { PublicKey(SHA256.hash(Array(name.utf8))) }

  private func result(_ end: PlanWantResult.End, _ states: [RequestReport.State] = [.stored]) -> PlanWantResult {
    PlanWantResult(
      end: end,
      relays: states.enumerated().map { number, state in
        ObserveProgress.Relay(relay: "wss://r\(number).org", state: state, reason: "so", events: 1)
      })
  }

  @Test("One's own comes first, then what names it; gift wraps are asked for at inboxes alone")
  func interests() throws {
    var alice = MirrorAccount(name: "alice", key: key("alice"))
    alice.follows = (0..<1_200).map { key("someone \($0)") }
    var bob = MirrorAccount(name: "bob", key: key("bob"))
    let archive = try RelayURL("wss://archive.org")
    let wishes = MirrorWishes(followsSeconds: 14 * 86_400, archives: [archive])
    let early = MirrorInterest.all(of: [alice, bob], wishes)
    #expect(!early.contains { $0.kind == .wraps }, "not before it is known where they are sent")
    (alice.isInboxKnown, bob.isInboxKnown) = (true, true)
    let all = MirrorInterest.all(of: [alice, bob], wishes)
    #expect(all.map(\.kind) == [.own, .own, .named, .named, .wraps, .wraps, .follows, .follows, .follows])
    #expect(all.filter { !$0.relays.isEmpty }.map(\.kind) == [.own, .own, .named, .named])
    let named = try #require(all.first { $0.kind == .named }).filters
    #expect(named.allSatisfy { $0.kinds?.contains(where: EventKind.giftWraps.contains) == false })
    #expect(all.suffix(3).map { $0.filters[0].authors?.count } == [500, 500, 200])
    #expect(
      all.suffix(3).allSatisfy { $0.fetched(at: 2_000_000)[0].since == (2_000_000 - 14 * 86_400) / 3_600 * 3_600 })
    #expect(all[0].fetched(at: 2_000_000)[0].since == nil, "one's own from the beginning")
    #expect(Set(all.map(\.key)).count == all.count)
    let none = MirrorInterest.all(of: [alice], MirrorWishes(followsSeconds: 0, archives: []))
    #expect(none.map(\.kind) == [.own, .named, .wraps])
  }

  @Test("Of an account without its key no gift wraps are asked for, and what its lists name is foreign")
  func readOnly() throws {
    var alice = MirrorAccount(name: "alice", key: key("alice"))
    (alice.isReadOnly, alice.isInboxKnown, alice.follows) = (true, true, [key("bob")])
    alice.places.listed = [try RelayURL("wss://listed.org")]
    alice.places.seen = [ForeignRelayURL(try RelayURL("wss://seen.org"))]
    let all = MirrorInterest.all(of: [alice], MirrorWishes(followsSeconds: 3_600, archives: []))
    #expect(all.map(\.kind) == [.own, .named, .follows])
    #expect(all[0].relays.isEmpty && all[0].foreign.map(\.url.text).sorted() == ["wss://listed.org", "wss://seen.org"])
    alice.isReadOnly = false
    let whole = MirrorInterest.all(of: [alice], MirrorWishes(followsSeconds: 3_600, archives: []))
    #expect(whole.map(\.kind) == [.own, .named, .wraps, .follows])
    #expect(whole[0].relays.map(\.text) == ["wss://listed.org"])
  }

  @Test("Two are fetched at a time, again after a day, and after a growing wait if a relay was away")
  func schedule() throws {
    var alice = MirrorAccount(name: "alice", key: key("alice"))
    alice.isInboxKnown = true
    let interests = MirrorInterest.all(of: [alice], MirrorWishes(followsSeconds: 0, archives: []))
    var schedule = MirrorSchedule()
    schedule.adopt(interests, at: 1_000)
    var due = [schedule.next(at: 1_000), schedule.next(at: 1_000), schedule.next(at: 1_000)]
    let (own, named) = (try #require(due[0]), try #require(due[1]))
    #expect(own.kind == .own && named.kind == .named && due[2] == nil)
    schedule.ended(own, .ended(result(.complete, [.stored, .refused])), at: 1_010)
    due = [schedule.next(at: 1_010)]
    #expect(due[0]?.kind == .wraps)
    schedule.ended(named, .ended(result(.complete, [.stored, .waiting])), at: 1_020)
    #expect(schedule.nextAt == 1_080)
    due = [schedule.next(at: 1_079), schedule.next(at: 1_080)]
    #expect(due[0] == nil)
    let again = try #require(due[1])
    schedule.ended(again, nil, at: 1_090)
    #expect(schedule.nextAt == 1_210, "twice as long")
    #expect(schedule.all.first?.last?.relays.count == 2 && schedule.all.first?.nextAt == 1_010 + 86_400)
    schedule.adopt(Array(interests.prefix(1)), at: 2_000)
    #expect(schedule.all.count == 1 && schedule.nextAt == 1_010 + 86_400, "what stays keeps its time")
    let other = MirrorInterest.all(
      of: [alice], MirrorWishes(followsSeconds: 0, archives: [try RelayURL("wss://archive.org")]))
    schedule.adopt(Array(other.prefix(1)), at: 2_000)
    due = [schedule.next(at: 2_000)]
    #expect(due[0]?.relays.count == 1, "what is asked elsewhere too is due")
  }

  @Test("What is no longer wanted counts as being fetched until it has ended")
  func leaving() throws {
    let alice = MirrorAccount(name: "alice", key: key("alice"))
    let interests = MirrorInterest.all(of: [alice], MirrorWishes(followsSeconds: 0, archives: []))
    var schedule = MirrorSchedule()
    schedule.adopt(interests, at: 1_000)
    var running = [schedule.next(at: 1_000), schedule.next(at: 1_000)].compactMap { $0 }
    schedule.adopt([], at: 1_001)
    #expect(schedule.all.isEmpty)
    schedule.adopt(interests, at: 1_002)
    running += [schedule.next(at: 1_002)].compactMap { $0 }
    #expect(running.count == 2, "two are under way still")
    schedule.ended(running[0], nil, at: 1_003)
    schedule.ended(running[1], nil, at: 1_003)
    #expect(schedule.next(at: 1_070) != nil)
  }

  @Test("A peer is compared each minute for the last days, each ten minutes whole, and after a failure ever later")
  func peers() {
    var schedule = PeerSchedule(at: 1_000_000)
    func turn(at wall: Int64, isSame: Bool = true, isAsked: Bool = false) -> Int64? {
      let since = schedule.began(at: wall, isAsked: isAsked)
      #expect(!schedule.isDue(at: wall + 9_999))
      schedule.ended(isSame: isSame, at: wall + 1)
      return since
    }
    #expect(schedule.isDue(at: 1_000_000) && turn(at: 1_000_000) == nil)
    #expect(schedule.nextAt == 1_000_061 && !schedule.isDue(at: 1_000_060))
    #expect(turn(at: 1_000_061) == 1_000_061 - PeerSchedule.recentSeconds)
    #expect(turn(at: 1_000_100, isAsked: true) == nil, "a caller waits")
    #expect(turn(at: 1_000_200) != nil)
    #expect(turn(at: 1_000_701) == nil)
    #expect(turn(at: 1_000_800, isSame: false) != nil)
    #expect(schedule.nextAt == 1_000_831)
    #expect(turn(at: 1_000_831, isSame: false) == nil, "what failed is compared whole")
    #expect(schedule.nextAt == 1_000_892)
    for _ in 0..<9 { _ = turn(at: schedule.nextAt, isSame: false) }
    let last = schedule.nextAt
    _ = turn(at: last, isSame: false)
    #expect(schedule.nextAt == last + 1 + PeerSchedule.wholeSeconds)
    #expect(schedule.isDue(at: 1_000), "a clock that was set back")
    let windows = PeerSchedule.windows(since: nil, at: 100_000_000)
    #expect(windows.count == 4 && windows.first?.upperBound == 100_172_800 && windows.last?.lowerBound == 0)
    #expect(zip(windows, windows.dropFirst()).allSatisfy { $0.lowerBound == $1.upperBound + 1 })
    #expect(PeerSchedule.windows(since: 99_999_000, at: 100_000_000) == [99_999_000...100_172_800])
  }

  @Test("What another Roost has taken twice and does not have is not sent again, nor what it has refused")
  func sent() throws {
    var sent = SentEvents()
    let ids = try [UInt8(1), 2, 3].map { EventID(try #require(Octets32(Array(repeating: $0, count: 32)))) }
    for id in ids { #expect(sent.mayBeSent(id)) }
    sent.noted(ids[0], .held)
    sent.noted(ids[1], .refused)
    sent.noted(ids[2], .failed)
    #expect(sent.mayBeSent(ids[0]) && !sent.mayBeSent(ids[1]) && sent.mayBeSent(ids[2]))
    sent.noted(ids[0], .held)
    #expect(!sent.mayBeSent(ids[0]) && sent.didNotStay(ids[0]) && !sent.didNotStay(ids[1]))
    for number in 0..<SentEvents.countMaximum {
      sent.noted(EventID(SHA256.hash(Array("\(number)".utf8))), .held)
    }
    #expect(sent.mayBeSent(ids[0]), "bounded: then all is forgotten")
  }

  @Test("A relay is complete back to where its last spans join")
  func figure() {
    func span(_ since: Int64, _ until: Int64, _ at: Int64) -> CoveredFilter.Interval {
      CoveredFilter.Interval(since: since, until: until, checkedAt: at)
    }
    let now: Int64 = 10_000_000
    #expect(MirrorFigure.complete([], at: now) == nil)
    #expect(MirrorFigure.complete([span(0, 100, 5)], at: now) == nil, "long ago")
    let whole = MirrorFigure.complete([span(0, 99, 7), span(100, now - 5, 9)], at: now)
    #expect(whole?.since == 0 && whole?.comparedAt == 7)
    let part = MirrorFigure.complete([span(0, 98, 7), span(100, now, 9)], at: now)
    #expect(part?.since == 100 && part?.comparedAt == 9)
    func piece(_ kind: Int64, _ since: Int64) -> CoveredFilter {
      CoveredFilter(
        filter: 0, relay: "wss://r0.org", fetchedAt: nil, intervals: [span(since, now, 9)],
        part: .object(["kinds": .array([.integer(kind)])]))
    }
    let filters = [Filter(kinds: [1, 7])]
    #expect(MirrorFigure.together([piece(1, 0)], of: filters) == nil, "nothing is known of the other kind")
    #expect(MirrorFigure.together([piece(1, 0), piece(7, 50)], of: filters)?.intervals == [span(50, now, 9)])
    let relays = MirrorFigure.relays(
      [CoveredFilter(filter: 0, relay: "wss://r0.org", fetchedAt: nil, intervals: [span(0, now, 9)])],
      result(.complete, [.stored, .refused]), at: now)
    #expect(relays.map(\.since) == [0, nil] && relays.map(\.reason) == [nil, "so"])
  }
}
