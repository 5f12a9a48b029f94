public import Addresses
public import Clocks

// Relays that have dismissed this client, by close code 4000. Until December 2023 NIP-01 said that a client should not
// connect again after it, and relays still use it so. The connector does not dial such a relay for an hour, unless a
// caller asks for it by relay.retry, or the relay is removed from the configuration. The reasons are kept here and not
// in the link, because a link without work is dropped after a minute, and new work would dial again.

/// Which relays asked not to be dialled again, and their reasons.
public struct Dismissals: Sendable {
  private var relays: [RelayURL: (reason: String, until: Instant)] = [:]
  private var order: [RelayURL] = []

  /// The close code with which a relay asks for it.
  public static let closeCode: UInt16 = 4000
  /// How long such a relay is not dialled.
  public static let milliseconds: UInt64 = 3_600_000
  /// The most relays that are remembered. Beyond it the oldest is forgotten, and may be dialled again.
  private static let relayMaximum = 256

  /// No relay has dismissed this client.
  public init() {}

  /// Why a relay is not dialled now, and for how many milliseconds; nil when it may be.
  public func dismissal(of relay: RelayURL, at now: Instant) -> (reason: String, milliseconds: UInt64)? {
    guard let kept = relays[relay], kept.until > now else { return nil }
    return (kept.reason, kept.until.milliseconds(since: now))
  }

  /// A relay has closed the connection with 4000, and gave this reason, if any.
  public mutating func add(_ relay: RelayURL, _ reason: String, at now: Instant) {
    forget(relay)
    let words = reason.isEmpty ? "" : ", and says: \(reason)"
    relays[relay] = (
      "it asks not to be dialled again (close code 4000)\(words). It is dialled after an hour, or by "
        + "'roost call relay.retry' with its URL",
      now.advanced(milliseconds: Self.milliseconds)
    )
    order.append(relay)
    if order.count > Self.relayMaximum { forget(order[0]) }
  }

  /// The relay may be dialled again.
  public mutating func forget(_ relay: RelayURL) {
    guard relays.removeValue(forKey: relay) != nil else { return }
    order.removeAll { $0 == relay }
  }
}
