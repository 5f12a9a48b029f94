import Contracts
import Frames
import Signing

/// Who is behind an endpoint. The hub has checked that the role may call; which role it is must be known here once
/// more, because kinds and rates depend on it.
///
/// The registry names the workers. It comes on the same connection as the requests, so a worker is in it before its
/// first request is. One that left meanwhile stays known by its endpoint: otherwise its last requests would count as a
/// client's, which may have more signed. Whoever never was a worker is a client.
struct CallerBook {
  private var present: [Int: SignerCaller] = [:]
  private var past: [UInt32: SignerCaller] = [:]
  private var order: [UInt32] = []

  /// Endpoints that are remembered; the oldest goes when there is one more.
  private static let pastMaximum = 4_096

  init(_ registry: Registry) { adopt(registry) }

  mutating func adopt(_ registry: Registry) {
    present = [:]
    for member in registry.members {
      let caller = SignerCaller(name: member.name, role: member.role)
      present[Endpoint(rawValue: member.endpoint).seat] = caller
      if past.updateValue(caller, forKey: member.endpoint) == nil { order.append(member.endpoint) }
    }
    while order.count > Self.pastMaximum { past[order.removeFirst()] = nil }
  }

  func caller(_ endpoint: Endpoint) -> SignerCaller {
    // A worker keeps its seat through its restarts; a client's is given to others.
    past[endpoint.rawValue] ?? present[endpoint.seat]
      ?? SignerCaller(name: "client \(endpoint)", role: Role.client.name)
  }

  /// The names of the connectors there are.
  var connectors: Set<String> {
    Set(present.values.filter { $0.role == Role.relayConnector.name }.map(\.name))
  }
}
