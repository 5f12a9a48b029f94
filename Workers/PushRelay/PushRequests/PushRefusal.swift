internal import JSON
internal import Nostr

/// Why a request is answered with something else than success: a stable word, its HTTP status, and a sentence that says
/// what to do.
///
/// On the wire `{"error":"rate_limited","message":"…","retry_after":60}`. Phones in the field look at the status and at
/// the `Retry-After` field only and show the rest to a person, so the sentence is written for one, and field and body
/// are made of one number.
public struct PushRefusal: Error, Hashable, Sendable {
  /// The words, as programs compare them.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// Who signs is not shown: a header is missing or malformed, or the signature is not the message's.
    case invalidSignature = "invalid_signature"
    /// The key may not have this here.
    case notAllowed = "not_allowed"
    /// The timestamp is outside the window.
    case expiredTimestamp = "expired_timestamp"
    /// Too many requests; `retry_after` says when one will pass.
    case rateLimited = "rate_limited"
    /// The recipient has no device. Told to those only who may know.
    case recipientNotFound = "recipient_not_found"
    /// The push token has not its platform's form.
    case invalidToken = "invalid_token"
    /// The code is not the one that was pushed to the device, or its time is over.
    case wrongChallenge = "wrong_challenge"
    /// The body or a field of it makes no sense.
    case invalidRequest = "invalid_request"
    /// The wake's payload is no base64, or larger than a platform takes.
    case invalidPayload = "invalid_payload"
    /// The wake's ticket is malformed, forged, expired, or somebody else's.
    case invalidTicket = "invalid_ticket"
    /// The body is larger than the route takes.
    case payloadTooLarge = "payload_too_large"
    /// The nonce was used by the same sender for another request.
    case nonceReused = "nonce_reused"
    /// The route is there, the method is not.
    case methodNotAllowed = "method_not_allowed"
    /// No such route.
    case notFound = "not_found"
    /// A body was announced and none came: something on the way drops it.
    case bodyDropped = "body_dropped"
    /// The request is older than what is kept already.
    case staleRequest = "stale_request"
    /// The relay cannot work now.
    case unavailable

    /// The HTTP status.
    public var status: Int {
      switch self {
      case .invalidRequest, .invalidToken, .invalidPayload, .invalidTicket, .bodyDropped, .wrongChallenge: 400
      case .invalidSignature, .expiredTimestamp: 401
      case .notAllowed: 403
      case .recipientNotFound, .notFound: 404
      case .methodNotAllowed: 405
      case .nonceReused, .staleRequest: 409
      case .payloadTooLarge: 413
      case .rateLimited: 429
      case .unavailable: 503
      }
    }
  }

  /// The word.
  public let code: Code
  /// What happened and what to do.
  public let message: String
  /// After how many seconds asking again makes sense; at least 1. Nil when asking again never helps.
  public let retryAfterSeconds: Int?
  /// The relay's clock, Unix seconds: where the sender's is the likely fault.
  public let serverTime: Int64?
  /// The methods that the route has, with ``Code/methodNotAllowed``.
  public let allow: [String]

  /// Longest wait that is told to anybody: a day.
  public static let retryAfterSecondsMaximum = 86_400

  /// A refusal. A wait below 1 second is told as 1, one beyond ``retryAfterSecondsMaximum`` as that.
  public init(
    _ code: Code, _ message: String, retryAfterSeconds: Int? = nil, serverTime: Int64? = nil, allow: [String] = []
  ) {
    self.code = code
    self.message = message
    self.retryAfterSeconds = retryAfterSeconds.map { min(max($0, 1), Self.retryAfterSecondsMaximum) }
    self.serverTime = serverTime
    self.allow = allow
  }

  /// The HTTP status.
  public var status: Int { code.status }

  /// The header fields that belong to it, beside those of any reply: `Retry-After`, `Allow`, `WWW-Authenticate`.
  public var fields: [HeaderField] {
    var fields: [HeaderField] = []
    if let retryAfterSeconds { fields.append(HeaderField("Retry-After", String(retryAfterSeconds))) }
    if !allow.isEmpty { fields.append(HeaderField("Allow", allow.joined(separator: ", "))) }
    // RFC 9110, 11.6.1: who answers 401 names a scheme.
    if status == 401 { fields.append(HeaderField("WWW-Authenticate", "Pubky")) }
    return fields
  }

  /// The body: `{"error":"…","message":"…"}`, with `retry_after` and `server_time` where there are any.
  public var body: [UInt8] {
    var json = Array(#"{"error":"\#(code.rawValue)","message":"#.utf8)
    JSONString.append(message, to: &json)
    if let retryAfterSeconds { json += Array(#","retry_after":\#(retryAfterSeconds)"#.utf8) }
    if let serverTime { json += Array(#","server_time":\#(serverTime)"#.utf8) }
    return json + [UInt8(ascii: "}")]
  }
}

extension PushRefusal {
  /// Too many requests.
  ///
  /// - Parameters:
  ///   - things: what there are too many of, as the end of "too many": whoever must wait should learn whether it is for
  ///     what he does himself or for what others do behind his address.
  ///   - retryAfterSeconds: how long to wait; as much as there is room for is told.
  public static func rateLimited(_ things: String = "requests", retryAfterSeconds: Int) -> PushRefusal {
    let seconds = min(max(retryAfterSeconds, 1), retryAfterSecondsMaximum)
    return PushRefusal(
      .rateLimited, "too many \(things): try again in \(seconds) \(seconds == 1 ? "second" : "seconds")",
      retryAfterSeconds: seconds)
  }

  /// The recipient has no device.
  public static let recipientNotFound = PushRefusal(
    .recipientNotFound, "the recipient has no device registered here for this type of wake: reach them another way")

  /// The relay cannot work now, for whatever reason of its own.
  public static func unavailable(retryAfterSeconds: Int) -> PushRefusal {
    PushRefusal(
      .unavailable, "the relay cannot take requests now: try again later", retryAfterSeconds: retryAfterSeconds)
  }

  /// A field of the body makes no sense.
  static func invalid(_ message: String) -> PushRefusal { PushRefusal(.invalidRequest, message) }
}
