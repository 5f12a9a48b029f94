import Contracts
import Cryptography
import Frames
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and what FCM answers")
  struct GoogleAnswersTests {
    /// What becomes of a push and its device; as for APNs.
    private typealias Fate = AppleAnswersTests.Fate

    private struct Answer {
      let name: String
      let fate: Fate
      /// As the fakes are told it.
      let order: String

      init(_ name: String, _ fate: Fate, _ order: String) { (self.name, self.fate, self.order) = (name, fate, order) }
    }

    /// Google's envelope with `BadRequest`, which names the fields.
    private static func badRequest(_ field: String) -> String {
      let body =
        #"{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"details\":[{\"@type\":"#
        + #"\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":[{\"field\":\"\#(field)\"}]}]}}"#
      return #"{"status":400,"body":"\#(body)"}"#
    }

    private static let cut = #"{\"error\":{\"code\":404,\"status\":\"NOT_FOUND\",\"details\":[{\"errorCode\":\"UNREG"#

    private static let answers: [Answer] = [
      .init(
        "INVALID_ARGUMENT of FcmError", .pruned,
        #"{"status":400,"reason":"INVALID_ARGUMENT","errorCode":"INVALID_ARGUMENT"}"#),
      .init("INVALID_ARGUMENT of BadRequest, the token", .pruned, badRequest("message.token")),
      .init("INVALID_ARGUMENT of BadRequest, ours", .dropped, badRequest("message.android.ttl")),
      .init("400 that is cut off", .dropped, #"{"status":400,"body":"\#(cut)"}"#),
      .init("UNREGISTERED", .pruned, #"{"status":404,"reason":"NOT_FOUND","errorCode":"UNREGISTERED"}"#),
      .init("SENDER_ID_MISMATCH", .pruned, #"{"status":403,"reason":"X","errorCode":"SENDER_ID_MISMATCH"}"#),
      .init("413", .dropped, #"{"status":413,"body":""}"#),
      .init(
        "502 of a proxy", .repeated,
        #"{"status":502,"body":"<html><title>Error 502</title>","headers":{"content-type":"text/html"}}"#),
      .init("an empty 500", .repeated, #"{"status":500,"body":""}"#),
      .init("a 500 that is cut off", .repeated, #"{"status":500,"body":"\#(cut)"}"#),
      .init("503", .repeated, #"{"status":503,"reason":"UNAVAILABLE","headers":{"retry-after":"1"}}"#),
      .init("429", .repeated, #"{"status":429,"reason":"RESOURCE_EXHAUSTED","headers":{"retry-after":"1"}}"#),
    ]

    @Test("drops, forgets or repeats as each answer wants (case 49)")
    func eachAnswer() throws {
      try PushRig.run { rig in
        let good = try rig.phone("android")
        try rig.wake(good)
        try rig.awaitEnded(1)
        let phones = try Self.answers.map { _ in try rig.phone("android") }
        for (phone, answer) in zip(phones, Self.answers) {
          try rig.order(.fcm, to: phone.receiver, [answer.order])
          try rig.wake(phone)
        }
        try rig.awaitEnded(1 + UInt64(phones.count))
        // A 200 is one, whatever its body.
        try rig.order(.fcm, to: good.receiver, [#"{"status":200,"body":"{\"na"}"#])
        try rig.wake(good, type: "again")
        try rig.awaitEnded(2 + UInt64(phones.count))
        let (pruned, repeated) = (
          Self.answers.count { $0.fate == .pruned }, Self.answers.count { $0.fate == .repeated }
        )
        let google = try rig.awaitPlatform("android", "has forgotten \(pruned)") { $0.pruned == pruned }
        #expect(google.delivered == 2 + repeated && google.repeated == repeated && google.state == "ready")
        let owners = try rig.owners()
        for (phone, answer) in zip(phones, Self.answers) {
          let isThere = owners.contains(ZBase32.text(of: phone.key.publicKey.octets))
          #expect(isThere == (answer.fate != .pruned), "\(answer.name)")
          let count = try rig.requests(.fcm, to: phone.receiver).count
          #expect(count == (answer.fate == .repeated ? 2 : 1), "\(answer.name)")
        }
        #expect(try rig.count("tokenExchanges") == 1)
      }
    }

    @Test("takes a wrong project for no dead token: holds, says so, forgets nobody (cases 43, 49)")
    func wrongProject() throws {
      try PushRig.run { rig in
        let phone = try rig.phone("android")
        try rig.order(.fcm, to: phone.receiver, [#"{"status":404,"reason":"NOT_FOUND"}"#])
        try rig.wake(phone)
        try rig.awaitPlatform("android", "is held") { $0.state == "away" && $0.reason == "NOT_FOUND" }
        try rig.awaitLog("FCM refuses our pushes")
        let google = try rig.awaitPlatform("android", "has taken it at last") { $0.delivered == 1 }
        #expect(google.state == "ready" && google.pruned == 0)
        #expect(try rig.requests(.fcm, to: phone.receiver).count == 2)
      }
    }

    @Test("asks for one other access token when all at once are refused, and at once (case 49)")
    func revokedToken() throws {
      try PushRig.run { rig in
        let owner = Ed25519SecretKey.generate()
        let phones = try (0..<10).map { try rig.phone("android", owner: owner, device: "phone-\($0)") }
        try rig.wake(phones[0])
        try rig.awaitPlatform("android", "has taken the first") { $0.delivered == 10 }
        try rig.mood(.fcm, "hold")
        try rig.wake(phones[0], type: "second")
        try rig.awaitHeld(10, .fcm)
        try rig.fakes.order(#"{"service":"fcm","revoke":true,"release":true}"#)
        let google = try rig.awaitPlatform("android", "has taken the second") { $0.delivered == 20 }
        #expect(google.pruned == 0 && google.failed == 0)
        let requests = try rig.fakes.requests(to: .fcm)
        #expect(requests.count { $0["status"] == .integer(401) } == 10)
        #expect(try rig.count("tokenExchanges") == 2)
      }
    }

    @Test("asks Google again for a token after every kind of no, and believes no lifetime that cannot be (case 49)")
    func exchanges() throws {
      try PushRig.run { rig in
        // The fake counts, and honours, the token it would have given.
        func granted(_ number: Int64, _ more: String) -> String {
          #"{"status":200,"body":"{\"access_token\":\"ya29.fake-\#(number)\",\"token_type\":\"Bearer\"\#(more)}"}"#
        }
        let refusals = [
          #"{"status":400,"reason":"invalid_grant"}"#, #"{"status":500,"body":""}"#,
          #"{"status":429,"reason":"slow_down","headers":{"retry-after":"1"}}"#,
          #"{"status":200,"body":"{\"access_tok"}"#, #"{"status":200,"body":"{\"access_token\":\"a\\nb\"}"}"#,
        ]
        for refusal in refusals {
          let phone = try rig.phone("android")
          let before = try rig.count("requests", "oauth")
          try rig.order(.oauth, to: "token", [refusal])
          try rig.wake(phone)
          try rig.awaitPlatform("android", "has taken it after \(refusal)") { $0.delivered == 1 }
          #expect(try rig.count("requests", "oauth") == before + 2, "\(refusal)")
          try rig.awaitLog("Google gives no token")
          try rig.awaitNothingQueued()
          try rig.replaceWorker()
        }
        for more in ["", #",\"expires_in\":0"#, #",\"expires_in\":-1"#, #",\"expires_in\":1000000000000"#] {
          let phone = try rig.phone("android")
          let before = try rig.count("requests", "oauth")
          try rig.order(.oauth, to: "token", [granted(try rig.count("tokenExchanges") + 1, more)])
          for round in 0..<3 {
            try rig.wake(phone, type: "round_\(round)")
            try rig.awaitPlatform("android", "has taken it with \(more)") { $0.delivered == round + 1 }
          }
          #expect(try rig.count("requests", "oauth") == before + 1, "\(more)")
          try rig.awaitNothingQueued()
          try rig.replaceWorker()
        }
        #expect(try rig.platform("android").pruned == 0)
      }
    }
  }
}
