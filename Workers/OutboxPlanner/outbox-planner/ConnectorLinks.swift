import Addresses
import Contracts
import Nostr

/// The connectors that the planner follows and writes to, and their open relays.
struct ConnectorLinks {
  /// Connectors that are followed.
  private(set) var followed: Set<String> = []
  /// Connectors that report their relays at present.
  private(set) var speaking: Set<String> = []
  /// Connectors with a message in flight.
  private var delivering: Set<String> = []
  /// Open relays, by connector.
  private var openRelays: [String: Set<RelayURL>] = [:]

  /// A connector is followed from now on.
  mutating func followBegan(_ name: String) { followed.insert(name) }

  /// A connector has left the registry, and is no longer followed.
  mutating func left(_ name: String) {
    followed.remove(name)
    openRelays[name] = nil
  }

  /// A connector has stopped reporting.
  mutating func fellSilent(_ name: String) { speaking.remove(name) }

  /// A connector has reported its relays.
  ///
  /// - Returns: the relays that are newly connected, within this generation of the connector.
  mutating func reported(_ name: String, _ report: RelayReport) -> [RelayURL] {
    speaking.insert(name)
    if report.isWhole { openRelays[name] = nil }
    var opened: [RelayURL] = []
    for relay in report.relays {
      guard let url = try? RelayURL(relay.relay) else { continue }  // Our connectors report canonical URLs.
      if relay.state != .open {
        openRelays[name]?.remove(url)
      } else if openRelays[name, default: []].insert(url).inserted {
        opened.append(url)
      }
    }
    return opened
  }

  /// Whether a message to a connector is in flight.
  func isDelivering(to name: String) -> Bool { delivering.contains(name) }

  /// A message to a connector is in flight, until ``deliveryEnded(to:)``.
  mutating func deliveryBegan(to name: String) { delivering.insert(name) }

  /// No message to a connector is in flight.
  mutating func deliveryEnded(to name: String) { delivering.remove(name) }
}
