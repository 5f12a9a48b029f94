// What clients hold open, such as subscriptions, takes memory here, in the hub and in the store for as long as the
// client likes. So the total is bounded. When there is too much, the client with the most must give something back, and
// clients with little are not refused.

/// What each client holds open, by weight, as a value.
public struct StandingShares: Sendable {
  /// Whether a client may keep what it holds now.
  public enum Room: Hashable, Sendable {
    /// The total is within the limit.
    case enough
    /// It holds the most itself: it must give back what it last asked for.
    case refused
    /// This client holds more: it must give something back, and then the caller asks again.
    case from(client: UInt64)
  }

  /// The limit of the total weight.
  public let maximum: Int
  /// The total weight now.
  public private(set) var total = 0
  private var weights: [UInt64: Int] = [:]
  /// The weight from which a client is known to be among the heaviest; nil after a client has given something back.
  private var heaviest: Int?

  /// No client holds anything.
  public init(maximum: Int) { self.maximum = maximum }

  /// Sets what a client holds now; 0 when it has disconnected.
  public mutating func set(_ client: UInt64, to weight: Int) {
    let before = weights[client] ?? 0
    total += weight - before
    weights[client] = weight == 0 ? nil : weight
    if weight < before { heaviest = nil }
  }

  /// Whether a client may keep what it holds, including its last request. Looks at all clients only above the limit.
  public mutating func room(for client: UInt64) -> Room {
    guard total > maximum else { return .enough }
    let weight = weights[client] ?? 0
    if let heaviest, weight >= heaviest { return .refused }
    guard let other = weights.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return .enough }
    heaviest = other.value
    return other.value > weight ? .from(client: other.key) : .refused
  }
}
