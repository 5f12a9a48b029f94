// Which interests relays are asked for. To ask takes time, is tried again when it fails, and outlasts the moment at
// which nobody waits any more; by then the same may be waited for again. So not the interest tells whether asking for
// it is to go on, but its round: each time that an interest is wanted again is another one, and who asks for an earlier
// one stops when it looks next.

/// What relays are asked for, round by round.
public struct InterestRounds: Sendable {
  /// One stretch of time in which an interest is wanted.
  public struct Round: Sendable, Hashable {
    /// What is waited for.
    public let interest: JobTable.Interest
    /// Counted up; no two rounds have the same.
    public let number: UInt64
  }

  /// What has changed: both in no order.
  public struct Change: Sendable, Hashable {
    /// For these relays are to be asked.
    public var begun: [Round] = []
    /// For these no longer.
    public var ended: [Round] = []
  }

  private var current: [JobTable.Interest: Round] = [:]
  private var count: UInt64 = 0

  /// Nothing is wanted.
  public init() {}

  /// These interests are wanted, and no others.
  public mutating func want(_ interests: Set<JobTable.Interest>) -> Change {
    var change = Change()
    for (interest, round) in current where !interests.contains(interest) {
      current[interest] = nil
      change.ended.append(round)
    }
    for interest in interests where current[interest] == nil {
      count += 1
      let round = Round(interest: interest, number: count)
      current[interest] = round
      change.begun.append(round)
    }
    return change
  }

  /// Whether relays are to be asked for a round still.
  public func goesOn(_ round: Round) -> Bool { current[round.interest] == round }
}
