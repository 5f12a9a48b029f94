import Contracts
import Cryptography
import Frames
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and its token for APNs")
  struct AppleTokenTests {
    /// Between the twenty minutes before which Apple takes no other, and the fifty after which the relay makes one.
    private static let age: Int64 = 25 * 60

    /// The tokens that came, each once, of requests after some.
    private func tokens(_ rig: PushRig, after count: Int) throws -> Set<String> {
      Set(try rig.fakes.requests(to: .apns).dropFirst(count).map { "\($0["headers"]?["authorization"] ?? .null)" })
    }

    @Test(
      "makes one other when a hundred pushes come back with the old one (cases 41, 44)",
      arguments: ["ExpiredProviderToken", "InvalidProviderToken"])
    func hundredRefusals(reason: String) async throws {
      try await PushRig.runAged(bySeconds: Self.age) { rig in
        let phones = try (0..<10).map { _ -> PushRig.Phone in
          let owner = Ed25519SecretKey.generate()
          return try (0..<10).map { try rig.phone(owner: owner, device: "phone-\($0)") }[0]
        }
        try rig.wake(phones[0])
        try rig.awaitPlatform("ios", "has taken the first") { $0.delivered == 10 }
        try rig.mood(.apns, "hold")
        for phone in phones { try rig.wake(phone, type: "many") }
        try rig.awaitHeld(100, .apns)
        // An hour and a bit since the old token was made; or enough for another, and a refusal that is an order.
        let isExpiry = reason == "ExpiredProviderToken"
        try rig.fakes.advanceClock(milliseconds: (isExpiry ? 36 : 21) * 60_000)
        if !isExpiry {
          let refusal = #"{"status":403,"reason":"InvalidProviderToken"}"#
          try rig.order(.apns, to: "*", Array(repeating: refusal, count: 100))
        }
        try rig.fakes.order(#"{"service":"apns","release":true}"#)
        let apple = try rig.awaitPlatform("ios", "has taken all") { $0.delivered == 110 }
        #expect(apple.state == "ready" && apple.pruned == 0 && apple.failed == 0)
        let requests = try rig.fakes.requests(to: .apns)
        #expect(requests.count { $0["reason"] == .string(reason) } == 100)
        #expect(!requests.contains { $0["reason"] == .string("TooManyProviderTokenUpdates") })
        #expect(try tokens(rig, after: 1).count == 2)
        // One at the very first, before it was made old, and one now.
        try rig.awaitLog("made a token for APNs", times: 2)
      }
    }

    @Test("makes no other for one that is young and refused: its wakes wait (cases 41, 44)")
    func youngRefusal() throws {
      try PushRig.run { rig in
        let phones = try (0..<3).map { _ in try rig.phone() }
        try rig.wake(phones[0])
        try rig.awaitEnded(1)
        try rig.order(.apns, to: phones[1].receiver, [#"{"status":403,"reason":"ExpiredProviderToken"}"#])
        try rig.wake(phones[1])
        try rig.awaitPlatform("ios", "has tried again") { $0.repeated >= 1 }
        try rig.wake(phones[2])
        try awaitSoon("two wait") { try rig.status().waiting == 2 }
        let apple = try rig.platform("ios")
        #expect(apple.state == "away" && apple.reason == "ExpiredProviderToken", "\(apple)")
        #expect(try rig.status().devices == 3)
        #expect(try rig.fakes.requests(to: .apns).count == 2)
        #expect(try tokens(rig, after: 0).count == 1)
        try rig.awaitLog("made a token for APNs", times: 1)
      }
    }

    @Test("makes no other after TooManyProviderTokenUpdates, but leaves APNs alone and comes back with it (case 44)")
    func tooManyUpdates() async throws {
      try await PushRig.runAged(bySeconds: Self.age) { rig in
        let phone = try rig.phone()
        try rig.order(
          .apns, to: phone.receiver,
          [
            #"{"status":429,"reason":"TooManyProviderTokenUpdates"}"#, #"{"status":200}"#,
            #"{"status":403,"reason":"ExpiredProviderToken"}"#,
          ])
        try rig.wake(phone)
        try rig.awaitPlatform("ios", "is held") { $0.state == "away" && $0.reason == "TooManyProviderTokenUpdates" }
        try rig.awaitPlatform("ios", "has taken it at last") { $0.delivered == 1 && $0.state == "ready" }
        let times = try rig.requests(.apns, to: phone.receiver).compactMap { request -> Int64? in
          if case .integer(let time) = request["milliseconds"] { time } else { nil }
        }
        #expect(times.count == 2 && times[1] - times[0] >= 2_400, "half of the first pause at least: \(times)")
        // Old enough by itself, the token may still not be followed by another.
        try rig.wake(phone, type: "later")
        try rig.awaitPlatform("ios", "has tried again") { $0.repeated >= 2 }
        #expect(try tokens(rig, after: 1).count == 1)
        try rig.awaitLog("made a token for APNs", times: 1)
      }
    }

    @Test("is told that its token is refused, says so everywhere, and goes on by itself when it is taken (case 44)")
    func invalidToken() throws {
      try PushRig.run { rig in
        let phone = try rig.phone()
        let refusal = #"{"status":403,"reason":"InvalidProviderToken"}"#
        try rig.order(.apns, to: "*", [refusal, refusal])
        try rig.wake(phone, type: "lasting")
        let held = try rig.awaitPlatform("ios", "is held") { $0.state == "away" && $0.reason == "InvalidProviderToken" }
        #expect(held.advice?.contains("of one team") == true && held.againSeconds != nil, "\(held)")
        try rig.awaitLog("refuses our pushes")
        try rig.awaitLog("are apns-key-id, apns-team-id and the key in apns-key-file of one team?")
        let ready = try rig.send("GET", "/ready")
        #expect(ready.json["platforms"]?["ios"] == .string("InvalidProviderToken"), "\(ready.text)")
        try rig.awaitPlatform("ios", "has taken it") { $0.delivered == 1 && $0.state == "ready" && $0.reason == nil }
        // The same token all the time: Apple would take no other yet.
        #expect(try rig.requests(.apns, to: phone.receiver).count == 3)
        try rig.awaitLog("made a token for APNs", times: 1)
      }
    }

    @Test("makes another at once for another team: what is mended in the settings need not wait (case 44)")
    func otherTeam() throws {
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      let wrong = try PushRig.layout(
        fakes, port: port, directory: directory.path, ["apns-team-id": "\"WRONGTEAM1\""])
      try withRoost(wrong) { roost in
        let first = try PushRig(roost, fakes, port)
        let phone = try first.phone()
        try first.wake(phone, type: "lasting")
        try awaitSoon("it is refused") { try first.requests(.apns, to: phone.receiver).count == 1 }
        try first.awaitPlatform("ios", "has tried again") { $0.repeated >= 1 }
        #expect(try first.count("providerTokens") == 0)
        try roost.killDaemonAndWorkers()
        try roost.rewrite { $0.workers[0].keys["apns-team-id"] = "\"\(fakes.apns.team)\"" }
        try roost.startAgain()
        try roost.awaitReady()
        let second = try PushRig(roost, fakes, port)
        try second.awaitPlatform("ios", "has taken it") { $0.delivered == 1 }
        try second.awaitLog("made a token for APNs", times: 2)
      }
    }
  }
}
