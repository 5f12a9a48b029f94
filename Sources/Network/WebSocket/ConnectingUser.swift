internal import Addresses
public import EventLoop
public import LinuxSystem

/// Whose process connects to a loopback port, which has no file mode: every user of the machine reaches it, and so does
/// every client that a proxy forwards.
public struct ConnectingUser {
  private var owners: SocketOwners?

  /// HTTP fields that proxies add: whole names, and prefixes and suffixes of families of names.
  private static let proxyFields: Set<String> = [
    "forwarded", "via", "x-real-ip", "cf-connecting-ip", "cf-ray", "cdn-loop", "x-envoy-external-address",
  ]
  private static let proxyBeginnings = ["x-forwarded", "tailscale-"]
  private static let proxyEndings = ["client-ip", "forwarded-for"]

  /// - Parameter owners: nil when the kernel lacks this interface: then no user is known.
  public init(_ owners: SocketOwners?) { self.owners = owners }

  /// The user that owns the connecting process; nil when it cannot be determined.
  public mutating func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32? {
    guard peer.isLoopback, var asked = owners else { return nil }
    defer { owners = asked }
    guard
      let pair = SocketPair(
        near: peer.address.octets, nearPort: peer.port, far: local.address.octets, farPort: local.port),
      case .user(let user) = asked.owner(of: pair)
    else { return nil }
    return user
  }

  /// Whether a proxy has forwarded a request.
  public static func isProxied(_ head: HTTPRequestHead) -> Bool {
    head.fields.contains { field in
      proxyFields.contains(field.name) || proxyBeginnings.contains(where: field.name.hasPrefix)
        || proxyEndings.contains(where: field.name.hasSuffix)
    }
  }
}
