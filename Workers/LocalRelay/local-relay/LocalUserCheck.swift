import Addresses
import EventLoop
import Glibc
import LinuxSystem
import WebSocket

/// Decides which clients on this machine need not authenticate: those of the relay's user and of `allow-uids`, as at
/// `roostd`'s own socket. A loopback port has no file mode, so every user of the machine reaches it, and so does every
/// client that a proxy forwards. `LocalRelay.requirement(for:)` calls it, and has the rules for other addresses and for
/// pages in a browser.
struct LocalUserCheck {
  /// Why a client at a loopback address must authenticate.
  enum Outside: Hashable {
    /// Its process belongs to another user.
    case user(UInt32)
    /// The owner of its process cannot be determined.
    case unknown
    /// A proxy on this machine has forwarded the request from elsewhere.
    case proxy

    /// The end of a sentence.
    var why: String {
      switch self {
      case .user(let user):
        "this relay is for the user it runs as, and this program is of uid \(user); allow-uids in supervisor.conf lets it in"
      case .unknown: "this relay is for the user it runs as, and the kernel does not say whose this program is"
      case .proxy: "a proxy has passed this on, and who is behind it cannot be told"
      }
    }
  }

  private var connecting: ConnectingUser
  /// Users of `allow-uids`.
  var allowed: Set<UInt32> = []

  /// - Parameter owners: nil when the kernel lacks this interface: then every owner is unknown.
  init(_ owners: SocketOwners?) { connecting = ConnectingUser(owners) }

  /// The user that owns the connecting process; nil when it cannot be determined.
  mutating func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32? {
    connecting.user(of: peer, at: local)
  }

  /// Why a client at a loopback address must authenticate; nil when it need not.
  func outside(_ identity: ClientIdentity) -> Outside? {
    if identity.isProxied { return .proxy }
    guard let user = identity.user else { return .unknown }
    return user == geteuid() || allowed.contains(user) ? nil : .user(user)
  }
}
