import EventLoop
import WebSocket

/// What a client's request says of it.
struct ClientIdentity: CustomStringConvertible {
  /// Where it comes from.
  let address: SocketAddress
  /// The page it is, if it is one in a browser: `https://client.example`.
  let origin: String?
  /// The program it says it is.
  let agent: String?
  /// Whether it has asked for the path whose requests are fetched.
  let wantsFetching: Bool
  /// Whose process it is; nil when that cannot be told.
  let user: UInt32?
  /// Whether a proxy has passed it on.
  let isProxied: Bool

  /// The path of those.
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
