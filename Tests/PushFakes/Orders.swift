import Frames

/// How a service behaves towards whole requests and new connections.
struct Mood {
  enum Kind: String {
    /// Answers.
    case normal
    /// New connections are taken and never heard of again, requests never answered.
    case blackHole = "black-hole"
    /// Requests are kept until they are released, and looked at then.
    case hold
    /// Streams are refused (REFUSED_STREAM); over HTTP/1.1 the connection is closed.
    case refuse
    /// Streams are reset (INTERNAL_ERROR); over HTTP/1.1 the connection is closed.
    case reset
    /// The connection says goodbye; see `left`.
    case goaway
    /// Answers come a byte at a time.
    case slowBody = "slow-body"
    /// Connections are reset (RST of TCP) as soon as they stand; those that stand already end.
    case cut
    /// The same, with one half of each connection closed.
    case halfClosed = "half-closed"
    /// The same, with bytes that are no TLS.
    case garbage

    /// Whether it is for connections, and not for requests.
    var isOfConnections: Bool { self == .cut || self == .halfClosed || self == .garbage }
  }

  var kind: Kind = .normal
  /// Requests that it holds for yet; nil: all.
  var remaining: Int?
  /// With `goaway`: how many of the newest streams, the one at hand among them, are left behind.
  var left = 0
  /// With `goaway`: the reason in its JSON.
  var reason = "Shutdown"
  /// With `slow-body`: between two bytes.
  var delayMilliseconds: Int64 = 10
}

/// An answer that was ordered for one receiver.
struct OrderedAnswer {
  var status: Int
  var reason: String?
  var errorCode: String?
  var timestamp: Int64?
  var delayMilliseconds: Int64
  var headers: [(String, String)]
  /// The body as it is, instead of the service's own.
  var body: String?

  /// Reads `{"status":410,"reason":"Unregistered","timestamp":1,"delayMilliseconds":5,"headers":{…},"body":"…"}`.
  init?(_ json: JSONValue) {
    guard let status = json["status"]?.whole, (200...599).contains(status) else { return nil }
    self.status = Int(status)
    reason = json["reason"]?.text
    errorCode = json["errorCode"]?.text
    timestamp = json["timestamp"]?.whole
    delayMilliseconds = json["delayMilliseconds"]?.whole ?? 0
    headers = (json["headers"]?.members ?? [:]).compactMap { name, value in value.text.map { (name, $0) } }
    body = json["body"]?.text
  }

  /// In the service's words. A 200 is the service's own, later.
  func reply(of service: Service, own: Reply) -> Reply {
    var reply: Reply
    if (200...299).contains(status), body == nil {
      reply = own
    } else {
      switch service {
      case .apns:
        let identifier = own.headers.first { $0.0 == "apns-id" }?.1 ?? ""
        reply = APNsFake.refusal(status, reason ?? "InternalServerError", identifier: identifier, timestamp: timestamp)
      case .fcm: reply = FCMFake.refusal(status, reason ?? "INTERNAL", errorCode: errorCode)
      case .oauth:
        reply = Reply(status, .object(["error": .string(reason ?? "internal_failure")]), reason: reason ?? "")
      case .webpush: reply = Reply(status, reason: reason ?? "")
      }
    }
    if let body { reply.body = Array(body.utf8) }
    if body != nil { reply.headers.removeAll { $0.0 == "content-type" } }
    reply.status = status
    reply.headers += headers
    reply.delayMilliseconds = delayMilliseconds
    return reply
  }
}
