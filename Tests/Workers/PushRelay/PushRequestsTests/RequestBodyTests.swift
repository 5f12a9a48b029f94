import Clocks
public import Frames
import JSON
import PushDelivery
import PushRequests
import TestSupport
import Testing

@Suite("Request bodies") struct RequestBodyTests {
  @Test(
    "What is no JSON object, or would be read differently by two programs, is refused (case 23)",
    arguments: [
      "", "[]", "null", "1", "\"a\"", "{", "{}{}", "{} x", "{'a':1}", #"{"a":1,}"#, #"{"a":01}"#, #"{"a":1e400}"#,
      #"{"a":-}"#, #"{"a":1.}"#, #"{"a":NaN}"#, #"{"a":+1}"#, #"{"a":1,"a":1}"#, #"{"x":{"a":1,"\u0061":2}}"#,
      #"{"a":"\ud800"}"#, #"{"a":"\q"}"#, "{\"a\":\"\n\"}", "\u{FEFF}{}", "{\"a\":\"\0\"}", "{}\0", "{} // no",
      "{\"a\":" + String(repeating: "[", count: 10_000), #"{"a":tru}"#,
    ])
  func refused(text: String) {
    let refusal = Sample.refusal { _ = try Sample.body(text) }
    #expect(refusal?.code == .invalidRequest && refusal?.message.isEmpty == false)
  }

  @Test("Escapes, white space and numbers of any form are read as JSON means them (case 3)")
  func accepted() throws {
    let body = try Sample.body(
      " {\r\n\"a\\/b\":\"\\u00e9\\/\\ud83d\\ude00\",\"n\":[1,-2.5e3,90071992547409930.25,9223372036854775808,true,null]}\t\n"
    )
    #expect(body.members["a/b"] == .string("é/😀"))
    #expect(
      body.members["n"]
        == .array([
          .integer(1), .integer(-2_500), .number(90_071_992_547_409_930.25), .number(9_223_372_036_854_775_808),
          .bool(true), .null,
        ]))
  }

  @Test("Sixteen levels are read and seventeen are not, and so it is with 16 KiB (cases 23 and 24)")
  func bounds() throws {
    func nested(_ depth: Int) -> String {
      #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
    }
    _ = try Sample.body(nested(16))
    #expect(Sample.refusal { _ = try Sample.body(nested(17)) }?.message.contains("16 levels") == true)
    let blanks = String(repeating: " ", count: RequestBody.byteCountMaximum - 2)
    _ = try Sample.body("{}" + blanks)
    #expect(Sample.refusal { _ = try Sample.body("{}" + blanks + " ") }?.status == 413)
    #expect(Sample.refusal { _ = try RequestBody([0x7B, 0xFF, 0x7D]) }?.message == "the body is not UTF-8")
  }

  @Test("What the house's decoder refuses is refused here, and what both take is the same", arguments: seeds(10))
  func oracle(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let pieces = [
      "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"\\u0061\"", "\"\\/\"", "1", "-0.5", "1e5", "01", "true",
      "null",
      " ", "\"é\"", "\\", "\"", "x", "\"\\ud83d\\ude00\"", "9007199254740993", "1e999",
    ]
    func value(_ depth: Int) -> String {
      switch Int.random(in: 0..<(depth > 3 ? 4 : 6), using: &generator) {
      case 0: "\"\(["é\\n", "", "\\u0041", "\\/"].randomElement(using: &generator) ?? "")\""
      case 1: "\(Int64.random(in: .min ... .max, using: &generator))"
      case 2: ["true", "false", "null", "0.25", "-1e3"].randomElement(using: &generator) ?? "0"
      case 3: "\"plain\""
      case 4: "[" + (0..<2).map { _ in value(depth + 1) }.joined(separator: ", ") + "]"
      default: "{" + ["k", "l"].map { "\"\($0)\":\(value(depth + 1))" }.joined(separator: ",") + "}"
      }
    }
    for _ in 0..<200 {
      var text = "{\"m\":\(value(1))}"
      if Bool.random(using: &generator), let piece = pieces.randomElement(using: &generator) {
        let place = text.utf8.index(text.startIndex, offsetBy: Int.random(in: 0...text.count, using: &generator))
        if let place = place.samePosition(in: text) { text.insert(contentsOf: piece, at: place) }
      }
      let bytes = Array(text.utf8)
      guard let read = try? RequestBody(bytes) else { continue }
      #expect(JSONFlaw.first(in: bytes) == nil, "\(text)")
      #expect(
        (try? JSONPayload.decode([String: JSONValue].self, from: bytes))?.mapValues(plain)
          == read.members.mapValues(plain), "\(text)")
    }
  }

  /// Whole numbers that only one of two readers takes for whole are the same number.
  private func plain(_ value: JSONValue) -> JSONValue {
    switch value {
    case .integer(let number): .number(Double(number))
    case .array(let values): .array(values.map(plain))
    case .object(let members): .object(members.mapValues(plain))
    default: value
    }
  }

  @Test("A body that was announced and did not come is told as that")
  func dropped() throws {
    #expect(Sample.refusal { try RequestBody.checkArrival(announcedByteCount: 20, received: []) }?.code == .bodyDropped)
    try RequestBody.checkArrival(announcedByteCount: 0, received: [])
    try RequestBody.checkArrival(announcedByteCount: nil, received: [])
    try RequestBody.checkArrival(announcedByteCount: 2, received: [0x7B, 0x7D])
  }
}

@Suite("Refusals and replies") struct ReplyTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("A wait is the same whole number in the head and in the body, and at least 1 (case 30)")
  func wait() throws {
    for (given, told) in [(-5, 1), (0, 1), (1, 1), (60, 60), (.max, 86_400)] {
      let refusal = PushRefusal.rateLimited(retryAfterSeconds: given)
      #expect(refusal.fields == [HeaderField("Retry-After", "\(told)")] && refusal.status == 429)
      #expect(try Sample.body(text(refusal.body)).members["retry_after"] == .integer(Int64(told)))
    }
    #expect(PushRefusal.rateLimited(retryAfterSeconds: 2).message == "too many requests: try again in 2 seconds")
    let named = PushRefusal.rateLimited("wakes by your key", retryAfterSeconds: 1)
    #expect(named.message == "too many wakes by your key: try again in 1 second")
  }

  @Test("A refusal is an object with its word and a sentence, whatever is in the sentence")
  func body() throws {
    let refusal = PushRefusal(.expiredTimestamp, "a \"quoted\"\n\\ sentence é", serverTime: 7)
    let members = try Sample.body(text(refusal.body)).members
    #expect(members == ["error": "expired_timestamp", "message": .string(refusal.message), "server_time": 7])
    #expect(refusal.fields == [HeaderField("WWW-Authenticate", "Pubky")])
  }

  @Test("The words of the service have the statuses of the service")
  func statuses() {
    let pinned: [PushRefusal.Code: Int] = [
      .invalidSignature: 401, .expiredTimestamp: 401, .rateLimited: 429, .recipientNotFound: 404, .invalidToken: 400,
      .nonceReused: 409, .unavailable: 503, .payloadTooLarge: 413, .methodNotAllowed: 405,
    ]
    for (code, status) in pinned { #expect(code.status == status, "\(code)") }
    #expect(PushRefusal.recipientNotFound.code.rawValue == "recipient_not_found")
    #expect(PushRefusal.unavailable(retryAfterSeconds: 5).retryAfterSeconds == 5)
  }

  @Test("Replies have the form that phones in the field read (case 8)")
  func replies() throws {
    #expect(text(PushReply.unregistered) == #"{"status":"unregistered"}"#)
    #expect(
      text(PushReply.registered(relayID: "ab", expiresAt: 1_762_592_000))
        == #"{"expires_at":1762592000,"relay_id":"ab","status":"registered"}"#)
    #expect(try Sample.body(text(PushReply.challenged(relayID: "ab", expiresAt: 1))).members.count == 4)
    let id = [UInt8](repeating: 0xAB, count: 16)
    #expect(text(PushReply.queued(wakeID: id)) == #"{"status":"queued","wake_id":"abababababababababababababababab"}"#)
    #expect(text(PushReply.state(.unknown)) == #"{"status":"unknown"}"#)
    #expect(
      text(PushReply.ready(isReady: true, platforms: [.ios: "off"])) == #"{"platforms":{"ios":"off"},"status":"ok"}"#)
    let info = PushRelayInfo(
      software: "push-relay", rules: SignatureRules(audiences: ["push.example"]), platforms: [.ios, .webPush],
      disclosure: .contacts, registrationSeconds: 2_592_000, wakeSeconds: 60,
      limits: .init(senderPerMinute: 10, senderPerHour: 100, recipientPerHour: 100), serverTime: 5)
    let members = try Sample.body(text(PushReply.info(info))).members
    #expect(members["signature_v1"] == "accept" && members["audiences"] == .array(["push.example"]))
    #expect(members["platforms"] == .array(["ios", "webpush"]) && members["server_time"] == .integer(5))
  }

  @Test("A book of contacts comes back as it was put")
  func contacts() throws {
    let book = ContactRules(
      allowed: [Sample.owner(Sample.bob), Sample.owner(Sample.alice)], blocked: [Sample.owner(Sample.mallory)],
      policy: .contacts)
    #expect(try ContactRules(RequestBody(PushReply.contacts(book))) == book)
    // Whoever blocks somebody says nothing of the others.
    #expect(try ContactRules(Sample.body(#"{"block":[]}"#)).policy == nil)
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
}
