/// How the relays that stay open are chosen.
public enum SelectionMode: String, Sendable, CaseIterable {
  /// The smallest set of relays that has two for each author, eight in all.
  case greedy
  /// The relays that most authors declare, each asked for all of its authors.
  case direct
  /// The relays from which most events are expected that no other chosen relay brings.
  case learned
}

/// How many relays a choice may hold.
public struct SelectionBudget: Sendable, Hashable {
  /// Relays that may be open together.
  public var live: Int
  /// Relays that may be visited beside them in a session, one after another.
  public var visits: Int
  /// Relays that are named as replacements for those that cannot be reached.
  public var spares: Int

  /// A budget; negative numbers count as 0.
  public init(live: Int, visits: Int = 0, spares: Int = 0) {
    self.live = max(0, live)
    self.visits = max(0, visits)
    self.spares = max(0, spares)
  }
}

/// Which relays are asked for whom.
public struct RelayAssignment: Sendable, Hashable {
  /// A relay and the authors it is asked for, by the ids of the candidates.
  public struct Ask: Sendable, Hashable {
    /// The relay.
    public var relay: Int32
    /// The authors, in the order of the candidates.
    public var authors: [Int32]

    /// A relay and the authors it is asked for.
    public init(relay: Int32, authors: [Int32]) {
      self.relay = relay
      self.authors = authors
    }
  }

  /// Relays that stay open, the first chosen first.
  public var live: [Ask] = []
  /// Relays to dial in this order, one for each of ``live`` that cannot be reached.
  public var spares: [Ask] = []
  /// Relays to visit beside them, one after another.
  public var visits: [Ask] = []

  /// An empty assignment.
  public init() {}
}
