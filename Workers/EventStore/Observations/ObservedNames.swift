public import Nostr

/// What was observed last under each name, since the process began: so that whoever belongs to the same owner can
/// acknowledge for it, over whatever connection, and also when the observer has left.
///
/// At ``maximum`` the name that was observed longest ago is forgotten; one that was acknowledged is in ``ObserveMarks``
/// all the same.
public struct ObservedNames: Sendable {
  private struct Name: Hashable, Sendable {
    let owner: String
    let id: String
  }
  private var plans: [Name: (plan: FilterKey, turn: UInt64)] = [:]
  private var turn: UInt64 = 0

  /// Most names kept.
  public static let maximum = 4_096

  /// None.
  public init() {}

  /// How many there are.
  public var count: Int { plans.count }

  /// Somebody of `owner`'s begins to observe under a name.
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
