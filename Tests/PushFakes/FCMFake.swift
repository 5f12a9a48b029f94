// FCM's HTTP v1 interface and the token endpoint before it, as Google describes them: “messages.send”, “ErrorCode” and
// “Using OAuth 2.0 for server to server applications”.
import Cryptography
import Frames

struct FCMFake {
  static let project = "fake-project"
  static let clientEmail = "push@fake-project.example"
  static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  static let dataByteCountMaximum = 4_096
  /// Seconds of the longest life of a message.
  static let lifetimeMaximum = 2_419_200.0
  let publicKey: [UInt8]
  let tokenURL: String
  /// Seconds that the access tokens given from now on are good for.
  var accessSeconds: Int64 = 3_599
  /// Access tokens and when they end, in milliseconds.
  private var access: [String: Int64] = [:]
  private(set) var exchangeCount = 0
  private var lastMessage = 0

  init(publicKey: [UInt8], tokenURL: String) {
    self.publicKey = publicKey
    self.tokenURL = tokenURL
  }

  /// Makes all access tokens invalid.
  mutating func revoke() { access = [:] }

  // MARK: The token endpoint

  mutating func token(for arrival: Arrival) -> Reply {
    guard arrival.method == "POST", arrival.path == "/token" else { return Reply(404, reason: "no such path") }
    let type = arrival.value("content-type") ?? ""
    guard type.hasPrefix("application/x-www-form-urlencoded") else { return Self.invalid("invalid_request", "no form") }
    let form = Self.form(arrival.body)
    guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
      return Self.invalid("unsupported_grant_type", "Invalid grant_type")
    }
    let now = arrival.milliseconds / 1_000
    if let fault = assertionFault(form["assertion"] ?? "", now: now) { return Self.invalid("invalid_grant", fault) }
    exchangeCount += 1
    let token = "ya29.fake-\(exchangeCount)"
    access[token] = arrival.milliseconds + accessSeconds * 1_000
    return Reply(
      200,
      .object([
        "access_token": .string(token), "expires_in": .integer(accessSeconds), "token_type": .string("Bearer"),
      ]))
  }

  private func assertionFault(_ text: String, now: Int64) -> String? {
    guard let token = CompactToken(text), token.header["alg"]?.text == "RS256" else { return "Invalid JWT" }
    guard token.claims["iss"]?.text == Self.clientEmail else { return "Invalid issuer" }
    guard token.claims["aud"]?.text == tokenURL else { return "Invalid audience" }
    guard token.claims["scope"]?.text?.split(separator: " ").contains(Self.scope[...]) == true else {
      return "Invalid scope"
    }
    guard let issued = token.claims["iat"]?.whole, let end = token.claims["exp"]?.whole else { return "No iat or exp" }
    guard issued <= now + 5, end > now, end - issued <= 3_600 else {
      return "Token must be a short-lived token (60 minutes) and in a reasonable timeframe"
    }
    return RSA.isValid(token.signature, of: token.message, by: publicKey) ? nil : "Invalid JWT Signature."
  }

  private static func invalid(_ error: String, _ description: String) -> Reply {
    Reply(400, .object(["error": .string(error), "error_description": .string(description)]), reason: description)
  }

  private static func form(_ body: [UInt8]) -> [String: String] {
    body.split(separator: UInt8(ascii: "&")).reduce(into: [:]) { form, pair in
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { form[decoded(parts[0])] = decoded(parts[1]) }
    }
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
    var text: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), let value = UInt8(digits, radix: 16) {
        text.append(value)
        rest = rest.dropFirst(2)
      } else {
        text.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: Sending

  mutating func reply(to arrival: Arrival) -> Reply {
    guard arrival.path.hasPrefix("/v1/projects/"), arrival.path.hasSuffix("/messages:send"), arrival.method == "POST"
    else { return Reply(404, reason: "no such path") }
    let credential = arrival.value("authorization") ?? ""
    guard credential.hasPrefix("Bearer "), let end = access[String(credential.dropFirst(7))], end > arrival.milliseconds
    else { return Self.refusal(401, "UNAUTHENTICATED") }
    // A project that is not there looks like a token that is not, but for the detail.
    guard arrival.path == "/v1/projects/\(Self.project)/messages:send" else { return Self.refusal(404, "NOT_FOUND") }
    guard let message = JSONValue(json: arrival.body)?["message"]?.members else { return Self.badRequest("message") }
    guard let token = message["token"]?.text, !token.isEmpty else { return Self.badRequest("message.token") }
    if let fault = Self.dataFault(message["data"]) ?? Self.androidFault(message["android"]) {
      return Self.badRequest(fault)
    }
    lastMessage += 1
    return Reply(200, .object(["name": .string("projects/\(Self.project)/messages/0:\(lastMessage)")]))
  }

  /// The registration token that a message is for.
  static func deviceToken(_ body: [UInt8]) -> String? { JSONValue(json: body)?["message"]?["token"]?.text }

  private static func dataFault(_ data: JSONValue?) -> String? {
    guard let data else { return nil }
    guard let members = data.members else { return "message.data" }
    var byteCount = 0
    for (key, value) in members {
      guard let text = value.text else { return "message.data[\(key)]" }
      let isReserved = ["from", "message_type", "collapse_key"].contains(key)
      if isReserved || key.hasPrefix("google") || key.hasPrefix("gcm") { return "message.data[\(key)]" }
      byteCount += key.utf8.count + text.utf8.count
    }
    return byteCount <= dataByteCountMaximum ? nil : "message.data"
  }

  private static func androidFault(_ android: JSONValue?) -> String? {
    guard let android else { return nil }
    if let priority = android["priority"], !["HIGH", "NORMAL"].contains(priority.text) {
      return "message.android.priority"
    }
    guard let life = android["ttl"] else { return nil }
    guard let text = life.text, text.hasSuffix("s"), let seconds = Double(text.dropLast()),
      (0...lifetimeMaximum).contains(seconds)
    else { return "message.android.ttl" }
    return nil
  }

  private static func badRequest(_ field: String) -> Reply {
    let violation: JSONValue = .object([
      "field": .string(field), "description": .string("Invalid value at '\(field)'"),
    ])
    let detail: JSONValue = .object([
      "@type": .string("type.googleapis.com/google.rpc.BadRequest"), "fieldViolations": .array([violation]),
    ])
    return envelope(400, "INVALID_ARGUMENT", [detail], reason: field)
  }

  /// A refusal with FCM's own error code in the details, if there is one.
  static func refusal(_ status: Int, _ name: String, errorCode: String? = nil) -> Reply {
    let details = errorCode.map { code -> [JSONValue] in
      [
        .object([
          "@type": .string("type.googleapis.com/google.firebase.fcm.v1.FcmError"), "errorCode": .string(code),
        ])
      ]
    }
    return envelope(status, name, details ?? [], reason: errorCode ?? name)
  }

  private static func envelope(_ status: Int, _ name: String, _ details: [JSONValue], reason: String) -> Reply {
    var error: [String: JSONValue] = [
      "code": .integer(Int64(status)), "message": .string("The request was refused: \(reason)"),
      "status": .string(name),
    ]
    if !details.isEmpty { error["details"] = .array(details) }
    return Reply(status, .object(["error": .object(error)]), reason: reason)
  }
}
