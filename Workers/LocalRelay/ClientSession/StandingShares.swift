// What stands for clients, subscriptions for one, takes memory here, in the hub and in the store for as long as its
// client likes. So all of it together is bounded, and nobody is turned away for it who has little: when there is too
// much, whoever has the most gives.

/// What stands for each client, by weight, as a value.
public struct StandingShares: Sendable {
  /// Whether one client may have what it has now.
  public enum Room: Hashable, Sendable {
    /// All together is within the bound.
    case enough
    /// It has the most itself: it is to give back what it asked for last.
    case refused
    /// This client has more: it is to give something, and then the question is asked again.
    case from(client: UInt64)
  }

  /// Weight of all clients together.
  public let maximum: Int
  /// The weight now.
  public private(set) var total = 0
  private var weights: [UInt64: Int] = [:]
  /// Weight from which a client is known to be among the heaviest; nil when somebody has given something since.
  private var heaviest: Int?

  /// Nothing stands.
  public init(maximum: Int) { self.maximum = maximum }

  /// A client has so much now; 0 when it has left.
  public mutating func set(_ client: UInt64, to weight: Int) {
    let before = weights[client] ?? 0
    total += weight - before
    weights[client] = weight == 0 ? nil : weight
    if weight < before { heaviest = nil }
  }

  /// Whether a client may have what it has, its last wish included. Looks at all clients only beyond the bound.
  public mutating func room(for client: UInt64) -> Room {
    guard total > maximum else { return .enough }
    let weight = weights[client] ?? 0
    if let heaviest, weight >= heaviest { return .refused }
    guard let other = weights.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return .enough }
    heaviest = other.value
    return other.value > weight ? .from(client: other.key) : .refused
  }
}
