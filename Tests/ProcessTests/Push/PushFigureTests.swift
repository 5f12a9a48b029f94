import Contracts
import Cryptography
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay's figures")
  struct PushFigureTests {
    private static let platforms = ["ios", "android", "webpush"]

    @Test("What status, health and ready say after a run is what the platforms have written down (case 57)")
    func figures() throws {
      try PushRig.runWatched { rig in
        let script = try Script(rig)
        try script.run()
        try rig.awaitDelivered()
        try awaitSoon("all have ended") { try rig.status().ended.values.reduce(0, +) == UInt64(script.accepted) }
        let status = try rig.status()
        #expect(status.accepted == UInt64(script.accepted) && status.waiting == 0)
        #expect(status.ended == ["delivered": 4, "coalesced": 1, "undeliverable": 1], "\(status.ended)")
        #expect(
          status.refused == ["invalid_signature": 2, "expired_timestamp": 1, "not_found": 1, "nonce_reused": 1],
          "\(status.refused)")
        #expect(status.dropped == 1 && status.devices == 3 && status.unreadable == 0 && status.underOlderKeys == 0)
        for platform in status.platforms {
          let pushes = try rig.fakes.requests(to: PushRig.service(platform.name))
          let taken = pushes.count { $0["status"] == .integer(platform.name == "webpush" ? 201 : 200) }
          let dead = pushes.count { $0["status"] == .integer(410) }
          #expect(platform.delivered == UInt64(taken), "\(platform)")
          #expect(platform.failed == UInt64(dead) && platform.pruned == UInt64(dead), "\(platform)")
          #expect(platform.repeated == UInt64(pushes.count - taken - dead), "\(platform)")
          #expect(platform.state == "ready" && platform.reason == nil && platform.inFlight == 0, "\(platform)")
        }
        #expect(try rig.insist("GET", "/health").text == #"{"status":"ok"}"#)
        let ready = try rig.insist("GET", "/ready")
        #expect(ready.status == 200)
        for platform in Self.platforms { #expect(ready.json["platforms"]?[platform] == .string("ok")) }
      }
    }

    @Test("A platform that refuses is told by ready and status while it does, and no longer (case 57)")
    func trouble() throws {
      try PushRig.runWatched { rig in
        let (phone, sender) = (try rig.household(), Ed25519SecretKey.generate())
        try rig.fakes.order(#"{"service":"apns","answers":[{"status":403,"reason":"BadTopic"}]}"#)
        let wake = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender))
        try awaitSoon("it is told") {
          try rig.insist("GET", "/ready").json["platforms"]?["ios"] == .string("BadTopic")
        }
        #expect(try rig.insist("GET", "/ready").status == 200, "others can be reached")
        #expect(try rig.status().platforms.first { $0.name == "ios" }?.state == "away")
        // It is tried again, and taken.
        try rig.awaitDelivered()
        #expect(try rig.pushes(of: wake["wake_id"], on: "ios").map { $0["status"] } == [.integer(403), .integer(200)])
        #expect(try rig.insist("GET", "/ready").json["platforms"]?["ios"] == .string("ok"))
        let apple = try #require(try rig.status().platforms.first { $0.name == "ios" })
        #expect(apple.state == "ready" && apple.delivered == 1 && apple.repeated == 1)
      }
    }

    /// Some of everything that is counted.
    private struct Script {
      let rig: PushRig
      let phone: PushRig.Household
      let friend = Ed25519SecretKey.generate()
      /// Wakes that go into the queue.
      let accepted = 6

      init(_ rig: PushRig) throws {
        self.rig = rig
        phone = try rig.household()
      }

      func run() throws {
        try wakes()
        try refusals()
      }

      private func wake(_ type: String, to other: Ed25519SecretKey? = nil, by sender: Ed25519SecretKey? = nil) throws {
        let sender = sender ?? friend
        let answer = try rig.insistSigned(
          sender, "POST", "/wake", PushRig.body(to: other ?? phone.key, by: sender, type: type))
        #expect(answer.status == 200, "\(type): \(answer.text)")
      }

      private func wakes() throws {
        try wake("plain")
        try rig.awaitDelivered()
        // One that a platform takes the second time.
        try rig.fakes.order(#"{"service":"fcm","answers":[{"status":503,"reason":"UNAVAILABLE"}]}"#)
        try wake("again")
        try rig.awaitDelivered()
        // Two that are one push: the first is under way when the second comes.
        try rig.fakes.order(#"{"service":"apns","answers":[{"status":200,"delayMilliseconds":300}]}"#)
        try wake("twice")
        try wake("twice")
        try rig.awaitDelivered()
        // One to a token that is dead.
        let (gone, token) = (PushRig.Household(), PushRig.appleToken())
        _ = try rig.insistSigned(gone.key, "POST", "/register", gone.body("gone", "ios", "\"\(token)\""))
        let later = (WallClock.seconds + 60) * 1_000
        try rig.fakes.order(
          #"{"service":"apns","token":"\#(token)","answers":["#
            + #"{"status":410,"reason":"Unregistered","timestamp":\#(later)}]}"#)
        try wake("dead", to: gone.key)
        try awaitSoon("it is forgotten") { try rig.status().devices == 3 }
      }

      private func refusals() throws {
        let blocked = Ed25519SecretKey.generate()
        let name = ZBase32.text(of: blocked.publicKey.octets)
        #expect(
          try rig.insistSigned(phone.key, "PUT", "/contacts", #"{"allow":[],"block":["\#(name)"],"policy":"open"}"#)
            .status == 200)
        try wake("blocked", by: blocked)
        let body = Array(PushRig.body(to: phone.key, by: friend, type: "refused").utf8)
        let wrong = PushRig.signature(friend, "POST", "/register", body)
        for _ in 0..<2 { #expect(try rig.insist("POST", "/wake", body, fields: wrong).status == 401) }
        let late = PushRig.signature(friend, "POST", "/wake", body, at: WallClock.seconds - 600)
        #expect(try rig.insist("POST", "/wake", body, fields: late)["error"] == "expired_timestamp")
        #expect(try rig.insist("GET", "/nothing").status == 404)
        // Somebody else: a stranger has ten pushes an hour.
        let (other, nonce) = (Ed25519SecretKey.generate(), RandomBytes.make(16))
        for (type, status) in [("once", 200), ("other", 409)] {
          let body = PushRig.body(to: phone.key, by: other, type: type, nonce: nonce)
          #expect(try rig.insistSigned(other, "POST", "/wake", body).status == status)
        }
      }
    }
  }
}
