import Contracts
import Cryptography
import Frames
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and what services of Web Push answer")
  struct WebAnswersTests {
    private typealias Fate = AppleAnswersTests.Fate

    /// Nil: it is taken at once.
    private static let answers: [(order: String, fate: Fate?)] = [
      (#"{"status":201}"#, nil), (#"{"status":202}"#, nil), (#"{"status":200,"body":""}"#, nil),
      (#"{"status":201,"headers":{"location":"https://localhost:1/elsewhere"},"body":""}"#, nil),
      (#"{"status":404}"#, .pruned), (#"{"status":410}"#, .pruned),
      (#"{"status":400}"#, .dropped), (#"{"status":413}"#, .dropped),
      (#"{"status":429,"headers":{"retry-after":"1"}}"#, .repeated), (#"{"status":500}"#, .repeated),
      (#"{"status":502,"body":"<html>"}"#, .repeated),
      (#"{"status":503,"headers":{"retry-after":"1"}}"#, .repeated),
      (#"{"status":307,"headers":{"location":"https://localhost:1/inside"}}"#, .repeated),
    ]

    @Test("takes, drops, forgets or repeats as each status wants, and follows nobody elsewhere (cases 41, 49)")
    func eachStatus() throws {
      try PushRig.run { rig in
        let phones = try Self.answers.indices.map { try rig.browser($0) }
        // One after the other: they are all of one service, which must not fail five times in a row.
        for (index, (phone, answer)) in zip(phones, Self.answers).enumerated() {
          try rig.order(.webpush, to: phone.receiver, [answer.order])
          try rig.wake(phone)
          try rig.awaitEnded(UInt64(index + 1))
        }
        let pruned = Self.answers.count { $0.fate == .pruned }
        let web = try rig.awaitPlatform("webpush", "has forgotten \(pruned)") { $0.pruned == pruned }
        #expect(web.state == "ready")
        let repeated = Self.answers.count { $0.fate == .repeated }
        #expect(web.repeated == repeated && web.delivered == repeated + Self.answers.count { $0.fate == nil })
        let owners = try rig.owners()
        for (phone, answer) in zip(phones, Self.answers) {
          let requests = try rig.requests(.webpush, to: phone.receiver)
          #expect(requests.count == (answer.fate == .repeated ? 2 : 1), "\(answer.order)")
          #expect(requests.allSatisfy { "\($0["plaintext"] ?? .null)".contains("noise_connect") })
          let isThere = owners.contains(ZBase32.text(of: phone.key.publicKey.octets))
          #expect(isThere == (answer.fate != .pruned), "\(answer.order)")
        }
      }
    }

    @Test("is refused for its signature by one service: signs anew, forgets nobody, and others never know (case 41)")
    func wrongSignature() throws {
      try PushRig.run { rig in
        let phone = try rig.browser(0)
        try rig.wake(phone)
        try rig.awaitPlatform("webpush", "has taken the first") { $0.delivered == 1 }
        // Half a day later the signature has ended, for the service.
        try rig.fakes.advanceClock(milliseconds: 13 * 3_600_000)
        try rig.wake(phone, type: "second")
        try rig.awaitLog("Web Push refuses our pushes")
        // Anybody can have a service that refuses everything: it puts nobody else's platform away.
        #expect(try rig.platform("webpush").state == "ready")
        try rig.fakes.advanceClock(milliseconds: -13 * 3_600_000)
        let apple = try rig.phone()
        try rig.wake(apple)
        try rig.awaitPlatform("ios", "has taken its own") { $0.delivered == 1 }
        let web = try rig.awaitPlatform("webpush", "has taken the second") { $0.delivered == 2 }
        #expect(web.state == "ready" && web.pruned == 0)
        let signatures = try rig.requests(.webpush, to: phone.receiver).map {
          "\($0["headers"]?["authorization"] ?? .null)"
        }
        #expect(signatures.count == 3 && signatures[0] == signatures[1] && signatures[1] != signatures[2])
      }
    }

    @Test("is away at one service of Web Push, and there for another (case 47)")
    func deadService() throws {
      try PushRig.run { rig in
        let subscription = try #require(rig.fakes.subscriptions.first)
        let (owner, port) = (Ed25519SecretKey.generate(), try PlainClient.freePort())
        let dead = (0..<5).map { number in
          PushRig.Phone(
            key: owner, platform: "webpush",
            token:
              #"{"endpoint":"https://localhost:\#(port)/push/\#(number)","p256dh":"\#(subscription.p256dh)","#
              + #""auth":"\#(subscription.auth)"}"#,
            device: "browser-\(number)", receiver: "")
        }
        for phone in dead { #expect(try rig.renew(phone).status == 200) }
        let good = try rig.browser(1)
        try rig.wake(dead[0])
        try rig.wake(good)
        try rig.awaitPlatform("webpush", "has taken the good one") { $0.delivered == 1 }
        // Whoever registers an endpoint that leads nowhere puts nobody else's platform away.
        try rig.awaitLog("Web Push is in trouble")
        #expect(try rig.platform("webpush").state == "ready")
        #expect(try rig.status().devices == 6)
      }
    }
  }
}
