public import Nostr

/// What was last observed under each name since the process started. So another connection of the same owner can
/// acknowledge for the name, even when the observer has left.
///
/// At ``maximum`` the name whose observation began longest ago is dropped. A name that was acknowledged is still in
/// ``ObserveMarks``.
public struct ObservedNames: Sendable {
  private struct Name: Hashable, Sendable {
    let owner: String
    let id: String
  }
  private var plans: [Name: (plan: FilterKey, turn: UInt64)] = [:]
  private var turn: UInt64 = 0

  /// The most names kept.
  public static let maximum = 4_096

  /// No names.
  public init() {}

  /// The number of names.
  public var count: Int { plans.count }

  /// An observer of this owner begins under a name.
  public mutating func began(owner: String, id: String, plan: FilterKey) {
    let name = Name(owner: owner, id: id)
    if plans[name] == nil, plans.count >= Self.maximum,
      let oldest = plans.min(by: { $0.value.turn < $1.value.turn })?.key
    {
      plans[oldest] = nil
    }
    turn += 1
    plans[name] = (plan, turn)
  }

  /// What is or was observed under a name; nil when nothing is known of it.
  public func plan(owner: String, id: String) -> FilterKey? { plans[Name(owner: owner, id: id)]?.plan }
}
