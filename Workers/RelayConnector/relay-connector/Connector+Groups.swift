import Addresses
import Bus
import Contracts
import Frames
import Logging
import Nostr
import WorkerKit

// Several connectors: each has its group of relays, and one may dial the relays of no group (`ephemeral = true`).
//
// The hub gives a request for the role to the connector with the least to do. roostd sends every connector the groups
// of all of them, so this one knows which of them has the relay, and hands the request over (`BusRequest.handOver`):
// see decision 0020. A relay of another group is never dialled here, so what it sends is read in one process only.

/// The groups of the other connectors.
struct OtherGroups: Equatable {
  /// The worker of each of their relays.
  let owners: [RelayURL: String]
  /// The other worker that dials relays of no group; nil when no other one does.
  let outsider: String?
  /// Their relays and this one's, together.
  let relayCount: Int

  init(_ connectors: [ConfiguredConnector], besides name: String) {
    var owners: [RelayURL: String] = [:]
    for connector in connectors where connector.name != name {
      for text in connector.relays {
        // roostd has checked these URLs.
        if let url = try? RelayURL(text), owners[url] == nil { owners[url] = connector.name }
      }
    }
    self.owners = owners
    outsider = connectors.first { $0.ephemeral && $0.name != name }?.name
    relayCount = connectors.reduce(0) { $0 + $1.relays.count }
  }
}

extension Connector {
  /// The connector whose relay this is; nil when it is this one.
  func dialler(of url: RelayURL) -> String? {
    if configured.contains(url) { return nil }
    if let owner = groups.owners[url] { return owner }
    return settings.ephemeral ? nil : groups.outsider
  }

  /// Hands a request over to the connector that has the relay. Returns false when that is this one, or none has it.
  ///
  /// - Parameter relay: as the caller names it; nil for the only relay of all groups.
  func handsOver(_ request: BusRequest, about relay: String?) throws(Refusal) -> Bool {
    guard let text = relay ?? (groups.relayCount == 1 ? groups.owners.keys.first?.text : nil) else { return false }
    let url = try parse(text)
    guard !isOwn(url), let other = dialler(of: url) else { return false }
    request.handOver(to: other, otherwise: notHere(url))
    return true
  }

  /// The refusal for a relay that this connector does not dial.
  func notHere(_ url: RelayURL) -> Refusal {
    let message: String
    if let owner = groups.owners[url] {
      message = "\(url) is a relay of \(owner), and \(worker.name) does not dial it"
    } else if let outsider = groups.outsider {
      message = "\(url) is in no group of supervisor.conf; \(outsider) dials such relays, and \(worker.name) does not"
    } else {
      message =
        "\(url) is in no group of supervisor.conf, and no relay-connector dials such relays: add it to the 'relays' of"
        + " [worker.\(worker.name)], or set 'ephemeral = true' there"
    }
    return Refusal(.noSuchRelay, message, outcome: .notStarted)
  }
}
