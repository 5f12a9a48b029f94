import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and requests that come again")
  struct PushAbuseReplayTests {
    private let phone = Ed25519SecretKey.generate()
    private let friend = Ed25519SecretKey.generate()

    @Test("gives the same answer to the same request and does nothing twice, in whatever order they come (case 27)")
    func replay() throws {
      try PushRig.run { rig in
        let line = try PushLine(port: rig.port)
        func ask(_ request: [UInt8]) throws -> PushRig.Answer {
          line.send(request)
          return try #require(try line.answer())
        }
        let text = #"{"platform":"ios","token":"\#(PushRig.appleToken())","device_id":"a"}"#
        let register = PushRig.signedRequest(phone, "POST", "/register", text)
        let first = try ask(register)
        #expect(first.status == 200)
        #expect(try ask(register).text == first.text)
        let removal = PushRig.signedRequest(phone, "DELETE", "/register", #"{"device_id":"a"}"#)
        #expect(try ask(removal).status == 200)
        _ = try ask(register)
        #expect(try rig.status().devices == 0, "a registration of before brings nothing back")

        let again = PushRig.signedRequest(
          phone, "POST", "/register", text.replacing(#""device_id""#, with: #""more":1,"device_id""#))
        #expect(try ask(again).status == 200)
        #expect(try ask(removal).text == #"{"status":"unregistered"}"#)
        #expect(try rig.status().devices == 1, "a removal of before takes nothing away")

        let wake = PushRig.signedRequest(friend, "POST", "/wake", PushRig.body(to: phone, by: friend))
        let queued = try ask(wake)
        #expect(queued.status == 200)
        for _ in 0..<3 { #expect(try ask(wake).text == queued.text) }
        // Ten wakes a minute are a sender's: what came again has cost nothing.
        for number in 0..<9 { #expect(try rig.wake(phone, by: friend, type: "t\(number)").status == 200) }
        try rig.await(10, at: .apns)
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: .apns).count == 10)
      }
    }

    @Test("tells whoever signed an earlier time than what stands that nothing was done: of devices, lists and rules")
    func held() throws {
      try PushRig.run { rig in
        let (now, token, other) = (WallClock.seconds, PushRig.appleToken(), PushRig.appleToken())
        func ask(_ method: String, _ path: String, _ body: String, at shift: Int64) throws -> PushRig.Answer {
          try rig.signed(phone, method, path, body, at: now + shift)
        }
        func register(_ token: String, at shift: Int64) throws -> PushRig.Answer {
          try ask("POST", "/register", #"{"platform":"ios","token":"\#(token)","device_id":"a"}"#, at: shift)
        }
        #expect(try register(token, at: 0).status == 200)
        #expect(try ask("PUT", "/contacts", #"{"policy":"contacts"}"#, at: 0).status == 200)
        for _ in 0..<2 {
          let answers = [
            try ask("DELETE", "/register", #"{"device_id":"a"}"#, at: -1), try register(other, at: -1),
            try ask("PUT", "/contacts", #"{"policy":"open"}"#, at: -1),
          ]
          for answer in answers {
            #expect(answer.status == 409 && answer["error"] == "stale_request", "\(answer.text)")
          }
        }
        #expect(try ask("DELETE", "/register", #"{"device_id":"b"}"#, at: -1).status == 200, "it is not there")
        #expect(try rig.signed(phone, "GET", "/contacts")["policy"] == "contacts")
        #expect(try rig.wake(phone, by: phone).status == 200)
        #expect(try rig.await(1, at: .apns).map { $0.text("receiver") } == [token])
        #expect(try ask("DELETE", "/register", #"{"device_id":"a"}"#, at: 0).status == 200)
        #expect(try rig.status().devices == 0, "in one second they count as they come")
      }
    }

    @Test("does so after kill -9 and a new start, too (case 28)")
    func replayAfterKill() throws {
      try PushRig.run { rig in
        let token = PushRig.appleToken()
        let register = PushRig.signedRequest(
          phone, "POST", "/register", #"{"platform":"ios","token":"\#(token)","device_id":"a"}"#)
        let removal = PushRig.signedRequest(phone, "DELETE", "/register", #"{"device_id":"a"}"#)
        let other = Ed25519SecretKey.generate()
        try rig.register(other, "ios", PushRig.appleToken())
        let nonce = RandomBytes.make(16)
        let wake = PushRig.signedRequest(friend, "POST", "/wake", PushRig.body(to: other, by: friend, nonce: nonce))
        func ask(_ request: [UInt8]) throws -> PushRig.Answer {
          let line = try PushLine(port: rig.port)
          line.send(request)
          return try #require(try line.answer())
        }
        let before = try [register, removal, wake].map(ask)
        #expect(before.allSatisfy { $0.status == 200 }, "\(before.map(\.text))")
        try rig.await(1, at: .apns)
        try rig.roost.killDaemonAndWorkers()
        try rig.roost.startAgain()
        try rig.roost.awaitReady()
        for (request, answer) in zip([register, removal, wake], before) {
          #expect(try ask(request).text == answer.text)
        }
        let third = try rig.signed(
          friend, "POST", "/wake", PushRig.body(to: other, by: friend, type: "other", nonce: nonce))
        #expect(third.status == 409 && third["error"] == "nonce_reused", "\(third.text)")
        let client = try rig.roost.client()
        let status = try JSONPayload.decode(PushStatus.self, from: try client.call("push.status").terminal.payload)
        #expect(status.devices == 1 && status.accepted == 1)
        let ids = Set(try rig.fakes.requests(to: .apns).map { "\($0["headers"]?["apns-id"] ?? .null)" })
        #expect(ids.count == 1, "one wake has one id, however often it was sent")
      }
    }

    @Test("takes a nonce for one body of one sender (case 29)")
    func nonces() throws {
      try PushRig.run { rig in
        try rig.register(phone, "ios", PushRig.appleToken(), capabilities: "[]")
        let (nonce, stranger) = (RandomBytes.make(16), Ed25519SecretKey.generate())
        func wake(_ sender: Ed25519SecretKey, _ type: String, at shift: Int64 = 0) throws -> PushRig.Answer {
          try rig.signed(
            sender, "POST", "/wake", PushRig.body(to: phone, by: sender, type: type, nonce: nonce),
            at: WallClock.seconds + shift)
        }
        let first = try wake(friend, "noise_connect")
        #expect(try wake(friend, "noise_connect", at: 2).text == first.text, "the same body, signed anew")
        let other = try wake(friend, "other")
        #expect(other.status == 409 && other["error"] == "nonce_reused", "\(other.text)")
        let strangers = try wake(stranger, "other")
        #expect(strangers.status == 200 && strangers["wake_id"] != first["wake_id"], "\(strangers.text)")
        try rig.await(2, at: .apns)
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: .apns).count == 2)
      }
    }

    @Test("lets whoever waits as he was told through: after the tenth of a minute, the hundredth of an hour (case 30)")
    func obeyed() throws {
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      let layout = try PushRig.layout(
        fakes, port: port, directory: directory.path, ["environment": "[\"ROOST_WALL_CLOCK_OFFSET\"]"])
      try withRoost(layout) { roost in
        var shift: Int64 = 0
        let line = { try PushLine(port: port) }
        func wake(_ line: PushLine, _ number: Int) throws -> PushRig.Answer {
          let body = Array(PushRig.body(to: phone, by: friend, type: "t\(number)").utf8)
          let fields = PushRig.signature(friend, "POST", "/wake", body, at: WallClock.seconds + shift)
          line.send(PushRig.request("POST", "/wake", body, fields: fields))
          return try #require(try line.answer())
        }
        func wait(_ answer: PushRig.Answer, atMost maximum: Int64) throws {
          #expect(answer.status == 429 && answer["error"] == "rate_limited", "\(answer.text)")
          guard case .integer(let seconds) = answer.json["retry_after"] else { return #expect(Bool(false)) }
          #expect((1...maximum).contains(seconds))
          #expect(answer.head.lowercased().split(separator: "\r\n").contains("retry-after: \(seconds)"))
          shift += seconds
        }
        // A stop in order: what was spent is kept as it was.
        func later(_ keys: [String: String]) throws {
          roost.daemon.send(SIGTERM)
          _ = try roost.daemon.waitForEnd()
          try roost.rewrite { layout in
            layout.environment = ["ROOST_WALL_CLOCK_OFFSET=\(shift)"]
            layout.workers[0].keys.merge(keys) { _, new in new }
          }
          try roost.startAgain()
          try roost.awaitReady()
        }
        var open = try line()
        for number in 0..<10 { #expect(try wake(open, number).status == 200) }
        try wait(try wake(open, 10), atMost: 70)
        try later(["sender-minute": "1000"])
        open = try line()
        for number in 10..<100 { #expect(try wake(open, number).status == 200) }
        try wait(try wake(open, 100), atMost: 4_200)
        try later([:])
        open = try line()
        #expect(try wake(open, 101).status == 200)
      }
    }

    @Test("pushes to a token's first owner alone until its new one has shown what came by push (case 34)")
    func squatting() throws {
      try PushRig.run { rig in
        let (token, thief) = (PushRig.appleToken(), Ed25519SecretKey.generate())
        try rig.register(phone, "ios", token, capabilities: "[]")
        let claimed = try rig.register(thief, "ios", token, capabilities: "[]")
        #expect(claimed["verification"] == "challenge_sent", "\(claimed.text)")
        let code = try Self.code(try rig.await(1, at: .apns)[0])
        // His wakes are answered like any others, and reach nobody; the first owner's go on.
        #expect(try rig.wake(thief, by: friend, type: "a").status == 200)
        #expect(try rig.wake(phone, by: friend, type: "b").status == 200)
        for code in ["0123456789abcdef0123456789abcdef", "x"] {
          let wrong = try rig.register(thief, "ios", token, capabilities: "[]", more: #","challenge":"\#(code)""#)
          #expect(wrong.status == 400 && wrong["error"] == "wrong_challenge", "\(wrong.text)")
        }
        #expect(try rig.wake(thief, by: friend, type: "c").status == 200)
        #expect(try rig.wake(phone, by: friend, type: "d").status == 200)
        try rig.await(3, at: .apns)
        try rig.awaitQuiet()
        let pushes = try rig.fakes.requests(to: .apns).map { "\($0)" }
        #expect(pushes.count == 3, "one challenge a minute, and two wakes of the first owner's")
        #expect(pushes.count { $0.contains("registration_challenge") } == 1)
        let owners = try rig.client.call("push.devices").parts.map(\.text)
        #expect(owners.count == 2)

        let proved = try rig.register(thief, "ios", token, capabilities: "[]", more: #","challenge":"\#(code)""#)
        #expect(proved.status == 200 && proved["verification"].isEmpty, "\(proved.text)")
        #expect(try rig.status().devices == 1, "the token is its new owner's now")
        #expect(try rig.wake(thief, by: friend, type: "e").status == 200)
        try rig.await(4, at: .apns)
      }
    }

    /// What a challenge brought to the phone.
    private static func code(_ request: JSONValue) throws -> String {
      guard case .string(let text)? = request["payload"],
        case .string(let payload)? = try JSONPayload.decode(JSONValue.self, from: Array(text.utf8))["payload"]
      else { throw DeadlinePassed(description: "no challenge: \(request)") }
      return String(decoding: try #require(Base64.decode(payload)), as: UTF8.self)
    }
  }
}
