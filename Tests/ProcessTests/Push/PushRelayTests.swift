import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay")
  struct PushRelayTests {
    private let phone = Ed25519SecretKey.generate()
    private let friend = Ed25519SecretKey.generate()

    @Test("wakes phones by APNs, FCM and Web Push (cases 1, 2, 5, 6)")
    func platforms() throws {
      try PushRig.run { rig in
        let subscription = try #require(rig.fakes.subscriptions.first)
        let web =
          #"{"endpoint":"\#(subscription.endpoint)","p256dh":"\#(subscription.p256dh)","#
          + #""auth":"\#(subscription.auth)"}"#
        let before = WallClock.seconds
        let first = try rig.register(phone, "ios", PushRig.appleToken(), device: "a")
        #expect(first.status == 200, "\(first.text)")
        #expect(first["relay_id"].utf8.count == 32)
        guard case .integer(let expiry) = first.json["expires_at"] else { return #expect(Bool(false), "\(first.text)") }
        #expect((before + 30 * 86_400...before + 30 * 86_400 + 60).contains(expiry))
        #expect(try rig.register(phone, "android", PushRig.googleToken(), device: "b").status == 200)
        let third = try rig.register(phone, "webpush", web, device: "c")
        #expect(third.status == 200, "\(third.text)")

        let wake = try rig.wake(phone, by: friend, type: "payment_received", payload: [1, 2, 3])
        #expect(wake.status == 200 && wake["status"] == "queued", "\(wake.text)")
        let apple = try rig.await(1, at: .apns)
        let google = try rig.await(1, at: .fcm)
        let push = try rig.await(1, at: .webpush)
        for request in [apple[0], google[0], push[0]] {
          #expect("\(request)".contains(wake["wake_id"]), "\(request)")
          #expect("\(request)".contains("payment_received"))
        }
        try awaitSoon("all are taken") {
          try rig.status().platforms.reduce(0) { $0 + $1.delivered } == 3
        }
        try awaitSoon("the wake has ended") { try rig.status().ended["delivered"] == 1 }
      }
    }

    @Test("answers a DELETE with texts only, however the device is named, and again (case 8)")
    func removal() throws {
      try PushRig.run { rig in
        let registered = try rig.register(phone, "ios", PushRig.appleToken())
        for body in [#"{"device_id":"phone"}"#, #"{"relay_id":"\#(registered["relay_id"])"}"#, "{}"] {
          let answer = try rig.signed(phone, "DELETE", "/register", body)
          #expect(answer.status == 200 && answer.text == #"{"status":"unregistered"}"#, "\(answer.text)")
        }
        #expect(try rig.signed(phone, "POST", "/unregister", #"{"device_id":"phone"}"#).status == 200)
        let query = try rig.send(
          "DELETE", "/register?device_id=phone",
          fields: PushRig.signature(phone, "DELETE", "/register?device_id=phone", []))
        #expect(query.status == 200, "\(query.text)")
        #expect(try rig.status().devices == 0)
      }
    }

    @Test("refuses what is signed wrongly, for another path, or too long ago, and tells its clock (cases 14 to 18)")
    func signatures() throws {
      try PushRig.run { rig in
        let body = Array(PushRig.body(to: phone, by: friend).utf8)
        let now = WallClock.seconds
        func ask(_ fields: [String], _ bytes: [UInt8]? = nil) throws -> PushRig.Answer {
          try rig.send("POST", "/wake", bytes ?? body, fields: fields)
        }
        let good = PushRig.signature(friend, "POST", "/wake", body)
        #expect(try ask(good).status == 200)
        #expect(try ask(PushRig.signature(friend, "POST", "/v1/wake", body))["error"] == "invalid_signature")
        #expect(try ask(PushRig.signature(friend, "POST", "/register", body)).status == 401)
        #expect(try ask(good, body + [0x20]).status == 401)
        for missing in good.indices {
          var fields = good
          fields.remove(at: missing)
          #expect(try ask(fields).status == 401)
        }
        for time in [now - 330, now + 330] {
          let late = try ask(PushRig.signature(friend, "POST", "/wake", body, at: time))
          #expect(late.status == 401 && late["error"] == "expired_timestamp", "\(late.text)")
          guard case .integer(let clock) = late.json["server_time"] else { return #expect(Bool(false)) }
          #expect(abs(clock - now) < 120)
          #expect(late.head.lowercased().contains("\r\ndate: "))
        }
        #expect(try rig.send("GET", "/wake").status == 405)
        #expect(try rig.send("GET", "/wake/").json["error"] == .string("not_found"))
        #expect(try rig.send("GET", "/wake", prefix: "").status == 404)
      }
    }

    @Test(
      "gives the same bytes to strangers whether somebody is registered or not, and the truth to contacts (case 33)")
    func disclosure() throws {
      try PushRig.run { rig in
        let nobody = Ed25519SecretKey.generate()
        try rig.register(phone, "ios", PushRig.appleToken())
        let blocked = Ed25519SecretKey.generate()
        let name = ZBase32.text(of: friend.publicKey.octets)
        let lists =
          #"{"allow":["\#(name)"],"block":["\#(ZBase32.text(of: blocked.publicKey.octets))"],"policy":"open"}"#
        for owner in [phone, nobody] { #expect(try rig.signed(owner, "PUT", "/contacts", lists).status == 200) }
        func bytes(_ answer: PushRig.Answer) -> String {
          answer.text.replacing(answer["wake_id"], with: "id")
            + answer.head.split(separator: "\r\n")
            .filter { !$0.lowercased().hasPrefix("date:") }.joined()
        }
        let stranger = Ed25519SecretKey.generate()
        let there = bytes(try rig.wake(phone, by: stranger))
        #expect(there == bytes(try rig.wake(nobody, by: stranger)))
        #expect(there == bytes(try rig.wake(phone, by: blocked)))
        #expect(there.contains("queued"))
        let told = try rig.wake(nobody, by: friend)
        #expect(told.status == 404 && told["error"] == "recipient_not_found", "\(told.text)")
        #expect(try rig.wake(phone, by: friend, type: "payment_received").status == 200)
        try rig.await(2, at: .apns)
        #expect(try rig.fakes.requests(to: .apns).count == 2)
      }
    }

    @Test("wakes once for a request that comes twice, and refuses its nonce for another (cases 27, 29)")
    func replay() throws {
      try PushRig.run { rig in
        try rig.register(phone, "ios", PushRig.appleToken())
        let nonce = RandomBytes.make(16)
        let body = Array(PushRig.body(to: phone, by: friend, nonce: nonce).utf8)
        let fields = PushRig.signature(friend, "POST", "/wake", body)
        let first = try rig.send("POST", "/wake", body, fields: fields)
        #expect(try rig.send("POST", "/wake", body, fields: fields).text == first.text)
        let other = try rig.signed(
          friend, "POST", "/wake", PushRig.body(to: phone, by: friend, type: "other", nonce: nonce))
        #expect(other.status == 409 && other["error"] == "nonce_reused", "\(other.text)")
        try rig.await(1, at: .apns)

        // A registration that comes again after its removal brings nothing back.
        let text = #"{"platform":"ios","token":"\#(PushRig.appleToken())","device_id":"b"}"#
        let again = PushRig.signature(phone, "POST", "/register", Array(text.utf8))
        #expect(try rig.send("POST", "/register", Array(text.utf8), fields: again).status == 200)
        #expect(try rig.signed(phone, "DELETE", "/register", #"{"device_id":"b"}"#).status == 200)
        _ = try rig.send("POST", "/register", Array(text.utf8), fields: again)
        #expect(try rig.status().devices == 1)
        #expect(try rig.fakes.requests(to: .apns).count == 1)
      }
    }

    @Test("lets nobody wake more than eleven times a minute, and says when again in two ways that agree (case 30)")
    func limits() throws {
      try PushRig.run { rig in
        try rig.register(phone, "ios", PushRig.appleToken())
        for _ in 0..<10 { #expect(try rig.wake(phone, by: friend).status == 200) }
        let refused = try rig.wake(phone, by: friend)
        #expect(refused.status == 429 && refused["error"] == "rate_limited", "\(refused.text)")
        guard case .integer(let seconds) = refused.json["retry_after"] else { return #expect(Bool(false)) }
        #expect((1...70).contains(seconds))
        #expect(refused.head.lowercased().contains("retry-after: \(seconds)"), "\(refused.head)")
        // A crash gives nothing back.
        try awaitSoon("the limits are written down", within: 40) { try rig.status().accepted > 0 }
      }
    }

    @Test("brings what it had accepted after kill -9, with one token of Apple's and one apns-id (cases 28, 51)")
    func death() throws {
      try PushRig.run { rig in
        try rig.register(phone, "ios", PushRig.appleToken())
        try rig.wake(phone, by: friend)
        try rig.await(1, at: .apns)
        try rig.fakes.order(#"{"service":"apns","mode":"black-hole"}"#)
        let wake = try rig.wake(phone, by: friend, type: "payment_received")
        #expect(wake.status == 200)
        try rig.await(2, at: .apns)
        try rig.roost.killDaemonAndWorkers()
        try rig.fakes.order(#"{"service":"apns","mode":"normal"}"#)
        try rig.roost.startAgain()
        // The first wake may come once more as well: that it was taken need not have been written down.
        var about: [JSONValue] = []
        try awaitSoon("the wake is sent again", within: 60) {
          about = try rig.fakes.requests(to: .apns).filter { "\($0)".contains(wake["wake_id"]) }
          return about.count == 2
        }
        func id(_ request: JSONValue) -> JSONValue? { request["headers"]?["apns-id"] }
        #expect(id(about[0]) != nil && id(about[0]) == id(about[1]), "\(about)")
        let counters = try rig.fakes.counters()
        guard case .integer(let tokens) = counters["providerTokens"] else {
          return #expect(Bool(false), "\(counters)")
        }
        #expect(tokens == 1)
      }
    }

    @Test("keeps one platform's silence from the other (case 47)")
    func isolation() throws {
      try PushRig.run { rig in
        try rig.fakes.order(#"{"service":"apns","mode":"black-hole"}"#)
        try rig.register(phone, "ios", PushRig.appleToken())
        let other = Ed25519SecretKey.generate()
        try rig.register(other, "android", PushRig.googleToken())
        for number in 0..<5 { try rig.wake(phone, by: friend, type: "t\(number)") }
        #expect(try rig.wake(other, by: friend).status == 200)
        try rig.await(1, at: .fcm)
      }
    }

    @Test("forgets a token that is dead, not one that registered since, and none when all are refused (42, 43)")
    func pruning() throws {
      try PushRig.run { rig in
        let (dead, kept) = (PushRig.appleToken(), PushRig.appleToken())
        try rig.register(phone, "ios", dead)
        let other = Ed25519SecretKey.generate()
        try rig.register(other, "ios", kept)
        let later = (WallClock.seconds + 5) * 1_000
        try rig.fakes.order(
          #"{"service":"apns","token":"\#(dead)","answers":[{"status":410,"reason":"Unregistered","timestamp":\#(later)}]}"#
        )
        try rig.fakes.order(
          #"{"service":"apns","token":"\#(kept)","answers":[{"status":410,"reason":"Unregistered","timestamp":1000}]}"#)
        try rig.wake(phone, by: friend)
        try rig.wake(other, by: friend)
        try rig.await(2, at: .apns)
        try awaitSoon("one device is left") { try rig.status().devices == 1 }
        let rows = try rig.client.call("push.devices").parts
        #expect(rows.count == 1)
        #expect(rows[0].text.contains(ZBase32.text(of: other.publicKey.octets)))
        #expect(!rows[0].text.contains(kept))
      }
    }

    @Test("has a token's new owner show that it is his before he is woken with it (case 34)")
    func moving() throws {
      try PushRig.run { rig in
        let token = PushRig.appleToken()
        try rig.register(phone, "ios", token)
        let thief = Ed25519SecretKey.generate()
        let answer = try rig.register(thief, "ios", token)
        #expect(answer["verification"] == "challenge_sent", "\(answer.text)")
        let challenge = try #require(try rig.await(1, at: .apns).first)
        #expect("\(challenge)".contains("registration_challenge"))
        try rig.wake(thief, by: thief)
        try rig.wake(phone, by: friend)
        try rig.await(2, at: .apns)
        #expect(try rig.fakes.requests(to: .apns).count == 2)
      }
    }

    @Test("lets the operator wake a key's devices, and says what it has")
    func operatorSends() throws {
      try PushRig.run { rig in
        try rig.register(phone, "ios", PushRig.appleToken())
        let name = ZBase32.text(of: phone.publicKey.octets)
        let sent = try rig.client.call("push.send", #"{"owner":"\#(name)","type":"noise_connect"}"#)
        #expect(sent.isResponse, "\(sent.text)")
        try rig.await(1, at: .apns)
        #expect(try rig.client.call("push.send", #"{"owner":"x","type":"noise_connect"}"#).text.contains("is no key"))
        let rekeyed = try rig.client.call("push.rekey")
        #expect(rekeyed.isResponse && rekeyed.text.contains("\"changed\":0"), "\(rekeyed.text)")
        let status = try rig.status()
        #expect(status.platforms.allSatisfy { $0.state == "ready" })
        #expect(status.devices == 1 && status.addresses == ["127.0.0.1:\(rig.port)"])
      }
    }

    @Test("writes no token, no key of anybody and no payload into its log (case 38)")
    func silence() throws {
      try PushRig.run { rig in
        let token = PushRig.appleToken()
        try rig.fakes.order(#"{"service":"apns","answers":[{"status":403,"reason":"BadTopic"}]}"#)
        try rig.register(phone, "ios", token)
        try rig.wake(phone, by: friend, payload: Array("secret payload".utf8))
        try rig.await(1, at: .apns)
        try awaitSoon("the fault is told") { try rig.status().platforms.contains { $0.state == "away" } }
        func log() -> String {
          rig.roost.lines("log/push-relay.log").joined() + rig.roost.lines("log/roostd.log").joined()
        }
        // A line is written a moment after the status is told.
        try awaitSoon("the fault is logged") { log().contains("BadTopic") }
        let names = [phone, friend].map { ZBase32.text(of: $0.publicKey.octets) }
        for secret in [token, Base64.encode(Array("secret payload".utf8))] + names {
          #expect(!log().contains(secret))
        }
      }
    }

    @Test("refuses a key file that others can read, and one that is none (case 55)")
    func keyFiles() throws {
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      let ring = directory.path + "/ring"
      let file = open(ring, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try Descriptors.writeAll("a:\(Base64.encode(RandomBytes.make(32)))\n", to: file)
      Descriptors.close(file)
      chmod(ring, 0o644)
      let layout = try PushRig.layout(
        fakes, port: port, directory: directory.path, ["key-ring-file": "\"\(ring)\""])
      try withRoost(layout, awaitsReady: false) { roost in
        try awaitSoon("it says why") {
          let lines = roost.lines("log/push-relay.log") + roost.lines("log/roostd.log")
          return lines.contains { $0.contains("can be read by others than its owner") }
        }
      }
    }
  }
}
