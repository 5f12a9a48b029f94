import Nostr
import RelaySubscriptions
import TestSupport
import Testing

@Suite("What a drain takes of a relay without a measure") struct DrainBoundTests {
  private func drain(_ filter: Filter, _ depth: Drain.Depth, pageSize: Int, _ limits: Drain.Limits) -> Drain {
    let parts = Drain.plan(
      filter, index: 0, depth: depth, known: [Drain.Known(filter: filter)], fetchedAt: nil, byteMaximum: 1 << 16,
      wall: 1_000)
    return Drain(parts, filterCount: 1, pageSize: pageSize, limits: limits)
  }

  /// Sends events without end; the number that came before the page was withdrawn.
  private func flood(_ drain: inout Drain) throws -> (count: Int, filter: Filter) {
    let asked = drain.begin().compactMap { action -> (page: Drain.Page, filter: Filter)? in
      if case .ask(let page, let filter) = action { (page, filter) } else { nil }
    }
    let (page, filter) = try #require(asked.first)
    drain.sent(page, wall: 1_000)
    for number in 1...1_000 {
      var actions: [Drain.Action] = []
      let event = Drain.Sighting(EventID(DrainEvent.octets(number, 1)), hash: 1)
      _ = drain.received(page, event, createdAt: 900, &actions)
      if actions == [.withdraw(page), .ended] { return (number, filter) }
      #expect(actions.isEmpty)
    }
    Issue.record("the page has no end")
    return (0, filter)
  }

  @Test("A relay that says it sends 2^63-1 events in a page is asked for as many as any", arguments: [1_000, Int.max])
  func enormousPage(said: Int) throws {
    var limits = Drain.Limits()
    limits.pageSizeMaximum = 50
    var drain = drain(Filter(authors: [DrainEvent.key(1)]), .all, pageSize: said, limits)
    let (count, filter) = try flood(&drain)
    #expect(filter.limit == 50 && count == 101 && drain.outcome?.end == .cut)
  }

  @Test("A page that is asked for without a limit is cut where it has no end")
  func defaultPage() throws {
    var limits = Drain.Limits()
    limits.defaultPageMaximum = 70
    var drain = drain(Filter(kinds: [1]), .asFiltersSay, pageSize: 50, limits)
    let (count, filter) = try flood(&drain)
    #expect(filter.limit == nil && count == 71 && drain.outcome?.end == .cut)
    #expect(drain.outcome?.reason == "it sent more than 70 events and was asked without a limit")
  }
}
