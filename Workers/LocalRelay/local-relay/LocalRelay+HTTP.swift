import ClientSession
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import StatusPages
import WebSocket

// HTTP requests to the port: those that begin a WebSocket, and all others.

extension LocalRelay: WebSocketServerDelegate {
  func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32? { userCheck.user(of: peer, at: local) }

  func answer(to head: HTTPRequestHead, from peer: SocketAddress) -> HTTPDecision {
    guard isOurName(head.hostName) else {
      return .refuse(
        421, "this relay is not \(head.host.isEmpty ? "a host without a name" : head.host); hosts = [...] names it so")
    }
    let isKnown = ClientIdentity.Path(rawValue: head.path) != nil
    if head.wantsWebSocket { return isKnown ? .upgrade() : .refuse(404, "the relay is at /") }
    if head.method == "OPTIONS", isKnown { return .respond(HTTPAnswer(status: 204, fields: Self.sharing)) }
    guard head.method == "GET" || head.method == "HEAD" else {
      return .respond(
        HTTPAnswer(status: 405, text: "only GET is answered here", fields: [HTTPField("Allow", "GET, HEAD, OPTIONS")]))
    }
    let asksForDocument = head.values(of: "accept").contains { $0.lowercased().contains("application/nostr+json") }
    if isKnown, asksForDocument { return .respond(information(for: ClientIdentity(head, from: peer))) }
    // Figures and names are only for clients on this machine.
    guard peer.isLoopback else { return .refuse(404, "there is nothing to see here; it is a Nostr relay") }
    if let outside = userCheck.outside(ClientIdentity(head, from: peer)) {
      turnedOut(outside)
      return .refuse(403, outside.why)
    }
    switch head.path {
    case "/": return .later { [weak self] responder in self?.respondPage(responder) }
    case "/metrics":
      let form = Metrics.Form(accept: head.tokens(of: "accept"))
      return .later { [weak self] responder in self?.respondMetrics(form, responder) }
    default: return .refuse(404, "there are / and /metrics")
    }
  }

  func admission(of head: HTTPRequestHead, from peer: SocketAddress) -> WebSocketAdmission {
    let identity = ClientIdentity(head, from: peer)
    guard case .closed = requirement(for: identity) else { return .inside }
    // A page in the user's own browser may wait until the user allows its origin.
    let mayWait = peer.isLoopback && userCheck.outside(identity) == nil
    return .outside(milliseconds: mayWait ? nil : Self.showingMilliseconds)
  }

  /// How long a client has to authenticate (AUTH).
  private static let showingMilliseconds: UInt64 = 30_000

  func opened(_ connection: WebSocketConnection, for head: HTTPRequestHead, from peer: SocketAddress) {
    admit(connection, ClientIdentity(head, from: peer))
  }

  func accepting(failedBy fault: LoopFault) {
    log.error("a connection could not be accepted", metadata: ["why": "\(fault)"])
  }

  /// Whether a `Host` names this relay. A page of the internet whose name resolves to this machine sends its own name,
  /// which is not ours.
  private func isOurName(_ name: String) -> Bool {
    ["localhost", "127.0.0.1", "::1"].contains(name) || places.contains { $0.host == name }
      || settings.hosts.contains { $0.lowercased() == name }
  }

  /// Pages of all origins may read the relay's description (NIP-11).
  static let sharing = [
    HTTPField("Access-Control-Allow-Origin", "*"), HTTPField("Access-Control-Allow-Headers", "*"),
    HTTPField("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS"),
  ]

  private func information(for identity: ClientIdentity) -> HTTPAnswer {
    let information = RelayInformation(settings, limits: settings.clientLimits, requirement(for: identity))
    return HTTPAnswer(
      status: 200, fields: [HTTPField("Content-Type", "application/nostr+json")] + Self.sharing,
      body: JSONPayload.encode(information))
  }
}
