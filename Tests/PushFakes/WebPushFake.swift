// A push service of RFC 8030 with VAPID (RFC 8292), and at the same time the browser behind it: it opens what it is
// sent (RFC 8291) and keeps the plaintext for the journal.
import Cryptography
import Frames

struct WebPushFake {
  /// What a browser gives to who may push to it.
  struct Subscription {
    let key = P256SecretKey.generate()
    let authentication: [UInt8]
  }

  static let bodyByteCountMaximum = 4_096
  static let subscriptionCount = 16
  /// Seconds that a VAPID token may be good for.
  static let tokenLifeMaximum: Int64 = 86_400

  /// The origins that it is called by.
  let audiences: Set<String>
  private(set) var subscriptions: [String: Subscription] = [:]

  init(audiences: Set<String>) {
    self.audiences = audiences
    for number in 1...Self.subscriptionCount {
      let name = "browser-\(number)"
      subscriptions[name] = Subscription(authentication: (0..<16).map { _ in UInt8.random(in: 0...255) })
    }
  }

  /// The name of the subscription in a path.
  static func subscription(_ path: String) -> String? {
    path.hasPrefix("/push/") ? String(path.dropFirst(6)) : nil
  }

  func reply(to arrival: Arrival) -> Reply {
    guard let name = Self.subscription(arrival.path), let subscription = subscriptions[name] else {
      return Reply(404, reason: "no such subscription")
    }
    guard arrival.method == "POST" else { return Reply(405, reason: "not a POST") }
    if let fault = credentialFault(arrival) { return Reply(fault.0, reason: fault.1) }
    if let fault = Self.headerFault(arrival) { return Reply(400, reason: fault) }
    guard arrival.body.count <= Self.bodyByteCountMaximum else { return Reply(413, reason: "the body is too large") }
    var reply = Reply(201)
    reply.headers = [("location", "/message/\(arrival.connection)-\(arrival.stream)")]
    guard !arrival.body.isEmpty else { return reply }
    guard arrival.value("content-encoding") == "aes128gcm" else {
      return Reply(415, reason: "the content encoding is not aes128gcm")
    }
    reply.plaintext = WebPushEncryption.opened(
      arrival.body, by: subscription.key, authentication: subscription.authentication)
    // A push service cannot open it; the browser would drop it, and a test wants to know.
    return reply.plaintext == nil ? Reply(400, reason: "the message cannot be opened") : reply
  }

  private static func headerFault(_ arrival: Arrival) -> String? {
    guard let life = arrival.value("ttl"), let seconds = Int64(life), seconds >= 0 else { return "no TTL" }
    if let urgency = arrival.value("urgency"), !["very-low", "low", "normal", "high"].contains(urgency) {
      return "the urgency is none"
    }
    if let topic = arrival.value("topic") {
      let isTopic =
        topic.utf8.count <= 32 && topic.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
      if !isTopic { return "the topic is none" }
    }
    return nil
  }

  private func credentialFault(_ arrival: Arrival) -> (Int, String)? {
    guard let text = arrival.value("authorization") else { return (401, "no VAPID token") }
    guard text.lowercased().hasPrefix("vapid ") else { return (401, "not VAPID") }
    var parameters: [String: String] = [:]
    for part in text.dropFirst(6).split(separator: ",") {
      let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      if pair.count == 2 { parameters[String(pair[0])] = String(pair[1]) }
    }
    guard let token = CompactToken(parameters["t"] ?? ""), let key = Base64URL.bytes(parameters["k"] ?? ""),
      token.header["alg"]?.text == "ES256", P256.isValid(token.signature, of: token.message, by: key)
    else { return (403, "the VAPID token is not signed by its key") }
    guard let audience = token.claims["aud"]?.text, audiences.contains(audience) else {
      return (403, "the VAPID token is for another audience")
    }
    let now = arrival.milliseconds / 1_000
    guard let end = token.claims["exp"]?.whole, end > now, end <= now + Self.tokenLifeMaximum else {
      return (403, "the VAPID token has ended, or ends too late")
    }
    let contact = token.claims["sub"]?.text ?? "mailto:nobody"
    guard contact.hasPrefix("mailto:") || contact.hasPrefix("https:") else { return (403, "the contact is none") }
    return nil
  }
}
