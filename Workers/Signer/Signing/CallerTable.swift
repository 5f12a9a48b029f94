internal import Contracts
public import Frames

/// The senders of requests. The hub writes the role into the frame (`FrameHeader.callerRole`), so no caller can claim
/// another role; permitted kinds, accounts and rates depend on it. The name comes from the registry. It is used for the
/// audit, and to bind a relay to one connector.
///
/// If the registry does not have a worker's name yet, the request is refused with a time to retry: the worker sent it
/// right after its greeting, and the REGISTRY frame is still in flight. A worker that left stays known by its endpoint,
/// for its last requests.
public struct CallerTable: Sendable {
  private var registry: Registry
  private var past: [UInt32: SignerCaller] = [:]
  private var order: [UInt32] = []
  private var roles: [UInt16: String] = [:]

  /// Most endpoints that are remembered; beyond that the oldest goes.
  private static let pastMaximum = 4_096
  /// When an unknown worker should retry.
  private static let retryMilliseconds: UInt32 = 50

  /// A table with the members of the registry.
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
  /// - Throws: `unavailable` when the role or the worker's name is not known.
  public func caller(_ endpoint: Endpoint, role number: UInt16?) throws(Refusal) -> SignerCaller {
    guard let number, let role = roles[number] else { throw Self.unknown(endpoint, "role") }
    // A client has no reliable name, and its endpoint may earlier have been a worker's.
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

  /// The names of the present connectors.
  public var connectors: Set<String> {
    Set(registry.members.filter { $0.role == Role.relayConnector.name }.map(\.name))
  }
}
