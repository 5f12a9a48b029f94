import Contracts
import Cryptography
import EventLoop
import Frames
import HTTPClient
import LinuxSystem
import Logging
import PushDelivery
import WebSocket

/// Posts to push services of browsers and of UnifiedPush: RFC 8030, encrypted by RFC 8291, signed by RFC 8292.
@EventLoopActor
final class WebCourier: Courier {
  private let key: P256SecretKey
  private let contact: String
  private let client: HTTPClient
  private let dialsNeighbours: Bool
  /// Why there was no connection to the service that was tried last.
  private(set) var trouble: String?
  /// The signed token of each service, and until when it is used.
  private var tokens: [String: (text: String, until: Int64)] = [:]

  /// The key in the form for subscriptions: base64url, 65 bytes.
  var publicKey: String { Base64URL.text(of: key.publicKey) }

  private static let answerMilliseconds: UInt64 = 15_000
  /// RFC 8292 allows 24 hours; clocks differ.
  private static let tokenSeconds: Int64 = 12 * 3_600
  private static let tokenUseSeconds: Int64 = 11 * 3_600
  /// Most services whose tokens are kept; beyond it, all are signed again.
  private static let tokenMaximum = 1_000

  init(key: P256SecretKey, contact: String, client: HTTPClient, dialsNeighbours: Bool) {
    self.key = key
    self.contact = contact
    self.client = client
    self.dialsNeighbours = dialsNeighbours
  }

  func send(_ message: PushMessage) async -> PushVerdict {
    guard let encryption = message.encryption,
      let body = WebPushEncryption.body(
        message.body, publicKey: encryption.publicKey, authentication: encryption.authentication)
    else { return .messageFault("not-encrypted") }
    let audience = Self.audience(of: message.target)
    let authorization = "vapid t=\(token(for: audience)), k=\(publicKey)"
    var request = HTTPRequest(
      .post, message.target,
      fields: [HTTPField("authorization", authorization)] + message.headers.map { HTTPField($0.name, $0.value) },
      body: body)
    request.totalMilliseconds = Self.answerMilliseconds
    request.dialsGlobalAddressesOnly = !dialsNeighbours
    let (verdict, trouble) = await client.verdict(on: request, of: .webPush)
    self.trouble = trouble
    // The clock may have been wrong when it was signed; without this it would be sent for hours.
    if case .providerFault = verdict { tokens[audience] = nil }
    return verdict
  }

  /// The origin of an endpoint.
  private static func audience(of endpoint: String) -> String {
    let scheme = endpoint.firstRange(of: "://").map { endpoint[..<$0.upperBound] } ?? ""
    return String(scheme + endpoint[scheme.endIndex...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
  }

  private func token(for audience: String) -> String {
    let now = WallClock.seconds
    if let known = tokens[audience], known.until > now { return known.text }
    var claims: [String: JSONValue] = ["aud": .string(audience), "exp": .integer(now + Self.tokenSeconds)]
    if !contact.isEmpty { claims["sub"] = .string(contact) }
    let text = WebToken.signed(
      header: JSONPayload.encode(["typ": "JWT", "alg": "ES256"]), claims: JSONPayload.encode(JSONValue.object(claims)),
      by: key)
    if tokens.count >= Self.tokenMaximum { tokens = [:] }
    tokens[audience] = (text, now + Self.tokenUseSeconds)
    return text
  }
}
