import Addresses
import Nostr

// Relays that have dismissed this client for good, by close code 4000. Until December 2023 NIP-01 said that a client
// should not connect again after it, and relays still use it so. The connector does not dial such a relay until a
// caller asks for it by relay.retry, the relay is removed from the configuration, or the connector restarts. The
// reasons are kept here and not in the link, because a link without work is dropped after a minute, and new work would
// dial again.

/// Which relays asked not to be dialled again, and their reasons.
struct Dismissals {
  private var reasons: [RelayURL: String] = [:]
  private var order: [RelayURL] = []

  /// The close code with which a relay asks for it.
  static let closeCode: UInt16 = 4000
  /// The most relays that are remembered. Beyond it the oldest is forgotten, and may be dialled again.
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

  /// The relay may be dialled again.
  mutating func forget(_ relay: RelayURL) {
    guard reasons.removeValue(forKey: relay) != nil else { return }
    order.removeAll { $0 == relay }
  }
}
