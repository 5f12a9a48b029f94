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
  /// Whether it has requested the path whose queries also go to the network.
  let wantsFetching: Bool
  /// The user that owns the client's process; nil when it cannot be determined.
  let user: UInt32?
  /// Whether a proxy has forwarded the request.
  let isProxied: Bool

  /// The path for clients whose queries also go to the network.
  static let fetchingPath = "/fetch"

  init(_ head: HTTPRequestHead, from address: SocketAddress) {
    self.address = address
    origin = head.values(of: "origin").first
    agent = head.values(of: "user-agent").first
    wantsFetching = head.path == Self.fetchingPath
    user = head.user
    isProxied = LocalUserCheck.isProxied(head)
  }

  var description: String { origin ?? "\(address)" }
}
