/// What a relay outside the groups is dialled for, the most urgent purpose first. A relay that is wanted for several
/// purposes is dialled for the most urgent one.
///
/// Further purposes have their places here when something dials for them: clients of the local relay before the others.
public enum DialPurpose: Int, Comparable, CaseIterable, Sendable {
  /// To deliver a gift wrap: there are few, and a person waits for each.
  case giftWrap
  /// To publish another event.
  case publish
  /// For a subscription that stays open.
  case feed
  /// For a single answer.
  case lookUp
  /// To publish an event to a relay that only others name, such as the customer of a job. It has limits of its own.
  case foreign
  /// For old events that nothing waits for: two relays at a time.
  case backfill

  /// The more urgent purpose is less.
  public static func < (left: DialPurpose, right: DialPurpose) -> Bool { left.rawValue < right.rawValue }

  /// Whether the work is refused while its relay waits, and comes again within seconds: then the relay keeps its place.
  /// Other work waits at the connector.
  public var comesAgain: Bool {
    switch self {
    case .giftWrap, .publish, .foreign: true
    case .feed, .lookUp, .backfill: false
    }
  }
}

/// The name of one relay's link in a ``DialBudget``. The caller chooses it, and never gives it to a second link.
public struct DialKey: Hashable, Sendable {
  /// The caller's number.
  public let rawValue: UInt64
  /// A key of the caller's number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
