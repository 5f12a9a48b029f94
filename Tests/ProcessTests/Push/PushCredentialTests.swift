import Contracts
import Cryptography
import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  @Suite("What a push relay shows to platforms")
  struct PushCredentialTests {
    private let phone = Ed25519SecretKey.generate()
    /// A thousand pushes: ten devices, a hundred wakes, each of a type of its own so that none are one push.
    private let types = (0..<100).map { "type_\($0)" }

    @Test(
      "is one token of Apple's for a thousand pushes and for the next process, another after 50 minutes (case 11)"
    )
    func apple() throws {
      try PushRig.run(ahead: 0) { rig, clock in
        try registerTen(rig, "ios", at: clock.now)
        try clock.send(to: phone, types: types)
        #expect(try settled(1_000, rig, .apns).allSatisfy { $0["status"] == .integer(200) })
        #expect(try Self.tokens(rig, .apns).count == 1)
        #expect(try rig.fakes.counters()["handshakes"]?["apns"] == .integer(1), "one connection for all")
        try clock.restart(advancing: 40 * 60)
        try clock.send(to: phone, types: ["later"])
        _ = try settled(1_010, rig, .apns)
        #expect(try Self.tokens(rig, .apns).count == 1, "40 minutes old, and good")
        try clock.restart(advancing: 11 * 60)
        try clock.send(to: phone, types: ["latest"])
        let all = try settled(1_020, rig, .apns)
        #expect(all.filter { $0["status"] != .integer(200) }.isEmpty, "\(all.filter { $0["status"] != .integer(200) })")
        let tokens = try Self.tokens(rig, .apns)
        #expect(tokens.count == 2, "51 minutes old, and replaced")
        #expect(try rig.fakes.counters()["providerTokens"] == .integer(2))
      }
    }

    @Test("is one token of Google's for a thousand pushes, asked for once (case 12)")
    func google() throws {
      try PushRig.run(ahead: 0) { rig, clock in
        try registerTen(rig, "android", at: clock.now)
        try clock.send(to: phone, types: types)
        #expect(try settled(1_000, rig, .fcm).allSatisfy { $0["status"] == .integer(200) })
        #expect(try rig.fakes.counters()["tokenExchanges"] == .integer(1))
        #expect(try Self.tokens(rig, .fcm).count == 1)
      }
    }

    @Test("is another token of Google's a minute before the old one ends: no push is refused for it (case 12)")
    func googleInTime() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let phone = try rig.phone("android")
        func send(_ type: String) throws {
          let before = try rig.count("requests", "fcm")
          try rig.wake(phone, type: type)
          try awaitSoon("\(type) is pushed") { try rig.count("requests", "fcm") > before }
        }
        // Good for 65 seconds, so another is asked for after 5; that one is good for an hour.
        try rig.fakes.order(#"{"service":"oauth","accessSeconds":65}"#)
        try send("first")
        try rig.fakes.order(#"{"service":"oauth","accessSeconds":3599}"#)
        var number = 0
        try awaitSoon("another token is used while the first is good") {
          number += 1
          try send("type_\(number)")
          usleep(100_000)
          return try Self.tokens(rig, .fcm).count == 2
        }
        // The first has ended by now.
        try rig.fakes.advanceClock(milliseconds: 65_000)
        try send("last")
        let pushes = try rig.fakes.requests(to: .fcm)
        let refused = pushes.filter { $0["status"] != .integer(200) }
        #expect(refused.isEmpty && pushes.count == number + 2, "\(refused)")
        #expect(try Self.tokens(rig, .fcm).count == 2 && rig.count("tokenExchanges") == 2)
      }
    }

    @Test("keeps a wake until its platform is back, and forgets it when it has come to be worth nothing (case 13)")
    func absence() throws {
      let keys = PushRig.unlimited.merging(["wake.brief.time-to-live": "\"2s\""]) { $1 }
      try PushRig.run(keys) { rig in
        let body = #"{"platform":"ios","token":"\#(PushRig.appleToken())"}"#
        #expect(try rig.signed(phone, "POST", "/register", body).status == 200)
        try rig.fakes.order(#"{"service":"apns","mode":"reset"}"#)
        let kept = try rig.wake(phone, by: phone, type: "payment_received")
        let brief = try rig.wake(phone, by: phone, type: "brief")
        #expect(kept.status == 200 && brief.status == 200)
        try awaitSoon("the brief one is worth nothing any more") { try rig.status().ended["expired"] == 1 }
        try awaitState("expired", of: brief, rig)
        try awaitState("queued", of: kept, rig)
        let before = try rig.fakes.requests(to: .apns).count
        try rig.fakes.order(#"{"service":"apns","mode":"normal"}"#)
        try awaitSoon("the other one is brought", within: 60) { try rig.status().ended["delivered"] == 1 }
        try awaitState("sent", of: kept, rig)
        let after = try rig.fakes.requests(to: .apns).dropFirst(before)
        let taken = after.filter { $0["status"] == .integer(200) }
        #expect(taken.count == 1 && taken.allSatisfy { $0.text("payload").contains(kept["wake_id"]) }, "\(taken)")
      }
    }

    /// What has ended is written down a moment later.
    private func awaitState(_ state: String, of wake: PushRig.Answer, _ rig: PushRig) throws {
      var last = ""
      try awaitSoon("\(wake["wake_id"]) is \(state)") {
        last = try rig.signed(phone, "GET", "/wake/\(wake["wake_id"])").text
        return last == #"{"status":"\#(state)"}"#
      }
    }

    private func registerTen(_ rig: PushRig, _ platform: String, at time: Int64) throws {
      for number in 0..<10 {
        let token = platform == "ios" ? PushRig.appleToken() : PushRig.googleToken()
        let body = #"{"platform":"\#(platform)","token":"\#(token)","device_id":"\#(number)"}"#
        #expect(try rig.signed(phone, "POST", "/register", body, at: time).status == 200)
      }
    }

    private func settled(_ count: Int, _ rig: PushRig, _ service: PushFakes.Service) throws -> [JSONValue] {
      var last: [JSONValue] = []
      try awaitSoon("\(count) pushes", within: 60) {
        guard case .integer(let seen)? = try rig.fakes.counters()["requests"]?[service.rawValue], seen >= Int64(count)
        else { return false }
        last = try rig.fakes.requests(to: service)
        return true
      }
      #expect(last.count == count, "each push once")
      return last
    }

    private static func tokens(_ rig: PushRig, _ service: PushFakes.Service) throws -> Set<String> {
      Set(try rig.fakes.requests(to: service).map { $0["headers"]?.text("authorization") ?? "" })
    }
  }
}
