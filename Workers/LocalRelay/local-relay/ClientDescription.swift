import EventLoop
import WebSocket

/// What a client's HTTP request says of the client.
struct ClientIdentity: CustomStringConvertible {
  /// The client's address.
  let address: SocketAddress
  /// The origin, if the client is a page in a browser: `https://client.example`.
  let origin: String?
  /// The name that the program gives.
  let agent: String?
  /// The path that it has requested.
  let path: Path
  /// The user that owns the client's process; nil when it cannot be determined.
  let user: UInt32?
  /// Whether a proxy has forwarded the request.
  let isProxied: Bool

  /// The relay's paths: they differ in what a query reads.
  enum Path: String, CaseIterable {
    /// The store, and the network beside it if `fetch` is set.
    case plain = "/"
    /// The store and the network: the end of the stored events waits for it.
    case fetching = "/fetch"
    /// The store alone.
    case local = "/local"
    /// The store alone, for another Roost of the same owner.
    case peer = "/peer"
  }

  init(_ head: HTTPRequestHead, from address: SocketAddress) {
    self.address = address
    origin = head.values(of: "origin").first
    agent = head.values(of: "user-agent").first
    path = Path(rawValue: head.path) ?? .plain
    user = head.user
    isProxied = ConnectingUser.isProxied(head)
  }

  var description: String { origin ?? "\(address)" }
}
