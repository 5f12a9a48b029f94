public import Addresses
public import Clocks

// Relays that are left alone for a time, for a reason that outlives their link, which is dropped after a minute without
// work: new work would ask them again.
//
//     not dialled, for an hour       closed with code 4000. Until December 2023 NIP-01 said that a client should not
//                                    connect again after it, and relays still use it so
//     asked nothing, until a restart a foreign relay that answered `blocked`
//
// A caller's relay.retry ends both, and so does a removal of the relay from the configuration.

/// Relays that are left alone, each with the reason.
public struct Dismissals: Sendable {
  private var relays: [RelayURL: (reason: String, until: Instant)] = [:]
  private var order: [RelayURL] = []

  /// The close code with which a relay asks not to be dialled.
  public static let closeCode: UInt16 = 4000
  /// How long such a relay is not dialled.
  public static let milliseconds: UInt64 = 3_600_000
  /// The most relays that are remembered. Beyond it the oldest is forgotten.
  private static let relayMaximum = 256

  /// No relay is left alone.
  public init() {}

  /// Why a relay is left alone, and for how many milliseconds; nil when it is not.
  public func dismissal(of relay: RelayURL, at now: Instant) -> (reason: String, milliseconds: UInt64)? {
    guard let kept = relays[relay], kept.until > now else { return nil }
    return (kept.reason, kept.until.milliseconds(since: now))
  }

  /// A relay has closed the connection with ``closeCode``, and gave this reason, if any.
  public mutating func closed(_ relay: RelayURL, _ reason: String, at now: Instant) {
    let words = reason.isEmpty ? "" : ", and says: \(reason)"
    add(
      relay,
      "it asks not to be dialled again (close code 4000)\(words). It is dialled after an hour, or by "
        + "'roost call relay.retry' with its URL", until: now.advanced(milliseconds: Self.milliseconds))
  }

  /// A relay is left alone from now on.
  public mutating func add(
    _ relay: RelayURL, _ reason: String, until: Instant = Instant(nanoseconds: .max)
  ) {
    forget(relay)
    relays[relay] = (reason, until)
    order.append(relay)
    if order.count > Self.relayMaximum { forget(order[0]) }
  }

  /// The relay is no longer left alone.
  public mutating func forget(_ relay: RelayURL) {
    guard relays.removeValue(forKey: relay) != nil else { return }
    order.removeAll { $0 == relay }
  }
}
