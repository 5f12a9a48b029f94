import Cryptography
import Frames
import HTTP2Client
import TestSupport
import Testing

@Suite("The fake of APNs")
struct APNsFakeTests {
  @Test("takes a good notification, and keeps it in the journal")
  func takesGoodNotification() async throws {
    let caller = try FakeCaller()
    let token = try caller.providerToken()
    let identifier = "12345678-90ab-cdef-1234-567890abcdef"
    let answer = try await caller.send(.apns, caller.notification(token, ["apns-id": identifier]))
    #expect(answer.status == 200 && answer.header("apns-id") == identifier && answer.body.isEmpty)
    for _ in 0..<20 { #expect(try await caller.send(.apns, caller.notification(token)).status == 200) }
    let journal = try caller.fakes.requests(to: .apns)
    #expect(journal.count == 21)
    #expect(journal.first?["payload"] == .string(#"{"aps":{"alert":"a"}}"#))
    #expect(journal.first?["headers"]?["apns-id"] == .string(identifier))
    #expect(journal.first?["receiver"] == .string(FakeCaller.deviceToken))
    let counters = try caller.fakes.counters()
    #expect(counters["handshakes"]?["apns"] == .integer(1) && counters["providerTokens"] == .integer(1))
    await caller.stop()
  }

  @Test("refuses each fault of a notification with APNs's status and reason")
  func refusesFaults() async throws {
    let caller = try FakeCaller()
    let token = try caller.providerToken()
    let long = String(repeating: "a", count: 65)
    let faults: [(HTTP2Request, Int, String)] = [
      (caller.notification(token, path: "/4/device/a"), 404, "BadPath"),
      (caller.notification(token, path: "/3/device/"), 400, "MissingDeviceToken"),
      (caller.notification(token, method: "GET"), 405, "MethodNotAllowed"),
      (caller.notification(token, to: "ab"), 400, "BadDeviceToken"),
      (caller.notification(token, to: String(repeating: "xy", count: 32)), 400, "BadDeviceToken"),
      (caller.notification(token, to: String(repeating: "ab", count: 101)), 400, "BadDeviceToken"),
      (caller.notification(token, ["authorization": nil]), 403, "MissingProviderToken"),
      (caller.notification(token, ["authorization": "bearer x"]), 403, "InvalidProviderToken"),
      (caller.notification(token, ["apns-topic": nil]), 400, "MissingTopic"),
      (caller.notification(token, ["apns-topic": "other.app"]), 400, "TopicDisallowed"),
      (caller.notification(token, ["apns-push-type": "voip"]), 400, "BadTopic"),
      (caller.notification(token, ["apns-push-type": nil]), 400, "InvalidPushType"),
      (caller.notification(token, ["apns-push-type": "shout"]), 400, "InvalidPushType"),
      (caller.notification(token, ["apns-push-type": "background"]), 400, "BadPriority"),
      (caller.notification(token, ["apns-priority": "7"]), 400, "BadPriority"),
      (caller.notification(token, ["apns-expiration": "soon"]), 400, "BadExpirationDate"),
      (caller.notification(token, ["apns-id": "7"]), 400, "BadMessageId"),
      (caller.notification(token, ["apns-collapse-id": long]), 400, "BadCollapseId"),
      (caller.notification(token, body: ""), 400, "PayloadEmpty"),
      (caller.notification(token, body: String(repeating: "a", count: 4_097)), 413, "PayloadTooLarge"),
    ]
    for (request, status, expected) in faults {
      let answer = try await caller.send(.apns, request)
      #expect(answer.status == status)
      #expect(try reason(answer) == .string(expected))
    }
    var twice = caller.notification(token)
    twice.headers.append(HTTP2Header("apns-priority", "5"))
    #expect(try reason(await caller.send(.apns, twice)) == .string("DuplicateHeaders"))
    await caller.stop()
  }

  @Test("verifies provider tokens: key, team, type, age")
  func verifiesProviderTokens() async throws {
    let caller = try FakeCaller()
    let now = FakeCaller.now
    let tokens: [(String, String)] = [
      (try caller.providerToken(key: .generate()), "InvalidProviderToken"),
      (try caller.providerToken(claims: ["iss": .string("OTHER")]), "InvalidProviderToken"),
      (try caller.providerToken(claims: ["iat": .string("\(now)")]), "InvalidProviderToken"),
      (try caller.providerToken(issued: now + 600), "InvalidProviderToken"),
      (try caller.providerToken(issued: now - 3_700), "ExpiredProviderToken"),
    ]
    for (token, expected) in tokens {
      let answer = try await caller.send(.apns, caller.notification(token))
      #expect(answer.status == 403)
      #expect(try reason(answer) == .string(expected))
    }
    await caller.stop()
  }

  @Test("takes a second provider token on a connection after 20 minutes only, and none after an hour")
  func limitsProviderTokens() async throws {
    let caller = try FakeCaller()
    let first = try caller.providerToken()
    #expect(try await caller.send(.apns, caller.notification(first)).status == 200)
    let second = try caller.providerToken(issued: FakeCaller.now - 1)
    let answer = try await caller.send(.apns, caller.notification(second))
    #expect(answer.status == 429)
    #expect(try reason(answer) == .string("TooManyProviderTokenUpdates"))
    try caller.fakes.advanceClock(milliseconds: 1_201_000)
    #expect(try await caller.send(.apns, caller.notification(second)).status == 200)
    try caller.fakes.advanceClock(milliseconds: 2_400_000)
    #expect(try reason(await caller.send(.apns, caller.notification(second))) == .string("ExpiredProviderToken"))
    await caller.stop()
  }

  @Test("gives the answers that were ordered, once each and in order")
  func givesOrderedAnswers() async throws {
    let caller = try FakeCaller()
    let token = try caller.providerToken()
    try caller.fakes.order(
      """
      {"service":"apns","token":"\(FakeCaller.deviceToken)","answers":[
        {"status":410,"reason":"Unregistered","timestamp":1700000000000,"delayMilliseconds":1},
        {"status":503,"reason":"ServiceUnavailable","headers":{"retry-after":"7"}}]}
      """)
    let gone = try await caller.send(.apns, caller.notification(token))
    #expect(gone.status == 410)
    #expect(try json(gone)["timestamp"] == .integer(1_700_000_000_000))
    let busy = try await caller.send(.apns, caller.notification(token))
    #expect(busy.status == 503 && busy.header("retry-after") == "7")
    #expect(try await caller.send(.apns, caller.notification(token)).status == 200)
    #expect(throws: (any Error).self) { try caller.fakes.order(#"{"service":"apns","mode":"odd"}"#) }
    await caller.stop()
  }

  @Test("says goodbye, refuses, resets, answers slowly and is silent when it is told to")
  func hasMoods() async throws {
    let caller = try FakeCaller()
    let sender = try caller.sender(.apns)
    var request = caller.notification(try caller.providerToken())
    #expect(try await caller.send(.apns, request).status == 200)
    try caller.fakes.order(#"{"service":"apns","mode":"goaway","left":1}"#)
    #expect(try await caller.send(.apns, request).status == 200, "sent again over a second connection")
    #expect(await sender.counters().connectsBegun == 2)
    try caller.fakes.order(#"{"service":"apns","mode":"refuse","count":1}"#)
    #expect(try await caller.send(.apns, request).status == 200)
    try caller.fakes.order(#"{"service":"apns","mode":"reset","count":1}"#)
    #expect(await sender.send(request) == .unknown(.reset(code: 2)))
    try caller.fakes.order(#"{"service":"apns","mode":"slow-body","count":1,"delayMilliseconds":1}"#)
    try caller.fakes.order(#"{"service":"apns","answers":[{"status":400,"reason":"BadTopic"}]}"#)
    #expect(try reason(await caller.send(.apns, request)) == .string("BadTopic"))
    try caller.fakes.order(#"{"service":"apns","mode":"black-hole","count":1}"#)
    request.timeoutMilliseconds = 100
    #expect(await sender.send(request) == .unknown(.timedOut))
    await caller.stop()
  }
}

extension APNsFakeTests {
  @Test("holds requests until they are released, the newest behind a goodbye if that is wanted")
  func holds() async throws {
    let caller = try FakeCaller()
    let request = caller.notification(try caller.providerToken())
    // From then on it allows more than one stream.
    #expect(try await caller.send(.apns, request).status == 200)
    let sender = try caller.sender(.apns)
    try caller.fakes.order(#"{"service":"apns","mode":"hold"}"#)
    let outcomes = try await withThrowingTaskGroup(of: HTTP2Outcome.self) { group in
      for _ in 0..<4 { group.addTask { await sender.send(request) } }
      try await awaitPatiently("four are held") { try caller.fakes.counters()["held"]?["apns"] == .integer(4) }
      #expect(try caller.fakes.requests(to: .apns).count == 1)
      try caller.fakes.order(#"{"service":"apns","release":true,"left":1}"#)
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for outcome in outcomes {
      guard case .answered(let answer) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(answer.status == 200)
    }
    let journal = try caller.fakes.requests(to: .apns)
    #expect(journal.count == 6 && journal.count { $0["outcome"] == .string("left behind") } == 1)
    let counters = try caller.fakes.counters()
    #expect(counters["streamPeaks"]?["apns"] == .integer(4) && counters["connections"]?["apns"] == .integer(2))
    await caller.stop()
  }
}

extension APNsFakeTests {
  @Test("resets, half closes and fouls connections when it is told to", arguments: ["cut", "half-closed", "garbage"])
  func isRude(mode: String) async throws {
    let caller = try FakeCaller()
    let request = caller.notification(try caller.providerToken())
    try caller.fakes.order(#"{"service":"apns","mode":"\#(mode)"}"#)
    guard case .notSent(.unreachable) = try await caller.sender(.apns).send(request) else {
      Issue.record("it was reached")
      return
    }
    #expect(try caller.fakes.requests(to: .apns).isEmpty)
    #expect(try caller.fakes.counters()["connections"]?["apns"] == .integer(1))
    await caller.stop()
  }
}

@Suite("The fake of FCM")
struct FCMFakeTests {
  @Test("gives an access token for a good assertion, and none for a bad one")
  func exchangesTokens() async throws {
    let caller = try FakeCaller()
    let answer = try await caller.exchange(caller.assertion())
    #expect(answer.status == 200)
    #expect(try json(answer)["expires_in"] == .integer(3_599))
    let bad: [String] = [
      try caller.assertion(["aud": .string("https://oauth2.googleapis.com/token")]),
      try caller.assertion(["scope": .string("email")]), try caller.assertion(["iss": .string("else")]),
      try caller.assertion(["exp": .integer(FakeCaller.now - 1)]),
      try caller.assertion(["exp": .integer(FakeCaller.now + 7_200)]), try caller.assertion(key: .generate()), "x",
    ]
    for assertion in bad {
      let answer = try await caller.exchange(assertion)
      #expect(answer.status == 400)
      #expect(try json(answer)["error"] == .string("invalid_grant"))
    }
    #expect(try caller.fakes.counters()["tokenExchanges"] == .integer(1))
    await caller.stop()
  }

  @Test("takes good messages, and refuses others in FCM's envelopes")
  func judgesMessages() async throws {
    let caller = try FakeCaller()
    let good = #"{"message":{"token":"t","data":{"a":"b"},"android":{"priority":"HIGH","ttl":"60s"}}}"#
    #expect(try await caller.message("none", good).status == 401)
    guard case .string(let access) = try json(await caller.exchange(caller.assertion()))["access_token"] else {
      Issue.record("no access token")
      return
    }
    #expect(try json(await caller.message(access, good))["name"] == .string("projects/fake-project/messages/0:1"))
    let large = String(repeating: "a", count: 4_096)
    for message in [
      #"{"message":{"token":"t","data":{"a":1}}}"#, #"{"message":{"token":"t","data":{"from":"b"}}}"#,
      #"{"message":{"token":"t","data":{"google.a":"b"}}}"#, #"{"message":{"data":{"a":"b"}}}"#, "{",
      #"{"message":{"token":"t","android":{"ttl":"60"}}}"#, #"{"message":{"token":"t","data":{"a":"\#(large)"}}}"#,
    ] {
      let answer = try await caller.message(access, message)
      #expect(answer.status == 400)
      #expect(try json(answer)["error"]?["status"] == .string("INVALID_ARGUMENT"))
    }
    let wrong = try await caller.message(access, good, project: "other")
    #expect(wrong.status == 404)
    #expect(try json(wrong)["error"]?["details"] == nil)
    try caller.fakes.order(
      #"""
      {"service":"fcm","token":"t","answers":[{"status":404,"reason":"NOT_FOUND","errorCode":"UNREGISTERED"},
       {"status":502,"body":"<html>","headers":{"content-type":"text/html"}}]}
      """#)
    let gone = try await caller.message(access, good)
    guard case .array(let details) = try json(gone)["error"]?["details"] else {
      Issue.record("no details")
      return
    }
    #expect(gone.status == 404 && details.first?["errorCode"] == .string("UNREGISTERED"))
    let html = try await caller.message(access, good)
    #expect(html.status == 502 && html.body == Array("<html>".utf8))
    try caller.fakes.order(#"{"service":"fcm","revoke":true}"#)
    #expect(try await caller.message(access, good).status == 401)
    await caller.stop()
  }
}

@Suite("The fake of Web Push")
struct WebPushFakeTests {
  @Test("opens a good message, and refuses others")
  func judgesMessages() async throws {
    let caller = try FakeCaller()
    let key = P256SecretKey.generate()
    let subscription = try #require(caller.fakes.subscriptions.first)
    let path = "/push/" + (subscription.endpoint.split(separator: "/").last ?? "")
    let body = try #require(
      WebPushEncryption.body(
        Array("wake".utf8), publicKey: Base64URL.bytes(subscription.p256dh) ?? [],
        authentication: Base64URL.bytes(subscription.auth) ?? []))
    func push(_ change: [String: String?] = [:], path: String = path, body: [UInt8] = body) async throws -> Int {
      var headers = ["authorization": caller.credential(key), "ttl": "60", "content-encoding": "aes128gcm"]
      for (name, value) in change { headers[name] = value }
      let fields = headers.map { HTTP2Header($0.key, $0.value) }
      return try await caller.send(
        .webpush,
        HTTP2Request(method: "POST", path: path, headers: fields, body: body, timeoutMilliseconds: FakeCaller.patience)
      ).status
    }
    #expect(try await push() == 201)
    #expect(try caller.fakes.requests(to: .webpush).first?["plaintext"] == .string("wake"))
    #expect(try await push(path: "/push/nobody") == 404)
    #expect(try await push(["ttl": nil]) == 400)
    #expect(try await push(["content-encoding": nil]) == 415)
    #expect(try await push(["urgency": "now"]) == 400)
    #expect(try await push(["topic": String(repeating: "a", count: 33)]) == 400)
    #expect(try await push(["authorization": nil]) == 401)
    #expect(try await push(["authorization": caller.credential(key, audience: "https://else.example")]) == 403)
    #expect(try await push(["authorization": caller.credential(key, end: FakeCaller.now - 1)]) == 403)
    #expect(try await push(["authorization": caller.credential(key, end: FakeCaller.now + 90_000)]) == 403)
    #expect(try await push(["authorization": caller.credential(key, contact: "me")]) == 403)
    #expect(try await push(body: Array(body.dropLast())) == 400)
    #expect(try await push(body: [UInt8](repeating: 0, count: 4_097)) == 413)
    await caller.stop()
  }
}
