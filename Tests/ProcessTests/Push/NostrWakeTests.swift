import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay beside an event store")
  struct NostrWakeTests {
    @Test("wakes for a gift wrap, a mention and a zap that come, and says nothing of them but what they are")
    func topics() throws {
      try NostrWakeRig.run { rig in
        try rig.register()
        let author = SecretKey.generate()
        let wrap = try rig.publish(1_059, age: 86_400)
        try rig.awaitPush("message")
        let note = try rig.publish(1, by: author, content: "hello there")
        try rig.awaitPush("mention")
        try rig.zap(by: author)
        try rig.awaitPush("zap")
        let pushes = try rig.pushes().joined()
        for secret in [
          wrap.id.description, note.id.description, author.publicKey.description, rig.me.publicKey.description, "hello",
        ] {
          #expect(!pushes.contains(secret))
        }
        #expect(pushes.contains("nostr-mention") && pushes.contains("nostr-message"))
        let events = try rig.events()
        #expect(events.devices == 1 && events.keys == 1 && events.state == "following" && events.wakes == 3)
        #expect(try rig.push.status().accepted == 3)
      }
    }

    @Test("wakes nobody for his own events, for muted people's, for old ones, and for what he has turned off")
    func silence() throws {
      try NostrWakeRig.run { rig in
        let (muted, blocked) = (SecretKey.generate(), SecretKey.generate())
        try rig.publish(10_000, by: rig.me, tags: [["p", muted.publicKey.description]])
        try rig.publish(1, content: "before there was a device")
        try rig.register(more: #","rules":{"mute":{"pubkeys":["\#(blocked.publicKey)"]}}"#)
        try rig.publish(1, by: rig.me)
        try rig.awaitDismissed(1, "own")
        try rig.publish(1, by: muted)
        try rig.publish(4, by: blocked)
        try rig.awaitDismissed(2, "muted")
        try rig.publish(1, age: 3_600)
        try rig.publish(1_059, age: 4 * 86_400)
        try rig.awaitDismissed(2, "old")
        try rig.publish(7, content: "+")
        try rig.publish(6)
        try rig.awaitDismissed(2, "off")
        try rig.publish(9_735)
        try rig.awaitDismissed(1, "malformed")
        // A list that is published while the store is followed counts from then on.
        let late = SecretKey.generate()
        try rig.publish(10_000, by: rig.me, age: -1, tags: [["p", late.publicKey.description]])
        try rig.publish(1, by: late)
        try rig.awaitDismissed(3, "muted")
        #expect(try rig.pushes().isEmpty)
        try rig.publish(1)
        try rig.awaitPush("mention")
        #expect(try rig.events().wakes == 1)
      }
    }

    @Test("makes two pushes of a burst: one at once, and one for all that came in the pause")
    func burst() throws {
      try NostrWakeRig.run(pause: "5s") { rig in
        try rig.register()
        for number in 0..<20 { try rig.publish(1, content: "\(number)") }
        try awaitSoon("all are looked at") { try rig.events().waking == 20 }
        try rig.awaitPush("mention", count: 2)
        try rig.publish(4)
        try rig.awaitPush("message")
        #expect(try rig.pushes(of: "mention").count == 2)
        #expect(try rig.events().wakes == 3)
      }
    }

    @Test("goes on behind a store that was killed, and behind its own death, and wakes for nothing twice")
    func deaths() throws {
      try NostrWakeRig.run(pause: "0s") { rig in
        try rig.register()
        try rig.publish(1, content: "first")
        try rig.awaitPush("mention")
        for name in ["event-store", "push-relay"] {
          // A push of which the end is not written yet would be sent again.
          try rig.push.awaitDelivered()
          let before = try rig.push.roost.worker(name)
          kill(try #require(before.pid), SIGKILL)
          try rig.push.roost.awaitWorker(name, "is another one") { $0.pid != before.pid && $0.state == "ready" }
          try rig.publish(1_059, content: name)
          try rig.awaitPush("message", count: name == "event-store" ? 1 : 2)
        }
        // Behind all that is said twice.
        try rig.zap(by: SecretKey.generate())
        try rig.awaitPush("zap")
        #expect(try rig.pushes(of: "mention").count == 1)
        #expect(try rig.pushes().count == 4)
        #expect(try rig.events().wakes == 4)
      }
    }

    @Test("takes a Nostr key's requests as NIP-98 has them, each once, and no others")
    func requests() throws {
      try NostrWakeRig.run { rig in
        let body = NostrWakeRig.registration()
        func send(_ field: String, _ text: String? = nil, _ method: String = "POST") throws -> PushRig.Answer {
          try rig.push.send(method, "/register", Array((text ?? body).utf8), fields: [field])
        }
        let good = rig.authorization("POST", "/register", body)
        let first = try send(good)
        #expect(first.status == 200, "\(first.text)")
        #expect(try send(good).text == first.text)
        let other = rig.authorization("POST", "/register", body, url: "https://push.example/v1/register")
        #expect(try send(other)["error"] == "invalid_signature")
        #expect(try send(good, body + " ")["error"] == "invalid_signature")
        #expect(try send(rig.authorization("PUT", "/register", body))["error"] == "invalid_signature")
        #expect(try send(rig.authorization("POST", "/register", body, age: 90))["error"] == "expired_timestamp")
        #expect(try send("Authorization: Nostr AAAA")["error"] == "invalid_signature")
        let stranger = try rig.ask("POST", "/register", body, by: SecretKey.generate())
        #expect(stranger.status == 403 && stranger["error"] == "not_allowed", "\(stranger.text)")
        #expect(try rig.ask("POST", "/wake", "{}").status == 401)
        #expect(try rig.ask("DELETE", "/register", #"{"device_id":"phone"}"#).text == #"{"status":"unregistered"}"#)
        // What was answered before does not bring the device back.
        #expect(try send(good).status == 200)
        #expect(try rig.push.status().devices == 0)
        try awaitSoon("nobody is watched for") { try rig.events().state == "idle" }
        #expect(try rig.ask("POST", "/unregister", "{}").status == 200)
        let info = try rig.push.send("GET", "/info")
        #expect(info["nostr_url"] == "http://127.0.0.1:\(rig.push.port)/v1", "\(info.text)")
      }
    }

    @Test("keeps an owner's rules, and wakes by them from then on")
    func rules() throws {
      try NostrWakeRig.run { rig in
        let standard = try rig.ask("GET", "/rules")
        #expect(standard.text.contains(#""mention":true"#) && standard.text.contains(#""reaction":false"#))
        try rig.register()
        let put = try rig.ask("PUT", "/rules", #"{"wake":{"mention":false,"reaction":true},"mute":{"words":["Spam"]}}"#)
        #expect(put.status == 200 && put.text.contains(#""words":["spam"]"#), "\(put.text)")
        #expect(try rig.ask("GET", "/rules").text == put.text)
        #expect(try rig.ask("PUT", "/rules", #"{"wake":{"mentions":false}}"#)["error"] == "invalid_request")
        #expect(try rig.ask("PUT", "/rules", "{}", by: SecretKey.generate()).status == 403)
        let phone = Ed25519SecretKey.generate()
        #expect(try rig.push.signed(phone, "GET", "/rules")["error"] == "invalid_signature")
        try awaitSoon("the rules count") {
          try rig.publish(1)
          return try rig.events().dismissed["off", default: 0] > 0
        }
        try rig.publish(7, content: "spam")
        try rig.awaitDismissed(1, "muted")
        try rig.publish(7, content: "+")
        try rig.awaitPush("reaction")
      }
    }

    @Test("takes no Nostr keys where it does not know its own address, and says why")
    func off() throws {
      try NostrWakeRig.run(["public-url": "\"\""]) { rig in
        let answer = try rig.ask("POST", "/register", NostrWakeRig.registration())
        #expect(answer.status == 401 && answer.text.contains("public-url"), "\(answer.text)")
        #expect(try rig.push.status().events == nil)
      }
    }

    @Test("tells a device that has a key to seal for which event it is, and no one else")
    func sealed() throws {
      try NostrWakeRig.run { rig in
        let secret = X25519.generate()
        let key = Base64URL.text(of: X25519.publicKey(of: secret).bytes)
        try rig.register(more: #","enc_pubkey":"\#(key)""#)
        let note = try rig.publish(1)
        let request = try #require(try rig.push.await(1, at: .apns).first)
        #expect(!"\(request)".contains("mention") && !"\(request)".contains(note.id.description))
        #expect("\(request)".contains("sealed"))
      }
    }
  }
}
