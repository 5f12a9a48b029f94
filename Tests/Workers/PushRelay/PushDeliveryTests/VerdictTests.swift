import PushDelivery
import Testing

@Suite("Verdicts")
struct VerdictTests {
  static func answer(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> PushAnswer {
    PushAnswer(status: status, retryAfter: retryAfter, body: Array(body.utf8))
  }

  static func verdict(_ answer: PushAnswer, _ platform: PushPlatform) -> PushVerdict {
    PushVerdict(answer, of: platform, unixMilliseconds: beginning)
  }

  /// The kind of a verdict, in a word.
  static func kind(_ verdict: PushVerdict) -> String {
    switch verdict {
    case .delivered: "delivered"
    case .tokenDead: "dead"
    case .tokenSuspect: "suspect"
    case .providerFault: "fault"
    case .renewCredential: "renew"
    case .retry: "retry"
    case .resend: "resend"
    case .delayToken: "delay"
    case .throttled: "throttled"
    case .messageFault: "message"
    }
  }

  static let apple: [(Int, String, String)] = [
    (400, "BadCollapseId", "message"), (400, "BadDeviceToken", "suspect"), (400, "BadExpirationDate", "message"),
    (400, "BadMessageId", "message"), (400, "BadPriority", "message"), (400, "BadTopic", "fault"),
    (400, "DeviceTokenNotForTopic", "fault"), (400, "DuplicateHeaders", "message"), (400, "IdleTimeout", "resend"),
    (400, "InvalidPushType", "message"), (400, "MissingDeviceToken", "message"), (400, "MissingTopic", "fault"),
    (400, "PayloadEmpty", "message"), (400, "TopicDisallowed", "fault"), (403, "BadCertificate", "fault"),
    (403, "BadCertificateEnvironment", "fault"), (403, "ExpiredProviderToken", "renew"), (403, "Forbidden", "fault"),
    (403, "InvalidProviderToken", "renew"), (403, "MissingProviderToken", "fault"),
    (403, "UnrelatedKeyIdInToken", "fault"), (403, "BadEnvironmentKeyIdInToken", "fault"), (404, "BadPath", "message"),
    (405, "MethodNotAllowed", "message"), (410, "ExpiredToken", "dead"), (410, "Unregistered", "dead"),
    (413, "PayloadTooLarge", "message"), (429, "TooManyProviderTokenUpdates", "fault"),
    (429, "TooManyRequests", "delay"), (500, "InternalServerError", "retry"), (503, "ServiceUnavailable", "retry"),
    (503, "Shutdown", "resend"),
    // Seen with another status than Apple's table says.
    (403, "TooManyProviderTokenUpdates", "fault"),
    // A server in trouble condemns nobody.
    (500, "Unregistered", "retry"), (503, "BadDeviceToken", "retry"),
    // Reasons nobody knows, and none.
    (400, "NewReason", "message"), (403, "NewReason", "fault"), (410, "NewReason", "suspect"),
    (429, "NewReason", "delay"), (500, "NewReason", "retry"), (302, "NewReason", "fault"),
  ]

  @Test("41: every reason of APNs has its own", arguments: apple.indices)
  func everyReason(index: Int) {
    let (status, reason, kind) = Self.apple[index]
    let verdict = Self.verdict(Self.answer(status, #"{"reason":"\#(reason)"}"#), .ios)
    #expect(Self.kind(verdict) == kind, "\(status) \(reason)")
  }

  @Test("41: there are 32 reasons, and an answer without one goes by its status")
  func empty() {
    #expect(Set(Self.apple.map(\.1)).subtracting(["NewReason"]).count == 32)
    let expected = [200: "delivered", 400: "message", 403: "fault", 410: "suspect", 429: "delay", 500: "retry"]
    for (status, kind) in expected {
      for body in ["", "{", "null", #"{"reason":7}"#, "<html>", #"{"reason":"Unregis"#] {
        #expect(Self.kind(Self.verdict(Self.answer(status, body), .ios)) == kind, "\(status) \(body)")
      }
    }
  }

  @Test("on requests without an answer are to try again", arguments: ConnectionFault.allCases)
  func connection(fault: ConnectionFault) {
    #expect(Self.kind(PushVerdict(fault)) == (fault == .notProcessed ? "resend" : "retry"))
  }

  @Test("42: a token that died before its device registered is not dead")
  func registeredSince() {
    let body = #"{"reason":"Unregistered","timestamp":1690000000500}"#
    let verdict = Self.verdict(Self.answer(410, body), .ios)
    #expect(verdict == .tokenDead(sinceMilliseconds: 1_690_000_000_500))
    #expect(verdict.isDead(device(1, registeredAt: 1_690_000_000)))
    #expect(!verdict.isDead(device(1, registeredAt: 1_690_000_001)))
    #expect(PushVerdict.tokenDead(sinceMilliseconds: nil).isDead(device(1)))
    #expect(!PushVerdict.delivered.isDead(device(1)))
  }

  static func envelope(_ status: String, _ details: String...) -> String {
    #"{"error":{"code":0,"status":"\#(status)","message":"m","details":[\#(details.joined(separator: ","))]}}"#
  }
  static func fcm(_ code: String) -> String {
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
  }
  static func badRequest(_ field: String) -> String {
    #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)"}]}"#
  }

  static let google: [(PushAnswer, String)] = [
    (answer(200, #"{"name":"projects/p/messages/1"}"#), "delivered"),
    (answer(400, envelope("INVALID_ARGUMENT", fcm("INVALID_ARGUMENT"))), "suspect"),
    (answer(400, envelope("INVALID_ARGUMENT", badRequest("message.data"))), "message"),
    (answer(400, envelope("INVALID_ARGUMENT", badRequest("message.token"), fcm("INVALID_ARGUMENT"))), "suspect"),
    (answer(400, envelope("INVALID_ARGUMENT", fcm("INVALID_ARGUMENT"), badRequest("message.android.ttl"))), "message"),
    (answer(400, envelope("INVALID_ARGUMENT")), "message"), (answer(400), "message"),
    (answer(401, envelope("UNAUTHENTICATED")), "renew"), (answer(401), "renew"),
    (answer(401, envelope("UNAUTHENTICATED", fcm("THIRD_PARTY_AUTH_ERROR"))), "fault"),
    (answer(403, envelope("PERMISSION_DENIED", fcm("SENDER_ID_MISMATCH"))), "suspect"),
    (answer(403, envelope("PERMISSION_DENIED")), "fault"),
    (answer(404, envelope("NOT_FOUND", fcm("UNREGISTERED"))), "dead"),
    (answer(404, envelope("NOT_FOUND")), "fault"), (answer(404, "<html>"), "fault"),
    (answer(404, String(envelope("NOT_FOUND", fcm("UNREGISTERED")).dropLast(3))), "fault"),
    (answer(429, envelope("RESOURCE_EXHAUSTED", fcm("QUOTA_EXCEEDED"))), "throttled"),
    (answer(500), "retry"), (answer(500, envelope("INTERNAL", fcm("INTERNAL"))), "retry"),
    (answer(502, "<!DOCTYPE html><html><title>502</title>"), "retry"),
    (answer(503, envelope("UNAVAILABLE", fcm("UNAVAILABLE")), retryAfter: "7"), "retry"),
    (answer(413), "message"), (answer(301), "fault"),
  ]

  @Test("49: FCM's answers are told apart by their details", arguments: google.indices)
  func details(index: Int) {
    let (answer, kind) = Self.google[index]
    #expect(Self.kind(Self.verdict(answer, .android)) == kind, "\(answer.status)")
  }

  @Test("49: a cut and a deep body do no harm")
  func hostile() {
    let deep = String(repeating: #"{"error":"#, count: 5_000)
    #expect(Self.kind(Self.verdict(Self.answer(404, deep), .android)) == "fault")
    let nested = String(repeating: "[", count: 4_000) + String(repeating: "]", count: 4_000)
    #expect(Self.kind(Self.verdict(Self.answer(400, #"{"error":"# + nested + "}"), .android)) == "message")
    let long = Self.answer(410, #"{"reason":"Unregistered","x":""# + String(repeating: "a", count: 10_000) + #""}"#)
    #expect(long.body.count == PushAnswer.bodyByteCountMaximum)
    #expect(Self.kind(Self.verdict(long, .ios)) == "suspect")
    guard
      case .messageFault(let reason) = Self.verdict(
        Self.answer(400, #"{"reason":"token abcdef0123"}"#), .ios)
    else { return #expect(Bool(false)) }
    #expect(reason.description == "unknown", "what is no word is not repeated")
  }

  static let web: [(Int, String)] = [
    (200, "delivered"), (201, "delivered"), (202, "delivered"), (404, "dead"), (410, "dead"), (413, "message"),
    (429, "delay"), (401, "fault"), (403, "fault"), (400, "message"), (500, "retry"), (503, "retry"), (307, "fault"),
  ]

  @Test("on Web Push go by the status", arguments: web.indices)
  func byStatus(index: Int) {
    #expect(Self.kind(Self.verdict(Self.answer(Self.web[index].0), .webPush)) == Self.web[index].1)
  }

  static let waits: [(String, UInt64?)] = [
    ("7", 7_000), ("0", 1_000), (" 120 ", 120_000), ("1000000000", 3_600_000),
    (String(repeating: "9", count: 60), 3_600_000),
    ("-5", nil), ("1.5", nil), ("soon", nil), ("", nil), ("Tue, 14 Nov 2023 22:13:50 GMT", 30_000),
    ("Tue, 14 Nov 2023 22:13:10 GMT", 1_000), ("Fri, 31 Dec 9999 23:59:59 GMT", 3_600_000),
    ("Tue, 14 Nov 2023 22:13:50", nil), ("Tue, 14 Foo 2023 22:13:50 GMT", nil), ("Tue, 14 Nov 2023 99:13:50 GMT", nil),
    ("Tue, 99 Nov 99999 22:13:50 GMT", nil),
  ]

  @Test("48: a Retry-After is seconds or a date, at most an hour", arguments: waits.indices)
  func retryAfter(index: Int) {
    let (text, milliseconds) = Self.waits[index]
    #expect(RetryAfter.milliseconds(text, unixMilliseconds: beginning) == milliseconds, "\(text)")
    #expect(
      Self.verdict(Self.answer(429, retryAfter: text), .android)
        == .throttled(afterMilliseconds: milliseconds ?? 60_000))
    #expect(
      Self.verdict(Self.answer(429, #"{"reason":"TooManyRequests"}"#, retryAfter: text), .ios)
        == .delayToken(afterMilliseconds: milliseconds ?? AppleVerdicts.tokenDelayMilliseconds))
  }

  @Test("49: Google's token endpoint gives a token, a refusal, or trouble")
  func tokenEndpoint() {
    func read(_ answer: PushAnswer) -> GoogleTokenAnswer { GoogleTokenAnswer(answer, unixMilliseconds: beginning) }
    func granted(_ rest: String) -> GoogleTokenAnswer { read(Self.answer(200, #"{"access_token":"ya29.a"\#(rest)}"#)) }
    #expect(granted(#","expires_in":3599"#) == .granted("ya29.a", expiresInSeconds: 3_599))
    #expect(granted("") == .granted("ya29.a", expiresInSeconds: nil))
    #expect(granted(#","expires_in":1e12"#) == .granted("ya29.a", expiresInSeconds: 1_000_000_000_000))
    #expect(granted(#","expires_in":1e300"#) == .granted("ya29.a", expiresInSeconds: nil))
    #expect(granted(#","expires_in":"60""#) == .granted("ya29.a", expiresInSeconds: 60))
    #expect(read(Self.answer(400, #"{"error":"invalid_grant"}"#)) == .refused("invalid_grant"))
    #expect(read(Self.answer(429, retryAfter: "9")) == .failed(afterMilliseconds: 9_000, "status-429"))
    #expect(read(Self.answer(500)) == .failed(afterMilliseconds: nil, "status-500"))
    for body in [#"{"access_tok"#, "{}", #"{"access_token":""}"#, #"{"access_token":"a\r\nb: c"}"#] {
      #expect(read(Self.answer(200, body)) == .failed(afterMilliseconds: nil, "no-token-in-answer"))
    }
  }
}
