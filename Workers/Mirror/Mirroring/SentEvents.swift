public import Contracts
public import Nostr

/// Remembers what another Roost of the same owner was sent: it may remove what does not fit there, and refuse what its
/// author has deleted. Without that the same events would go there for ever.
public struct SentEvents: Sendable {
  /// An event that was taken so often and is not there is not sent there again.
  public static let sentMaximum: UInt8 = 2
  /// The most events that are remembered; then all are forgotten.
  public static let countMaximum = 200_000

  private static let isRefused: UInt8 = .max
  /// How often each was taken, or ``isRefused``.
  private var counts: [EventID: UInt8] = [:]

  /// Nothing was sent.
  public init() {}

  /// Whether an event that is not there is sent.
  public func mayBeSent(_ id: EventID) -> Bool { counts[id] ?? 0 < Self.sentMaximum }

  /// Whether an event that is not there was taken too often, and was not refused.
  public func didNotStay(_ id: EventID) -> Bool { !mayBeSent(id) && counts[id] != Self.isRefused }

  /// An event was sent.
  public mutating func noted(_ id: EventID, _ outcome: CopyOutcomes.Outcome.State) {
    if counts.count >= Self.countMaximum, counts[id] == nil { counts = [:] }
    switch outcome {
    case .held: counts[id] = min(counts[id] ?? 0, Self.sentMaximum) + 1
    case .refused: counts[id] = Self.isRefused
    case .gone, .failed: break
    }
  }
}
