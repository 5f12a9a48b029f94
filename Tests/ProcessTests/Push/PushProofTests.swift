import Contracts
import Cryptography
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and a token that was another's")
  struct PushProofTests {
    private static func body(_ platform: String, _ token: String, _ challenge: String? = nil) -> String {
      let more = challenge.map { #","challenge":"\#($0)""# } ?? ""
      return #"{"platform":"\#(platform)","token":"\#(token)","device_id":"phone"\#(more)}"#
    }

    /// The codes that a token was sent, in their order.
    private static func codes(_ rig: PushRig, _ platform: String, _ token: String) throws -> [String] {
      try rig.fakes.requests(to: PushRig.service(platform)).filter { $0.text("receiver") == token }.compactMap {
        let payload = $0.text("payload")
        guard payload.contains(#""wake_type":"registration_challenge""#),
          let start = payload.firstRange(of: #""payload":""#)?.upperBound
        else { return nil }
        let text = payload[start...].prefix { $0 != "\"" }
        return Base64.decode(text).map { String(decoding: $0, as: UTF8.self) }
      }
    }

    @Test(
      "moves it to who sends back the code that came by push, whatever pushes may show",
      arguments: ["clear", "none"], ["ios", "android"])
    func proof(content: String, platform: String) throws {
      try PushRig.run(["content": "\"\(content)\""]) { rig in
        let (first, second) = (Ed25519SecretKey.generate(), Ed25519SecretKey.generate())
        let token = platform == "ios" ? PushRig.appleToken() : PushRig.googleToken()
        #expect(try rig.signed(first, "POST", "/register", Self.body(platform, token)).status == 200)
        let claimed = try rig.signed(second, "POST", "/register", Self.body(platform, token))
        #expect(claimed["verification"] == "challenge_sent", "\(claimed.text)")
        try awaitSoon("the code has come") { try Self.codes(rig, platform, token).count == 1 }
        let code = try Self.codes(rig, platform, token)[0]
        let moved = try rig.signed(second, "POST", "/register", Self.body(platform, token, code))
        #expect(moved.status == 200 && moved["verification"].isEmpty, "\(moved.text)")
        #expect(try rig.status().devices == 1)
        #expect(try rig.wake(second, by: second).status == 200)
        try rig.await(2, at: PushRig.service(platform))
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: PushRig.service(platform)).count == 2)
      }
    }

    @Test("leaves a device its own token where it is claimed with a wrong code, and the code its worth under its name")
    func wrong() throws {
      try PushRig.run { rig in
        let (first, second) = (Ed25519SecretKey.generate(), Ed25519SecretKey.generate())
        let (token, own) = (PushRig.appleToken(), PushRig.appleToken())
        #expect(try rig.signed(first, "POST", "/register", Self.body("ios", token)).status == 200)
        #expect(try rig.register(second, "ios", own, device: "tablet").status == 200)
        let bad = try rig.register(second, "ios", token, device: "tablet", more: #","challenge":"bad""#)
        #expect(bad.status == 400 && bad["error"] == "wrong_challenge", "\(bad.text)")
        #expect(try rig.wake(second, by: second).status == 200)
        #expect(try rig.await(1, at: .apns).map { $0.text("receiver") } == [own])

        #expect(try rig.signed(second, "POST", "/register", Self.body("ios", token))["verification"] != "")
        try awaitSoon("the code has come") { try Self.codes(rig, "ios", token).count == 1 }
        let code = try Self.codes(rig, "ios", token)[0]
        let nameless = try rig.signed(
          second, "POST", "/register", #"{"platform":"ios","token":"\#(token)","challenge":"\#(code)"}"#)
        #expect(nameless.status == 400 && nameless["error"] == "wrong_challenge", "\(nameless.text)")
        let moved = try rig.signed(second, "POST", "/register", Self.body("ios", token, code))
        #expect(moved.status == 200 && moved["verification"].isEmpty, "\(moved.text)")
        #expect(try rig.status().devices == 2)
      }
    }

    @Test("sends who claims it in another's minute his own code in the next, with the same answer, and nobody two")
    func minutes() throws {
      let faults = try Faults()
      try PushRig.runWatched([:], faults) { rig in
        defer { faults.end() }
        let owners = (0..<3).map { _ in Ed25519SecretKey.generate() }
        let token = PushRig.appleToken()
        var shapes: Set<String> = []
        func register(_ owner: Ed25519SecretKey, ahead: Int64 = 0, _ code: String? = nil) throws -> PushRig.Answer {
          try rig.insistSigned(
            owner, "POST", "/register", Self.body("ios", token, code), at: WallClock.seconds + ahead)
        }
        #expect(try register(owners[0]).status == 200)
        for owner in [owners[1], owners[2], owners[1], owners[2]] {
          let answer = try register(owner)
          #expect(answer["verification"] == "challenge_sent", "\(answer.text)")
          let isOwn = owner.publicKey == owners[1].publicKey
          shapes.insert("\(isOwn) \(answer["relay_id"])")
        }
        #expect(shapes.count == 2, "each has one device")
        try awaitSoon("the first code has come") { try Self.codes(rig, "ios", token).count == 1 }
        faults.setClock(ahead: 61)
        try awaitSoon("the second code has come") { try Self.codes(rig, "ios", token).count == 2 }
        let codes = try Self.codes(rig, "ios", token)
        #expect(Set(codes).count == 2)
        let moved = try register(owners[2], ahead: 61, codes[1])
        #expect(moved.status == 200 && moved["verification"].isEmpty, "\(moved.text)")
        #expect(try rig.status().devices == 1)
      }
    }
  }
}
