import Addresses
import EventLoop
import Glibc
import LinuxSystem
import WebSocket

/// Who of those on this machine belongs to it: its own user and those of `allow-uids`, as at roostd's own socket. A
/// port of the loopback has no mode, so everybody of the machine reaches it, and so does whoever a proxy lets in.
struct LocalUserCheck {
  /// Why somebody at a loopback address is outside.
  enum Outside: Hashable {
    /// A process of another user.
    case user(UInt32)
    /// It cannot be told whose process it is.
    case unknown
    /// A proxy of this machine has passed on what came from elsewhere.
    case proxy

    /// As a sentence's end.
    var why: String {
      switch self {
      case .user(let user):
        "this relay is for the user it runs as, and this program is of uid \(user); allow-uids in supervisor.conf lets it in"
      case .unknown: "this relay is for the user it runs as, and the kernel does not say whose this program is"
      case .proxy: "a proxy has passed this on, and who is behind it cannot be told"
      }
    }
  }

  private var owners: SocketOwners?
  /// Users of `allow-uids`.
  var allowed: Set<UInt32> = []

  /// Fields by which proxies say that they are there: whole names, and how names of families of them begin and end.
  private static let proxyFields: Set<String> = [
    "forwarded", "via", "x-real-ip", "cf-connecting-ip", "cf-ray", "cdn-loop", "x-envoy-external-address",
  ]
  private static let proxyBeginnings = ["x-forwarded", "tailscale-"]
  private static let proxyEndings = ["client-ip", "forwarded-for"]

  /// - Parameter owners: nil where the kernel cannot be asked: then nobody is known.
  init(_ owners: SocketOwners?) { self.owners = owners }

  /// Whose process connects; nil when that cannot be told.
  mutating func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32? {
    guard peer.isLoopback, var asked = owners else { return nil }
    defer { owners = asked }
    guard
      let pair = SocketPair(
        near: peer.address.octets, nearPort: peer.port, far: local.address.octets, farPort: local.port),
      case .user(let user) = asked.owner(of: pair)
    else { return nil }
    return user
  }

  /// Why a visitor from a loopback address is outside; nil when it is not.
  func outside(_ identity: ClientIdentity) -> Outside? {
    if identity.isProxied { return .proxy }
    guard let user = identity.user else { return .unknown }
    return user == geteuid() || allowed.contains(user) ? nil : .user(user)
  }

  /// Whether a proxy has passed a request on.
  static func isProxied(_ head: HTTPRequestHead) -> Bool {
    head.fields.contains { field in
      proxyFields.contains(field.name) || proxyBeginnings.contains(where: field.name.hasPrefix)
        || proxyEndings.contains(where: field.name.hasSuffix)
    }
  }
}
