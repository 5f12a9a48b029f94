import Addresses
import Cryptography
import Frames
import Glibc
import HTTP2Client
import TestSupport

/// Speaks to the fakes as a relay would.
final class FakeCaller {
  /// Seconds on the wall clock.
  static var now: Int64 { Int64(time(nil)) }
  /// How long nothing is given up, in milliseconds.
  static let patience: UInt64 = 900_000
  static let deviceToken = String(repeating: "ab", count: 32)

  let fakes: PushFakes
  private let loop = HTTP2Loop()
  private var senders: [PushFakes.Service: HTTP2Sender] = [:]

  init() throws { fakes = try PushFakes() }

  func sender(_ service: PushFakes.Service) throws -> HTTP2Sender {
    if let sender = senders[service] { return sender }
    var settings = HTTP2SenderSettings()
    settings.startsCautiously = service == .apns
    settings.connectSpacingMilliseconds = 0
    // Beside hundreds of other tests, on a loaded machine, a task may wait for its turn for minutes.
    settings.connectTimeoutMilliseconds = Self.patience
    let sender = try HTTP2Sender(
      origin: HTTP2Origin(host: "localhost", port: fakes.port(service)), settings: settings,
      trust: .authorities(file: fakes.authorityFile), on: loop,
      resolve: { _ in .addresses(IPAddress("127.0.0.1").map { [$0] } ?? []) })
    senders[service] = sender
    return sender
  }

  func send(_ service: PushFakes.Service, _ request: HTTP2Request) async throws -> HTTP2Answer {
    let outcome = try await sender(service).send(request)
    guard case .answered(let answer) = outcome else { throw NotAnswered(outcome: outcome) }
    return answer
  }

  struct NotAnswered: Error { let outcome: HTTP2Outcome }

  func stop() async {
    for sender in senders.values { await sender.close() }
    await loop.stop()
  }

  // MARK: APNs

  /// A provider token; `change` alters its claims.
  func providerToken(
    issued: Int64 = now, key: P256SecretKey? = nil, claims change: [String: JSONValue] = [:]
  ) throws -> String {
    let apns = fakes.apns
    guard let key = key ?? P256SecretKey(pem: apns.key) else { throw NoKey() }
    let header: JSONValue = .object(["alg": .string("ES256"), "kid": .string(apns.keyIdentifier)])
    var claims: [String: JSONValue] = ["iss": .string(apns.team), "iat": .integer(issued)]
    claims.merge(change) { $1 }
    return WebToken.signed(
      header: JSONPayload.encode(header), claims: JSONPayload.encode(JSONValue.object(claims)), by: key)
  }

  struct NoKey: Error {}

  /// A good notification, before `change`; a header with the value nil is left out.
  func notification(
    _ token: String, to device: String = deviceToken, path: String? = nil, method: String = "POST",
    body: String = #"{"aps":{"alert":"a"}}"#, _ change: [String: String?] = [:]
  ) -> HTTP2Request {
    var headers: [String: String] = [
      "authorization": "bearer " + token, "apns-topic": fakes.apns.topic, "apns-push-type": "alert",
      "apns-priority": "10", "apns-expiration": "0",
    ]
    for (name, value) in change { headers[name] = value }
    return HTTP2Request(
      method: method, path: path ?? "/3/device/" + device, headers: headers.map { HTTP2Header($0.key, $0.value) },
      body: Array(body.utf8), timeoutMilliseconds: Self.patience)
  }

  // MARK: FCM

  func assertion(_ change: [String: JSONValue] = [:], key: RSASecretKey? = nil) throws -> String {
    let account = try JSONPayload.decode(JSONValue.self, from: fakes.serviceAccount)
    guard case .string(let pem) = account["private_key"], let key = key ?? RSASecretKey(pem: pem),
      let issuer = account["client_email"], let audience = account["token_uri"]
    else { throw NoKey() }
    var claims: [String: JSONValue] = [
      "iss": issuer, "aud": audience, "scope": .string("https://www.googleapis.com/auth/firebase.messaging"),
      "iat": .integer(Self.now), "exp": .integer(Self.now + 3_600),
    ]
    claims.merge(change) { $1 }
    let header: JSONValue = .object(["alg": .string("RS256"), "typ": .string("JWT")])
    return WebToken.signed(
      header: JSONPayload.encode(header), claims: JSONPayload.encode(JSONValue.object(claims)), by: key)
  }

  func exchange(_ assertion: String) async throws -> HTTP2Answer {
    let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
    return try await send(
      .oauth,
      HTTP2Request(
        method: "POST", path: "/token", headers: [HTTP2Header("content-type", "application/x-www-form-urlencoded")],
        body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8), timeoutMilliseconds: Self.patience))
  }

  func message(_ access: String, _ body: String, project: String = "fake-project") async throws -> HTTP2Answer {
    try await send(
      .fcm,
      HTTP2Request(
        method: "POST", path: "/v1/projects/\(project)/messages:send",
        headers: [HTTP2Header("authorization", "Bearer " + access)], body: Array(body.utf8),
        timeoutMilliseconds: Self.patience))
  }

  // MARK: Web Push

  func credential(
    _ key: P256SecretKey, audience: String? = nil, end: Int64 = now + 3_600, contact: String = "mailto:a@example"
  ) -> String {
    let claims: JSONValue = .object([
      "aud": .string(audience ?? "https://localhost:\(fakes.port(.webpush))"), "exp": .integer(end),
      "sub": .string(contact),
    ])
    let header: JSONValue = .object(["alg": .string("ES256"), "typ": .string("JWT")])
    let token = WebToken.signed(header: JSONPayload.encode(header), claims: JSONPayload.encode(claims), by: key)
    return "vapid t=\(token), k=\(Base64URL.text(of: key.publicKey))"
  }
}

func json(_ answer: HTTP2Answer) throws -> JSONValue { try JSONPayload.decode(JSONValue.self, from: answer.body) }
func reason(_ answer: HTTP2Answer) throws -> JSONValue? { try json(answer)["reason"] }
