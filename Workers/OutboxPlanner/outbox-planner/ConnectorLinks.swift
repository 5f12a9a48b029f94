import Addresses
import Contracts
import Nostr

/// Which connectors the planner follows and writes to, and which relays they have open.
struct ConnectorLinks {
  /// Connectors that are followed.
  private(set) var followed: Set<String> = []
  /// Connectors that tell now how their relays are.
  private(set) var speaking: Set<String> = []
  /// Connectors that a message is under way to.
  private var delivering: Set<String> = []
  /// By connector.
  private var openRelays: [String: Set<RelayURL>] = [:]

  /// A connector is followed from now on.
  mutating func followBegan(_ name: String) { followed.insert(name) }

  /// A connector is in the registry no longer, and not followed.
  mutating func left(_ name: String) {
    followed.remove(name)
    openRelays[name] = nil
  }

  /// A connector has stopped telling how its relays are.
  mutating func fellSilent(_ name: String) { speaking.remove(name) }

  /// A connector tells how its relays are.
  ///
  /// - Returns: the relays that are connected now and were not before, in this life of their connector.
  mutating func reported(_ name: String, _ report: RelayReport) -> [RelayURL] {
    speaking.insert(name)
    if report.isWhole { openRelays[name] = nil }
    var opened: [RelayURL] = []
    for relay in report.relays {
      guard let url = try? RelayURL(relay.relay) else { continue }  // A connector of ours spells them canonically.
      if relay.state != .open {
        openRelays[name]?.remove(url)
      } else if openRelays[name, default: []].insert(url).inserted {
        opened.append(url)
      }
    }
    return opened
  }

  /// Whether a message is under way to a connector.
  func isDelivering(to name: String) -> Bool { delivering.contains(name) }

  /// A message is under way to a connector, until ``deliveryEnded(to:)``.
  mutating func deliveryBegan(to name: String) { delivering.insert(name) }

  /// No message is under way to a connector.
  mutating func deliveryEnded(to name: String) { delivering.remove(name) }
}
