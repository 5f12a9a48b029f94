internal import Contracts
public import Frames

/// Who asks. The role is in the frame, written by the hub (`FrameHeader.callerRole`), so that no caller is ever taken
/// for another: kinds, accounts and rates depend on it. The name is the registry's, and for the audit and for which
/// connector speaks for a relay.
///
/// A worker whose name the registry has not told yet is asked to come again: it greeted and asked in one breath, and
/// its REGISTRY is under way. One that left meanwhile stays known by its endpoint, for its last requests.
public struct CallerTable: Sendable {
  private var registry: Registry
  private var past: [UInt32: SignerCaller] = [:]
  private var order: [UInt32] = []
  private var roles: [UInt16: String] = [:]

  /// Endpoints that are remembered; the oldest goes when there is one more.
  private static let pastMaximum = 4_096
  /// When a worker that is not known yet should come again.
  private static let retryMilliseconds: UInt32 = 50

  /// Knows whom the registry tells.
  public init(_ registry: Registry) {
    self.registry = registry
    adopt(registry)
  }

  /// The registry has changed.
  public mutating func adopt(_ registry: Registry) {
    self.registry = registry
    for member in registry.members {
      let caller = SignerCaller(name: member.name, role: member.role)
      if past.updateValue(caller, forKey: member.endpoint) == nil { order.append(member.endpoint) }
    }
    while order.count > Self.pastMaximum { past[order.removeFirst()] = nil }
    roles = Dictionary(registry.roles.map { ($0.value, $0.key) }) { first, _ in first }
  }

  /// The sender of a request, by its endpoint and the number of its role.
  ///
  /// - Throws: `unavailable` when it is not known which role or which worker that is.
  public func caller(_ endpoint: Endpoint, role number: UInt16?) throws(Refusal) -> SignerCaller {
    guard let number, let role = roles[number] else { throw Self.unknown(endpoint, "role") }
    // A client has no name that could be relied on, and its seat may have been a worker's.
    if number == Role.client.number { return SignerCaller(name: "client \(endpoint)", role: role) }
    if let known = past[endpoint.rawValue], known.role == role { return known }
    guard let member = registry.member(at: endpoint, role: number) else { throw Self.unknown(endpoint, "name") }
    return SignerCaller(name: member.name, role: member.role)
  }

  private static func unknown(_ endpoint: Endpoint, _ what: String) -> Refusal {
    Refusal(
      .unavailable, "the \(what) of who asks from \(endpoint) is not known yet", outcome: .notStarted,
      retryAfterMilliseconds: retryMilliseconds)
  }

  /// The names of the connectors there are.
  public var connectors: Set<String> {
    Set(registry.members.filter { $0.role == Role.relayConnector.name }.map(\.name))
  }
}
