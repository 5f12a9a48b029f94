internal import JSON
internal import Nostr

/// Why a request fails: a stable word, its HTTP status, and a sentence that says what to do.
///
/// On the wire `{"error":"rate_limited","message":"…","retry_after":60}`. Phones in the field read only the status and
/// the `Retry-After` field, and show the rest to a person, so the sentence is written for a person, and field and body
/// come from one number.
public struct PushRefusal: Error, Hashable, Sendable {
  /// The words, as programs compare them.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The signer is unproved: a header is missing or malformed, or the signature is not the message's.
    case invalidSignature = "invalid_signature"
    /// This relay does not allow this key to do that.
    case notAllowed = "not_allowed"
    /// The timestamp is outside the window.
    case expiredTimestamp = "expired_timestamp"
    /// Too many requests; `retry_after` says when the next one is accepted.
    case rateLimited = "rate_limited"
    /// The recipient has no device. Only senders that may know receive this.
    case recipientNotFound = "recipient_not_found"
    /// The push token does not have its platform's form.
    case invalidToken = "invalid_token"
    /// The code is not the one that was pushed to the device, or it has expired.
    case wrongChallenge = "wrong_challenge"
    /// The body or a field of it is invalid.
    case invalidRequest = "invalid_request"
    /// The wake's payload is not base64, or is larger than a platform accepts.
    case invalidPayload = "invalid_payload"
    /// The wake's ticket is malformed, forged, expired, or another sender's.
    case invalidTicket = "invalid_ticket"
    /// The body is larger than the route accepts.
    case payloadTooLarge = "payload_too_large"
    /// The nonce was used by the same sender for another request.
    case nonceReused = "nonce_reused"
    /// The path exists, but not with this method.
    case methodNotAllowed = "method_not_allowed"
    /// There is no such path.
    case notFound = "not_found"
    /// A body was announced and none arrived: a program on the way drops it.
    case bodyDropped = "body_dropped"
    /// The request is older than what is already stored.
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
  /// After how many seconds another attempt makes sense; at least 1. Nil if it never helps.
  public let retryAfterSeconds: Int?
  /// The relay's clock, Unix seconds: set if the sender's clock is the likely cause.
  public let serverTime: Int64?
  /// The methods that the route has, with ``Code/methodNotAllowed``.
  public let allow: [String]

  /// The longest wait in an answer: a day.
  public static let retryAfterSecondsMaximum = 86_400

  /// A refusal. A wait below 1 second becomes 1, one beyond ``retryAfterSecondsMaximum`` becomes that.
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

  /// The header fields that it adds to those of any reply: `Retry-After`, `Allow`, `WWW-Authenticate`.
  public var fields: [HeaderField] {
    var fields: [HeaderField] = []
    if let retryAfterSeconds { fields.append(HeaderField("Retry-After", String(retryAfterSeconds))) }
    if !allow.isEmpty { fields.append(HeaderField("Allow", allow.joined(separator: ", "))) }
    // RFC 9110, 11.6.1: an answer 401 names a scheme.
    if status == 401 { fields.append(HeaderField("WWW-Authenticate", "Pubky")) }
    return fields
  }

  /// The body: `{"error":"…","message":"…"}`, with `retry_after` and `server_time` if they are set.
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
  ///   - things: what there are too many of, as the end of "too many". A client that must wait should learn whether its
  ///     own requests or others from its address caused it.
  ///   - retryAfterSeconds: how long to wait; the answer has at most ``retryAfterSecondsMaximum``.
  public static func rateLimited(_ things: String = "requests", retryAfterSeconds: Int) -> PushRefusal {
    let seconds = min(max(retryAfterSeconds, 1), retryAfterSecondsMaximum)
    return PushRefusal(
      .rateLimited, "too many \(things): try again in \(seconds) \(seconds == 1 ? "second" : "seconds")",
      retryAfterSeconds: seconds)
  }

  /// The recipient has no device.
  public static let recipientNotFound = PushRefusal(
    .recipientNotFound, "the recipient has no device registered here for this type of wake: reach them another way")

  /// The relay cannot work now, for a reason of its own.
  public static func unavailable(retryAfterSeconds: Int) -> PushRefusal {
    PushRefusal(
      .unavailable, "the relay cannot take requests now: try again later", retryAfterSeconds: retryAfterSeconds)
  }

  /// A field of the body is invalid.
  static func invalid(_ message: String) -> PushRefusal { PushRefusal(.invalidRequest, message) }
}
