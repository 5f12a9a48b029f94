/// Chooses the relays that are asked, and for whom. A value without I/O or clock: the same seed, beliefs and candidates
/// give the same choice.
///
/// A full choice looks at every author. When one author's list changes, ``replan(_:_:at:)`` keeps the open relays and
/// says at which of them the author is asked now, in time that depends on that list alone. The relays chosen may
/// then no longer be the best: at most by the events of the authors that have changed. So ``isDue`` is true once these
/// are more than ``changedMaximum`` of all, or once an author has no open relay left.
public struct RelaySelector: Sendable {
  /// The share of all expected events whose authors may have changed before a full choice is due.
  public static let changedMaximum = 0.02
  /// Relays that stay open in the mode `greedy`, and relays of each author among them.
  public static let greedyLive = 8
  static let greedyPerAuthor = 2

  /// How relays are chosen.
  public var mode: SelectionMode
  /// What is known; only the mode `learned` uses it.
  public var beliefs: DeliveryBeliefs
  /// Whether a full choice should be made.
  public private(set) var isDue = true
  let seed: UInt64
  /// Counts full choices, so that each draws other numbers.
  private(set) var round: UInt64 = 0
  /// By relay: whether it is among the relays that stay open, from the last full choice.
  private(set) var isOpen: [Bool] = []
  private var changed = 0.0
  private var total = 1.0

  /// A selector that has chosen nothing.
  public init(mode: SelectionMode, seed: UInt64, beliefs: DeliveryBeliefs = DeliveryBeliefs()) {
    self.mode = mode
    self.seed = seed
    self.beliefs = beliefs
  }

  /// Chooses among all candidates. `minute` is the present, in the minutes of the reports that ``beliefs`` learned.
  public mutating func select(
    _ candidates: RelayCandidates, budget: SelectionBudget, at minute: Int64 = 0
  ) -> RelayAssignment {
    let index = RelayIndex(candidates)
    let result: RelayAssignment
    switch mode {
    case .greedy: result = greedy(candidates, index, budget)
    case .direct: result = direct(candidates, index, budget)
    case .learned: result = learned(candidates, index, budget, at: minute)
    }
    round += 1
    isOpen = [Bool](repeating: false, count: candidates.relayCount)
    for ask in result.live { isOpen[Int(ask.relay)] = true }
    changed = 0
    total = max(expectedEvents(candidates, at: minute), .leastNormalMagnitude)
    isDue = false
    return result
  }

  /// One author's list has changed.
  ///
  /// - Returns: the open relays at which the author is asked now, in the order of the list.
  public mutating func replan(_ author: Int32, _ relays: some Sequence<Int32>, at minute: Int64 = 0) -> [Int32] {
    let found = RelayCandidates.usable(relays, isOpen.count).filter { isOpen[Int($0)] }
    changed += mode == .learned ? beliefs.eventsPerWeek(of: author, overall: lastRate, at: minute) : 1
    if found.isEmpty || changed > Self.changedMaximum * total { isDue = true }
    return mode == .greedy ? Array(found.prefix(Self.greedyPerAuthor)) : found
  }

  /// The mean of all authors at the last full choice, which would take a pass over all of them.
  var lastRate = DeliveryBeliefs.firstEventsPerWeek

  private mutating func expectedEvents(_ candidates: RelayCandidates, at minute: Int64) -> Double {
    guard mode == .learned else { return Double(candidates.authors.count) }
    lastRate = beliefs.overallEventsPerWeek(at: minute)
    return candidates.authors.reduce(0) { $0 + beliefs.eventsPerWeek(of: $1, overall: lastRate, at: minute) }
  }

  // MARK: By counting

  /// Two relays for each author: always the relay that most authors need who have fewer than two.
  private func greedy(
    _ candidates: RelayCandidates, _ index: RelayIndex, _ budget: SelectionBudget
  ) -> RelayAssignment {
    var counts = [Int32](repeating: 0, count: candidates.authors.count)
    func needing(_ relay: Int32) -> [Int32] {
      index.range(Int(relay)).map { index.places[$0] }.filter { counts[Int($0)] < Self.greedyPerAuthor }
    }
    var asked: [Int32: [Int32]] = [:]
    var heap = BestFirst(counted(index))
    let take = { (heap: inout BestFirst, count: Int) -> [RelayAssignment.Ask] in
      heap.take(count, above: 0) {
        Double(needing($0).count)
      } taken: { relay in
        let places = needing(relay)
        asked[relay] = places.map { candidates.authors[Int($0)] }
        for place in places { counts[Int(place)] += 1 }
      }.map { RelayAssignment.Ask(relay: $0, authors: asked[$0] ?? []) }
    }
    var result = RelayAssignment()
    result.live = take(&heap, min(budget.live, Self.greedyLive))
    result.spares = take(&heap, budget.spares)
    return result
  }

  /// The relays that most authors declare.
  private func direct(_ candidates: RelayCandidates, _ index: RelayIndex, _ budget: SelectionBudget) -> RelayAssignment
  {
    let order = counted(index).sorted { ($1.gain, $0.relay) < ($0.gain, $1.relay) }
    func asks(_ part: some Sequence<(gain: Double, relay: Int32)>) -> [RelayAssignment.Ask] {
      part.map { RelayAssignment.Ask(relay: $0.relay, authors: index.authors(of: $0.relay, in: candidates)) }
    }
    var result = RelayAssignment()
    result.live = asks(order.prefix(budget.live))
    result.spares = asks(order.dropFirst(budget.live).prefix(budget.spares))
    return result
  }

  private func counted(_ index: RelayIndex) -> [(gain: Double, relay: Int32)] {
    (0..<index.relayCount).compactMap { relay in
      let count = index.range(relay).count
      return count == 0 ? nil : (Double(count), Int32(relay))
    }
  }
}
