import Clocks
import Nostr
import RelaySession
import RelaySubscriptions
import Testing

@Suite("One interest at one relay") struct StandingInterestTests {
  private func interest(isLive: Bool = true, depth: Drain.Depth = .asFiltersSay) -> StandingInterest {
    StandingInterest(
      filters: [Filter(authors: [DrainEvent.key(1)], kinds: [1])], isLive: isLive, account: nil, depth: depth,
      isFresh: false, generation: 1)
  }

  private func drained(_ interest: inout StandingInterest) {
    var drain = Drain([], filterCount: 1, pageSize: 10)
    _ = drain.begin()
    interest.phase = .draining(drain)
    _ = interest.ended(drain)
  }

  private func state(_ interest: StandingInterest, isOpen: Bool = true) -> SubscriptionSet.State {
    interest.report(live: [], whyClosed: isOpen ? nil : "cut", isOpen: isOpen).state
  }

  @Test("What is missing after a reconnection is not stored until it is fetched")
  func rounds() {
    var interest = interest()
    let first = (interest.fetchWanted(), interest.fetchWanted())
    #expect(first == (1, nil) && state(interest) == .asked)
    drained(&interest)
    #expect(state(interest) == .stored && state(interest, isOpen: false) == .waiting("cut"))
    let next = interest.fetchWanted()
    #expect(next == 2 && state(interest) == .asked && interest.outcome == nil)
    #expect(!interest.isAsking(1) && interest.isAsking(2))
  }

  @Test("A connection that ends while it is fetched makes one more round, and one that is not live needs none")
  func again() {
    var live = interest()
    _ = live.fetchWanted()
    let drain = Drain([], filterCount: 1, pageSize: 10)
    live.phase = .draining(drain)
    let meanwhile = (live.fetchWanted(), live.fetchWanted())
    let isAgain = live.ended(drain)
    live.phase = .draining(drain)
    let isAgainTwice = live.ended(drain)
    #expect(meanwhile == (nil, nil) && isAgain && !isAgainTwice, "again, once")
    var once = interest(isLive: false)
    _ = once.fetchWanted()
    drained(&once)
    let later = once.fetchWanted()
    #expect(later == nil && state(once, isOpen: false) == .stored)
  }

  @Test("One that wants nothing stored is never fetched, and one that cannot be asked for says why")
  func ends() {
    var nothing = interest(depth: .none)
    let round = nothing.fetchWanted()
    #expect(round == nil && state(nothing) == .stored)
    var wrong = interest()
    _ = wrong.fetchWanted()
    wrong.refused("too long", about: .size)
    #expect(state(wrong) == .refused("too long", .size))
  }

  @Test("A REQ covers the time that it was open, but not over a suspend or a clock that was set")
  func covered() {
    #expect(StandingFilters.covered(since: 1_000, wall: 5_000, passedSeconds: 4_000) == 1_000...4_820)
    #expect(StandingFilters.covered(since: 1_000, wall: 30_000, passedSeconds: 4_000) == nil, "suspended")
    #expect(StandingFilters.covered(since: 5_000, wall: 1_000, passedSeconds: 4_000) == nil, "set back")
    #expect(StandingFilters.covered(since: 1_000, wall: 1_200, passedSeconds: 200) == nil, "too short")
  }

  @Test("Of its filters, times are claimed too, and neither limits, ids nor searches")
  func claimed() {
    let past = Filter(authors: [DrainEvent.key(1)], until: 500, limit: 0)
    let claimed = StandingFilters.claimed([past, Filter(ids: []), Filter(search: "x")])
    #expect(claimed == [Filter(authors: [DrainEvent.key(1)], until: 500)])
  }
}
