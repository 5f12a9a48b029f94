import Contracts
import Cryptography
import Frames
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A device that a push relay knows")
  struct PushDeviceTests {
    private let phone = Ed25519SecretKey.generate()
    private static let day: Int64 = 86_400

    @Test("is registered again with a new token: one row, the same name, a later end (case 4)")
    func again() throws {
      try PushRig.run { rig in
        let (old, new) = (PushRig.appleToken(), PushRig.appleToken())
        let first = try rig.register(phone, "ios", old)
        let second = try rig.register(phone, "ios", new)
        #expect(first.status == 200 && second.status == 200, "\(second.text)")
        #expect(!first["relay_id"].isEmpty && first["relay_id"] == second["relay_id"])
        #expect(try Self.end(second) >= Self.end(first))
        #expect(try rig.status().devices == 1)
        try rig.wake(phone, by: phone)
        let push = try rig.await(1, at: .apns)
        #expect(push.map { $0.text("receiver") } == [new])
      }
    }

    @Test("is renewed on day 23, lasts 30 days from then, and is gone after it (case 9)")
    func expiry() throws {
      try PushRig.run(ahead: 0) { rig, clock in
        func register() throws -> PushRig.Answer {
          let body = #"{"platform":"ios","token":"\#(token)","device_id":"phone"}"#
          return try rig.signed(phone, "POST", "/register", body, at: clock.now)
        }
        func wake() throws -> PushRig.Answer {
          try rig.signed(phone, "POST", "/wake", PushRig.body(to: phone, by: phone), at: clock.now)
        }
        let token = PushRig.appleToken()
        let first = try register()
        try clock.restart(advancing: 23 * Self.day)
        let renewed = try register()
        #expect(renewed["relay_id"] == first["relay_id"], "\(renewed.text)")
        let end = try Self.end(renewed)
        #expect(end - clock.now <= 30 * Self.day && end - clock.now > 30 * Self.day - 60)
        // Day 52: it is there because it was renewed, and wakes renew nothing.
        try clock.restart(advancing: 29 * Self.day)
        #expect(try wake().status == 200)
        try rig.await(1, at: .apns)
        #expect(try clock.status().devices == 1)
        try clock.restart(advancing: end - clock.now + 1)
        let late = try wake()
        #expect(late.status == 404 && late["error"] == "recipient_not_found", "\(late.text)")
        try awaitSoon("the row is gone", within: 60) { try clock.status().devices == 0 }
        #expect(try rig.fakes.requests(to: .apns).count == 1)
        let again = try register()
        #expect(again.status == 200 && again["relay_id"] != first["relay_id"], "nothing is left of it: \(again.text)")
      }
    }

    @Test("hears only of what it said it wants to hear of (case 7)")
    func capabilities() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        var tokens: [String: String] = [:]
        for (name, list) in [
          ("wake", #""wake""#), ("payments", #""payment_received","something_else""#), ("all", ""),
        ] {
          let token = PushRig.appleToken()
          tokens[token] = name
          let body = #"{"platform":"ios","token":"\#(token)","capabilities":[\#(list)],"device_id":"\#(name)"}"#
          #expect(try rig.signed(phone, "POST", "/register", body).status == 200)
        }
        let wanted = [
          ("payment_received", ["all", "payments"]), ("noise_connect", ["all", "wake"]),
          ("channel_update", ["all", "wake"]), ("something_else", ["all", "payments"]), ("unheard_of", ["all"]),
        ]
        for (type, names) in wanted {
          let wake = try rig.wake(phone, by: phone, type: type)
          #expect(wake.status == 200, "\(wake.text)")
          var woken: [String] = []
          try awaitSoon("\(type) has come to \(names)") {
            woken = try rig.fakes.requests(to: .apns).filter { $0.text("payload").contains(wake["wake_id"]) }
              .compactMap { tokens[$0.text("receiver")] }.sorted()
            return woken.count >= names.count
          }
          #expect(woken == names, "\(type)")
        }
        #expect(try rig.fakes.requests(to: .apns).count == wanted.reduce(0) { $0 + $1.1.count })
      }
    }

    @Test("gets nothing that waits for it once its owner has taken it away, or given its token another name (case 8)")
    func takenAway() throws {
      try PushRig.run { rig in
        let (phones, last) = (try (0..<2).map { _ in try rig.phone() }, try rig.phone())
        for phone in phones { try rig.wake(phone) }
        try rig.awaitEnded(2)
        try rig.mood(.apns, "hold")
        for phone in phones {
          try rig.wake(phone, type: "one")
          // Waits behind the first, which APNs has.
          try rig.wake(phone, type: "two")
        }
        // The queue is read in its order: when APNs has this one, the others wait in memory.
        try rig.wake(last)
        try rig.awaitHeld(3, .apns)
        #expect(try rig.signed(phones[0].key, "DELETE", "/register", #"{"device_id":"phone"}"#).status == 200)
        #expect(try rig.register(phones[1].key, "ios", phones[1].token, device: "other").status == 200)
        try rig.fakes.order(#"{"service":"apns","release":true}"#)
        try rig.awaitQuiet()
        for phone in phones {
          // In quotes: the sender's name and the signature are random letters, in which "two" stands now and then.
          let payloads = try rig.requests(.apns, to: phone.receiver).map { $0.text("payload") }
          #expect(payloads.map { $0.contains(#""one""#) } == [false, true])
          #expect(payloads.map { $0.contains(#""two""#) } == [false, false])
        }
        #expect(try rig.status().ended["undeliverable"] == 2)
      }
    }

    private static func end(_ answer: PushRig.Answer) throws -> Int64 {
      guard case .integer(let end)? = answer.json["expires_at"] else {
        throw DeadlinePassed(description: "no whole expires_at: \(answer.text)")
      }
      return end
    }
  }
}
