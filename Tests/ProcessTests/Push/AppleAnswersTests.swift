import Contracts
import Cryptography
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and the reasons of APNs")
  struct AppleAnswersTests {
    /// What becomes of a push that is answered so.
    enum Fate {
      /// It ends, and the device stays.
      case dropped
      /// It ends, and so does the device.
      case pruned
      /// It is sent again, with the same `apns-id`.
      case repeated
    }

    struct Answer {
      var status: Int
      /// Nil: an empty body.
      var reason: String?
      var fate: Fate
      var more = ""

      init(_ status: Int, _ reason: String?, _ fate: Fate, _ more: String = "") {
        (self.status, self.reason, self.fate, self.more) = (status, reason, fate, more)
      }

      /// As the fakes are told it.
      var order: String {
        let body = reason.map { #""reason":"\#($0)""# } ?? #""body":"""#
        return #"{"status":\#(status),\#(body)\#(more)}"#
      }
    }

    /// Apple's reasons that concern a message, a token or a moment, and answers that it never describes. With the two
    /// below of a token of the relay's own, and those that concern the relay as a whole, they are all 32.
    private static let answers: [Answer] = [
      .init(400, "BadCollapseId", .dropped), .init(400, "BadExpirationDate", .dropped),
      .init(400, "BadMessageId", .dropped), .init(400, "BadPriority", .dropped),
      .init(400, "DuplicateHeaders", .dropped), .init(400, "InvalidPushType", .dropped),
      .init(400, "MissingDeviceToken", .dropped), .init(400, "PayloadEmpty", .dropped),
      .init(404, "BadPath", .dropped), .init(405, "MethodNotAllowed", .dropped),
      .init(413, "PayloadTooLarge", .dropped),
      .init(400, "BadDeviceToken", .pruned), .init(410, "ExpiredToken", .pruned, #","timestamp":4000000000000"#),
      .init(410, "Unregistered", .pruned, #","timestamp":4000000000000"#),
      .init(400, "IdleTimeout", .repeated), .init(503, "Shutdown", .repeated),
      .init(429, "TooManyRequests", .repeated, #","headers":{"retry-after":"1"}"#),
      .init(500, "InternalServerError", .repeated), .init(503, "ServiceUnavailable", .repeated),
      // What nobody has ever seen.
      .init(400, "NeverHeardOf", .dropped), .init(400, nil, .dropped), .init(418, nil, .dropped),
      .init(410, nil, .pruned), .init(503, "NeverHeardOf", .repeated), .init(500, nil, .repeated),
      .init(429, nil, .repeated, #","headers":{"retry-after":"1"}"#),
    ]

    private static let relayFaults: [(Int, String?)] = [
      (400, "BadTopic"), (400, "DeviceTokenNotForTopic"), (400, "MissingTopic"), (400, "TopicDisallowed"),
      (403, "BadCertificate"), (403, "BadCertificateEnvironment"), (403, "Forbidden"), (403, "MissingProviderToken"),
      (403, "UnrelatedKeyIdInToken"), (403, "BadEnvironmentKeyIdInToken"), (429, "TooManyProviderTokenUpdates"),
      (403, nil),
    ]

    /// Those that concern the token of the relay's own: `AppleTokenTests`.
    private static let tokenFaults = ["ExpiredProviderToken", "InvalidProviderToken"]

    @Test("drops, forgets or repeats as each reason wants, and takes no fault for another (case 41)")
    func eachReason() throws {
      let reasons = Self.answers.compactMap(\.reason) + Self.relayFaults.compactMap(\.1) + Self.tokenFaults
      #expect(Set(reasons).subtracting(["NeverHeardOf"]).count == 32)
      try PushRig.run { rig in
        let good = try rig.phone()
        // A token is dead for being refused only while others are not.
        try rig.wake(good)
        try rig.awaitEnded(1)
        let phones = try Self.answers.map { _ in try rig.phone() }
        for (phone, answer) in zip(phones, Self.answers) {
          try rig.order(.apns, to: phone.receiver, [answer.order])
          try rig.wake(phone)
        }
        let count = UInt64(phones.count)
        try rig.awaitEnded(1 + count)
        try rig.wake(good, type: "again")
        try rig.awaitEnded(2 + count)
        let pruned = Self.answers.count { $0.fate == .pruned }
        let apple = try rig.awaitPlatform("ios", "has forgotten \(pruned)") { $0.pruned == pruned }
        #expect(apple.state == "ready", "a message that is not understood is no trouble of APNs: \(apple)")
        let dropped = Self.answers.count { $0.fate == .dropped }
        let repeated = Self.answers.count { $0.fate == .repeated }
        #expect(apple.delivered == 2 + repeated && apple.repeated == repeated)
        #expect(try rig.status().ended["undeliverable"] == UInt64(pruned + dropped))
        let owners = try rig.owners()
        for (phone, answer) in zip(phones, Self.answers) {
          try expect(rig, phone, answer, isThere: owners.contains(ZBase32.text(of: phone.key.publicKey.octets)))
        }
        #expect(try rig.count("providerTokens") == 1)
        #expect(try rig.count("connections", "apns") == 1)
      }
    }

    private func expect(_ rig: PushRig, _ phone: PushRig.Phone, _ answer: Answer, isThere: Bool) throws {
      let requests = try rig.requests(.apns, to: phone.receiver)
      let name = "\(answer.status) \(answer.reason ?? "without a reason")"
      #expect(isThere == (answer.fate != .pruned), "\(name)")
      #expect(requests.count == (answer.fate == .repeated ? 2 : 1), "\(name)")
      #expect(Set(requests.map { "\($0["headers"]?["apns-id"] ?? .null)" }).count == 1, "\(name)")
      if answer.fate == .dropped {
        try rig.awaitLog(answer.reason ?? "status-\(answer.status)")
        try rig.awaitLog("does not understand a push")
      }
    }

    @Test("leaves APNs alone, forgets nobody and makes no token for what is the relay's own fault (cases 41, 44)")
    func relayFaults() throws {
      try PushRig.run { rig in
        let phones = try Self.relayFaults.map { _ in try rig.phone() }
        for (phone, (status, reason)) in zip(phones, Self.relayFaults) {
          // What is refused from the beginning could be the token's own fault.
          try rig.wake(phone, type: "before")
          try awaitSoon("it goes through") { try rig.requests(.apns, to: phone.receiver).count == 1 }
          try rig.awaitNothingQueued()
          try rig.order(.apns, to: phone.receiver, [Answer(status, reason, .repeated).order])
          try rig.wake(phone)
          let word = reason ?? "status-\(status)"
          try rig.awaitPlatform("ios", "is held for \(word)") { $0.state == "away" && $0.reason == word }
          try rig.awaitLog("refuses our pushes")
          try rig.awaitLog(word)
          // The next process knows of no trouble, and brings what the last one could not.
          try rig.replaceWorker()
          try rig.awaitPlatform("ios", "has taken it after \(word)") { $0.delivered == 1 }
          try rig.awaitNothingQueued()
          let requests = try rig.requests(.apns, to: phone.receiver)
          #expect(requests.count == 3, "\(word)")
          #expect(Set(requests.dropFirst().map { "\($0["headers"]?["apns-id"] ?? .null)" }).count == 1, "\(word)")
        }
        #expect(try rig.status().devices == phones.count)
        #expect(try rig.count("providerTokens") == 1)
        try rig.awaitLog("made a token for APNs", times: 1)
      }
    }

    @Test("is not held for everybody by tokens of another app once a push has gone through")
    func strangersTokens() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let known = try rig.phone()
        try rig.wake(known, type: "before")
        try rig.awaitPlatform("ios", "works") { $0.delivered == 1 }
        let foreign = try (0..<8).map { _ in try rig.phone() }
        let refusal = Answer(400, "DeviceTokenNotForTopic", .repeated).order
        for phone in foreign { try rig.order(.apns, to: phone.receiver, Array(repeating: refusal, count: 64)) }
        for phone in foreign { try rig.wake(phone) }
        for phone in foreign {
          try awaitSoon("each is refused") { try !rig.requests(.apns, to: phone.receiver).isEmpty }
        }
        let new = try rig.phone()
        for phone in [known, new] { try rig.wake(phone) }
        try rig.awaitPlatform("ios", "has taken both") { $0.delivered == 3 && $0.state == "ready" }
      }
    }

    @Test("is refused by a whole environment: holds, says so, and forgets nobody; then goes on (case 43)")
    func wrongEnvironment() throws {
      try PushRig.run { rig in
        let phones = try (0..<5).map { _ in try rig.phone() }
        for phone in phones { try rig.wake(phone, type: "before") }
        try rig.awaitEnded(5)
        for phone in phones {
          try rig.order(.apns, to: phone.receiver, [#"{"status":400,"reason":"BadDeviceToken"}"#])
        }
        for phone in phones { try rig.wake(phone) }
        try rig.awaitPlatform("ios", "is held") { $0.state == "away" && $0.reason == "BadDeviceToken" }
        try rig.awaitLog("refuses every token", times: 1)
        #expect(try rig.status().devices == 5)
        // Somebody mends it.
        try rig.wake(phones[0], type: "later")
        let apple = try rig.awaitPlatform("ios", "works again") { $0.state == "ready" }
        #expect(apple.pruned == 0)
        #expect(try rig.status().devices == 5)
      }
    }

    @Test("lets no made-up tokens hold anybody's wakes back for longer than until the first that is none (case 43)")
    func bogusTokens() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let bogus = try (0..<6).map { _ in try rig.phone() }
        for phone in bogus {
          try rig.order(
            .apns, to: phone.receiver, Array(repeating: #"{"status":400,"reason":"BadDeviceToken"}"#, count: 9))
        }
        for type in ["one", "two"] { for phone in bogus { try rig.wake(phone, type: type) } }
        try rig.awaitPlatform("ios", "is in doubt") { $0.state == "away" && $0.reason == "BadDeviceToken" }
        let good = try rig.phone()
        try rig.wake(good)
        try rig.awaitPlatform("ios", "has taken it") { $0.delivered == 1 && $0.state == "ready" }
        try rig.awaitEnded(13)
        try rig.awaitLog("refuses every token", times: 1)
        #expect(try rig.status().devices == 7)
      }
    }

    @Test("lets no made-up tokens hold anybody back after a restart, when a push had gone through before it (case 43)")
    func bogusAfterRestart() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        try rig.wake(try rig.phone())
        try rig.awaitPlatform("ios", "has taken one") { $0.delivered == 1 }
        try awaitSoon("that is written down") {
          try rig.column("SELECT count(*) FROM credential WHERE name = 'proved ios'") == [1]
        }
        try rig.awaitNothingQueued()
        try rig.replaceWorker()
        let bogus = try (0..<8).map { _ in try rig.phone() }
        for phone in bogus {
          try rig.order(.apns, to: phone.receiver, [#"{"status":400,"reason":"BadDeviceToken"}"#])
        }
        for phone in bogus { try rig.wake(phone) }
        try rig.awaitEnded(8)
        #expect(try rig.platform("ios").state == "ready")
        #expect(rig.logCount("refuses every token") == 0)
        try rig.wake(try rig.phone())
        try rig.awaitPlatform("ios", "has taken it") { $0.delivered == 1 && $0.state == "ready" }
      }
    }

    @Test("forgets a token that is gone since it was registered, and none that came or was renewed since (case 42)")
    func goneSince() throws {
      try PushRig.run { rig in
        func gone(_ phone: PushRig.Phone, since milliseconds: Int64) throws {
          try rig.order(
            .apns, to: phone.receiver, [#"{"status":410,"reason":"Unregistered","timestamp":\#(milliseconds)}"#])
        }
        let (before, after, changed, renewed) = (try rig.phone(), try rig.phone(), try rig.phone(), try rig.phone())
        let registered = WallClock.seconds
        try gone(before, since: 1_000)
        try gone(after, since: (registered + 100) * 1_000)
        for phone in [before, after] { try rig.wake(phone) }
        try rig.awaitEnded(2)
        try awaitSoon("one is forgotten") { try rig.status().devices == 3 }
        #expect(try !rig.isRegistered(after))

        // What they register while a push is under way is newer than what the push is answered with.
        try gone(changed, since: (registered + 100) * 1_000)
        try gone(renewed, since: registered * 1_000)
        try rig.mood(.apns, "hold")
        for phone in [changed, renewed] { try rig.wake(phone) }
        try rig.awaitHeld(2, .apns)
        try awaitSoon("a second has passed") { WallClock.seconds > registered }
        let token = PushRig.appleToken()
        #expect(try rig.renew(changed, token: token).status == 200)
        #expect(try rig.renew(renewed).status == 200)
        try rig.fakes.order(#"{"service":"apns","release":true}"#)
        try rig.awaitEnded(4)
        #expect(try rig.requests(.apns, to: token).count == 1, "the wake goes to the token that there is now")
        try rig.wake(renewed, type: "later")
        try awaitSoon("the renewed one is woken") { try rig.requests(.apns, to: renewed.receiver).count == 2 }
        #expect(try rig.status().devices == 3)
        #expect(try rig.isRegistered(before) && rig.isRegistered(changed) && rig.isRegistered(renewed))
        #expect(try rig.platform("ios").pruned == 1)
      }
    }
  }
}
