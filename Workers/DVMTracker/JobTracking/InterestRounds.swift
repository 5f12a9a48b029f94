// Which interests are observed at relays. An observation takes time to begin, is retried when it fails, and can outlast
// its interest; by then the same interest may be wanted again. So an observation checks its round, not its interest:
// each time an interest is wanted again is a new round, and an observation of an earlier round stops at its next check.

/// The interests that are observed at relays, round by round.
public struct InterestRounds: Sendable {
  /// A stretch of time in which an interest is wanted.
  public struct Round: Sendable, Hashable {
    /// The interest.
    public let interest: JobTable.Interest
    /// Counts up; no two rounds have the same number.
    public let number: UInt64
  }

  /// What has changed, in no particular order.
  public struct Change: Sendable, Hashable {
    /// Rounds to observe from now on.
    public var begun: [Round] = []
    /// Rounds to observe no longer.
    public var ended: [Round] = []
  }

  private var current: [JobTable.Interest: Round] = [:]
  private var count: UInt64 = 0

  /// No interests.
  public init() {}

  /// Exactly these interests are wanted now.
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

  /// Whether a round is still to be observed.
  public func goesOn(_ round: Round) -> Bool { current[round.interest] == round }
}
