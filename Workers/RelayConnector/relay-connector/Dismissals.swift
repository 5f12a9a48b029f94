import Addresses
import Nostr

// Relays that have sent us away for good: close code 4000. Until December 2023 NIP-01 said that a client should not
// connect again after it, and relays still use it so. Such a relay is not dialled until somebody asks for it by
// relay.retry, it is taken out of the configuration, or the connector starts again. It is kept here and not with the
// link, since a link without work is left after a minute, and new work would dial.

/// Which relays have asked not to be dialled again, and what they said.
struct Dismissals {
  private var reasons: [RelayURL: String] = [:]
  private var order: [RelayURL] = []

  /// The close code that asks for it.
  static let closeCode: UInt16 = 4000
  /// Most relays that are remembered; the one that has said so first is forgotten, and may be dialled again.
  private static let relayMaximum = 256

  /// Why a relay is not dialled; nil when it may be.
  subscript(_ relay: RelayURL) -> String? { reasons[relay] }

  /// A relay has closed the connection with 4000, and gave this reason, if any.
  mutating func add(_ relay: RelayURL, _ reason: String) {
    forget(relay)
    let words = reason.isEmpty ? "" : ", and says: \(reason)"
    reasons[relay] =
      "it asks not to be dialled again (close code 4000)\(words); 'roost call relay.retry' with its URL dials it"
    order.append(relay)
    if order.count > Self.relayMaximum { forget(order[0]) }
  }

  /// Somebody wants the relay tried nevertheless.
  mutating func forget(_ relay: RelayURL) {
    guard reasons.removeValue(forKey: relay) != nil else { return }
    order.removeAll { $0 == relay }
  }
}
