import Addresses
import Clocks
import Contracts
import Cryptography
import Frames
import Mirroring
import Nostr
import Testing

@Suite("How full the mirror's classes may be")
struct KeepBoundsTests {
  private let named = KeptClass(.named)
  private let limit: Int64 = 160 << 20
  private let wall: Int64 = 1_000_000_000

  private func key(_ name: String) -> PublicKey { PublicKey(SHA256.hash(Array(name.utf8))) }

  /// Measures at a time, in milliseconds.
  private func measure(
    _ bounds: inout KeepBounds, _ byteCount: Int64?, at milliseconds: UInt64, took: UInt64 = 0, wall: Int64? = nil
  ) -> [KeepBounds.Action] {
    let began = Instant(nanoseconds: 0).advanced(milliseconds: milliseconds)
    guard bounds.isMeasureDue(named, at: began) else { return [] }
    bounds.measureBegan(named)
    return bounds.measured(
      named, byteCount, began: began, at: began.advanced(milliseconds: took), wall: wall ?? self.wall)
  }

  @Test("Above its bound a class is trimmed by a sixteenth, and what is older than the floor is not fetched again")
  func full() {
    var bounds = KeepBounds()
    #expect(bounds.adopt([named: limit, KeptClass(.wraps): 0]).isEmpty)
    #expect(bounds.isBounded(named) && !bounds.isBounded(KeptClass(.wraps)) && !bounds.isBounded(KeptClass(.own)))
    #expect(measure(&bounds, limit, at: 0).isEmpty)
    let goal = limit - limit / 16
    #expect(measure(&bounds, limit + 1, at: 10_000) == [.stopFetching(named), .trim(named, toByteCount: goal)])
    let some = StoreTrimmed(removed: 100_000, bytes: limit, since: 500, isComplete: false)
    let first = KeepBounds.Floor(since: 500, at: wall, byteMaximum: limit)
    #expect(
      bounds.trimmed(named, some, wall: wall) == [
        .remember(named, first), .tell(named), .trim(named, toByteCount: goal),
      ])
    let all = StoreTrimmed(removed: 1_000, bytes: goal - 5, since: 400, isComplete: true)
    #expect(
      bounds.trimmed(named, all, wall: wall + 1) == [
        .remember(named, KeepBounds.Floor(since: 500, at: wall + 1, byteMaximum: limit))
      ], "a floor only rises")
    #expect(measure(&bounds, limit, at: 20_000).isEmpty)
    #expect(bounds.all == [MirrorStatus.Bound(kind: .named, bytes: limit, byteMaximum: limit, since: 500)])
    #expect(measure(&bounds, limit + 1, at: 30_000).count == 2, "new events push out the oldest")
  }

  @Test("What may not be removed is no reason to trim again before more has come")
  func excess() {
    var bounds = KeepBounds()
    _ = bounds.adopt([named: limit])
    _ = measure(&bounds, 3 * limit, at: 0)
    let stuck = StoreTrimmed(removed: 0, bytes: 3 * limit, since: 900, isComplete: true)
    #expect(bounds.trimmed(named, stuck, wall: wall).contains(.tell(named)))
    #expect(measure(&bounds, 3 * limit + limit / 16, at: 10_000).isEmpty)
    #expect(measure(&bounds, 3 * limit + limit / 16 + 1, at: 20_000).count == 2)
  }

  @Test("When only events from the future had to go, the class is not full")
  func future() {
    var bounds = KeepBounds()
    _ = bounds.adopt([named: limit])
    _ = measure(&bounds, limit + 1, at: 0)
    let result = StoreTrimmed(removed: 3, bytes: limit / 2, since: 0, isComplete: true)
    #expect(bounds.trimmed(named, result, wall: wall).isEmpty && bounds.floor(of: named) == nil)
  }

  @Test("It counts every few seconds at most, and seldom if that takes long; a failure changes nothing")
  func pace() {
    var bounds = KeepBounds()
    _ = bounds.adopt([named: limit])
    func isDue(_ milliseconds: UInt64) -> Bool {
      bounds.isMeasureDue(named, at: Instant(nanoseconds: 0).advanced(milliseconds: milliseconds))
    }
    #expect(isDue(0) && !bounds.isMeasureDue(KeptClass(.own), at: Instant(nanoseconds: 0)))
    bounds.measureBegan(named)
    #expect(!isDue(9_000), "one at a time")
    _ = bounds.measured(
      named, 1, began: Instant(nanoseconds: 0), at: Instant(nanoseconds: 0).advanced(milliseconds: 50), wall: wall)
    #expect(!isDue(2_049) && isDue(2_050))
    _ = measure(&bounds, nil, at: 10_000, took: 2_000)
    #expect(!isDue(19_999) && isDue(20_000))
    #expect(bounds.all.first?.bytes == 1)
  }

  @Test("A start knows the floor; a larger bound forgets it, and so does a class that is half empty after a month")
  func floors() {
    let floor = KeepBounds.Floor(since: 500, sparedSince: 20, at: wall, byteMaximum: limit)
    var bounds = KeepBounds()
    _ = bounds.adopt([named: limit])
    #expect(bounds.recalled([named: floor, KeptClass(.wraps): floor]) == [.remember(KeptClass(.wraps), nil)])
    #expect(bounds.floor(of: named) == floor)
    #expect(measure(&bounds, 0, at: 0, wall: wall + 29 * 86_400).isEmpty && bounds.floor(of: named) == floor)
    #expect(measure(&bounds, limit / 2, at: 10_000, wall: wall + 31 * 86_400).isEmpty)
    #expect(measure(&bounds, 0, at: 20_000, wall: wall + 31 * 86_400) == [.remember(named, nil)])
    #expect(bounds.floor(of: named) == nil)
    _ = bounds.recalled([named: floor])
    #expect(bounds.adopt([named: limit / 2]).isEmpty && bounds.floor(of: named) == floor, "a smaller one does not")
    #expect(bounds.adopt([named: limit * 2]) == [.remember(named, nil)])
    _ = bounds.recalled([named: KeepBounds.Floor(since: 1, at: wall, byteMaximum: limit * 2)])
    #expect(bounds.adopt([named: 0]) == [.remember(named, nil)] && !bounds.isBounded(named))
    var small = KeepBounds()
    _ = small.adopt([named: 5])
    #expect(small.all.first?.byteMaximum == KeepBounds.byteMinimum)
  }

  @Test("A class is named the same after a start, and a filter that changed is another one")
  func names() throws {
    let (one, other) = (Filter(kinds: [1]), Filter(kinds: [2]))
    for kept in [named, KeptClass(.follows), KeptClass(keep: "art", one)] {
      #expect(KeptClass(kept.description) == kept)
    }
    #expect(KeptClass(keep: "art", one) != KeptClass(keep: "art", other))
    #expect(KeptClass("named x") == nil && KeptClass("keep") == nil && KeptClass("else") == nil)
  }

  @Test("What other classes keep within their time and bound stays; people whom an account follows are no strangers")
  func filters() throws {
    var alice = MirrorAccount(name: "alice", key: key("alice"))
    var bob = MirrorAccount(name: "bob", key: key("bob"))
    alice.follows = [key("friend")]
    (alice.isInboxKnown, bob.isInboxKnown) = (true, true)
    var wishes = MirrorWishes(followsSeconds: 3_600, archives: [])
    wishes.keeps = [MirrorWishes.Keep(name: "art", filter: Filter(kinds: [20], since: 50))]
    wishes.byteMaximums = [.named: limit]
    let interests = MirrorInterest.all(of: [alice, bob], wishes)
    var bounds = KeepBounds()
    _ = bounds.adopt([named: limit])
    let follows = KeptFilters(of: KeptClass(.follows), interests, bounds, spared: alice.follows, at: wall)
    #expect(follows.filters.count == 1 && follows.filters[0].since == nil, "older ones count too")
    #expect(follows.kept.contains { $0.authors == [key("alice"), key("bob")].sorted() && $0.since == nil }, "own")
    let letter = try #require(TagLetter("p"))
    #expect(follows.kept.contains { $0.tags[letter]?.count == 2 && $0.kinds?.contains(7) == true && $0.since == nil })
    #expect(follows.kept.contains { $0.kinds == [20] && $0.since == 50 })
    _ = bounds.recalled([named: KeepBounds.Floor(since: 700, sparedSince: 30, at: wall, byteMaximum: limit)])
    let full = KeptFilters(of: KeptClass(.follows), interests, bounds, spared: alice.follows, at: wall)
    #expect(full.kept.contains { $0.tags[letter]?.count == 2 && $0.authors == nil && $0.since == 700 })
    #expect(full.kept.contains { $0.tags[letter]?.count == 2 && $0.authors == alice.follows && $0.since == 30 })
    let toNamed = KeptFilters(of: named, interests, bounds, spared: alice.follows, at: wall)
    #expect(toNamed.filters.count == 1 && toNamed.filters[0].tags[letter]?.count == 2, "both accounts as one")
    #expect(toNamed.kept.contains { $0.authors == alice.follows && $0.since == (wall - 3_600) / 3_600 * 3_600 })
    let fetched = try #require(interests.first { $0.kind == .named })
    #expect(fetched.fetched(since: 700, at: wall)[0].since == 700 && fetched.fetched(at: wall)[0].since == nil)
    let feed = try #require(interests.first { $0.kind == .follows })
    #expect(feed.fetched(since: 700, at: wall)[0].since == (wall - 3_600) / 3_600 * 3_600, "the later of both")
  }

  @Test("A fetch that ends because its class is full is due again soon, and counts as no failure")
  func schedule() throws {
    let alice = MirrorAccount(name: "alice", key: key("alice"))
    let interests = MirrorInterest.all(of: [alice], MirrorWishes(followsSeconds: 0, archives: []))
    var schedule = MirrorSchedule()
    schedule.adopt(interests, at: 1_000)
    let due = schedule.next(at: 1_000)
    let own = try #require(due)
    schedule.ended(own, .full, at: 1_010)
    #expect(schedule.all.first?.nextAt == 1_010 + MirrorSchedule.fullSeconds && schedule.all.first?.last == nil)
  }

  @Test("A filter of the configuration is kept without any account; gift wraps are not asked for that way")
  func kept() throws {
    var settings = MirrorSettings()
    settings.keep = [
      MirrorKeep(name: "art", filter: #"{"authors":["\#(key("a"))"]}"#, relays: ["wss://r.example"], bytes: 7),
      MirrorKeep(name: "wraps", filter: #"{"kinds":[1059]}"#), MirrorKeep(name: "none", filter: "{"),
    ]
    let wishes = MirrorWishes(settings, archives: [])
    #expect(wishes.keeps.map(\.name) == ["art"] && wishes.byteMaximums[.named] == 4 << 30)
    let all = MirrorInterest.all(of: [], wishes)
    #expect(all.map(\.kind) == [.keep] && all[0].account == nil && all[0].name == "art" && all[0].isExclusive)
    for filter in [#"{"kinds":[1,1060]}"#, #"{"kinds":[21059]}"#, ##"{"#p":["x"]}"##, #"{"ids":[]}"#] {
      #expect(MirrorKeep.objection(to: filter)?.contains("gift wraps") == true, "\(filter)")
    }
    #expect(MirrorKeep.objection(to: ##"{"kinds":[1],"#p":["x"]}"##) == nil)
    #expect(MirrorKeep.objection(to: #"{"kinds":[1],"limit":5}"#)?.contains("'limit'") == true)
    #expect(MirrorKeep.isBoundless(#"{"kinds":[1]}"#) && !MirrorKeep.isBoundless(##"{"#t":["x"]}"##))
  }
}

@Suite("Where else an account's events may be")
struct MirrorPlacesTests {
  private func urls(_ names: String...) throws -> [RelayURL] {
    try names.map { try RelayURL("wss://\($0).example") }
  }

  @Test("Past lists and relays that sent its events are asked for what is public; those strangers name are foreign")
  func places() throws {
    var alice = MirrorAccount(name: "alice", key: PublicKey(SHA256.hash([1])))
    alice.isInboxKnown = true
    alice.places.listed = try urls("new", "old")
    alice.places.reads = try urls("new")
    alice.places.seen = try urls("old", "z", "a").map { ForeignRelayURL($0) }
    let wishes = MirrorWishes(followsSeconds: 0, archives: try urls("archive", "old"))
    func interests() -> [MirrorClass: MirrorInterest] {
      Dictionary(uniqueKeysWithValues: MirrorInterest.all(of: [alice], wishes).map { ($0.kind, $0) })
    }
    for kind in [MirrorClass.own, .named] {
      let interest = try #require(interests()[kind])
      #expect(interest.relays == (try urls("archive", "old", "new")) && !interest.isExclusive)
      #expect(interest.foreign.map(\.url) == (try urls("a", "z")), "one of its own list is not foreign")
    }
    // It never said where it receives messages: where it reads, and nowhere else.
    var wraps = try #require(interests()[.wraps])
    #expect(wraps.relays == (try urls("new")) && wraps.isExclusive && wraps.foreign.isEmpty)
    #expect(wraps.liveRelays == (try urls("new")))
    alice.places.inboxes = try urls("inbox", "earlier")
    alice.places.presentInboxes = try urls("inbox")
    wraps = try #require(interests()[.wraps])
    #expect(wraps.relays == (try urls("earlier", "inbox")) && wraps.isExclusive && wraps.foreign.isEmpty)
    #expect(wraps.liveRelays == (try urls("inbox")), "no connection is kept for a past list")
    alice.places.presentInboxes = []
    #expect(interests()[.wraps]?.liveRelays == [], "it said that it receives none")
    alice.places = MirrorPlaces()
    wraps = try #require(interests()[.wraps])
    #expect(wraps.relays.isEmpty && !wraps.isExclusive, "without any list the planner says where")
  }

  @Test("Of many relays only some are asked, and the same ones are the same question")
  func many() throws {
    var alice = MirrorAccount(name: "alice", key: PublicKey(SHA256.hash([1])))
    let relays = try (10..<60).map { try RelayURL("wss://r\($0).example") }
    alice.places.listed = relays
    alice.places.seen = (relays.suffix(5) + (try (10..<60).map { try RelayURL("wss://s\($0).example") }))
      .map { ForeignRelayURL($0) }
    let own = try #require(MirrorInterest.all(of: [alice], MirrorWishes(followsSeconds: 0, archives: [])).first)
    #expect(own.relays.count == 16 && own.foreign.count == 16)
    alice.places.listed = relays.prefix(16).reversed() + relays.suffix(34)
    let same = try #require(MirrorInterest.all(of: [alice], MirrorWishes(followsSeconds: 0, archives: [])).first)
    #expect(same == own)
  }
}
