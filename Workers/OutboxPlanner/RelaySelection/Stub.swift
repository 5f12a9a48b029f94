public enum SelectionMode: String, Sendable, CaseIterable { case greedy, direct, learned }
public struct RelayCandidates: Sendable {
  public let relayCount: Int
  public var relays: [[Int32]] = []
  public init(relayCount: Int) { self.relayCount = relayCount }
}
public struct SelectionBudget: Sendable {
  public var live: Int
  public init(live: Int) { self.live = live }
}
public struct RelayAssignment: Sendable {
  public struct Ask: Sendable {
    public var relay: Int32
    public var authors: [Int32]
  }
  public var live: [Ask] = []
}
public struct RelaySelector: Sendable {
  public init(mode: SelectionMode, seed: UInt64) {}
  public mutating func select(_ candidates: RelayCandidates, budget: SelectionBudget) -> RelayAssignment {
    var authors: [[Int32]] = Array(repeating: [], count: candidates.relayCount)
    for (author, relays) in candidates.relays.enumerated() {
      for relay in relays { authors[Int(relay)].append(Int32(author)) }
    }
    var result = RelayAssignment()
    let order = authors.indices.sorted { (authors[$1].count, $0) < (authors[$0].count, $1) }
    for relay in order.prefix(budget.live) { result.live.append(.init(relay: Int32(relay), authors: authors[relay])) }
    return result
  }
}
