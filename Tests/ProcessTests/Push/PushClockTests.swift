import Contracts
import Cryptography
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and its clock")
  struct PushClockTests {
    @Test("A clock that jumps an hour either way costs no limit, no second token and no wake (case 53)")
    func jumps() throws {
      let faults = try Faults()
      try PushRig.runWatched([:], faults) { rig in
        defer { faults.end() }
        let phone = try rig.household(["ios", "android"])
        // Each by somebody else: a stranger has ten pushes an hour.
        func wake(_ type: String, ahead: Int64) throws -> PushRig.Answer {
          let sender = Ed25519SecretKey.generate()
          return try rig.insistSigned(
            sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: type), at: WallClock.seconds + ahead)
        }
        #expect(try wake("before", ahead: 0).status == 200)
        try rig.awaitDelivered()
        for (number, ahead) in [Int64(3_600), -3_600, 0].enumerated() {
          // A wake is under way when the clock is set.
          try rig.fakes.order(#"{"service":"fcm","answers":[{"status":200,"delayMilliseconds":700}]}"#)
          let under = try wake("under\(number)", ahead: [0, 3_600, -3_600][number])
          #expect(under.status == 200, "\(under.text)")
          for platform in ["ios", "android"] {
            try awaitSoon("\(platform) has what is under way, \(ahead)") {
              try rig.pushes(of: under["wake_id"], on: platform).count == 1
            }
          }
          faults.setClock(ahead: Int32(ahead))
          let wrong = try wake("wrong\(number)", ahead: ahead + 3_600)
          #expect(wrong["error"] == "expired_timestamp", "\(wrong.text)")
          guard case .integer(let told) = wrong.json["server_time"] else { return #expect(Bool(false)) }
          #expect(abs(told - WallClock.seconds - ahead) < 60)
          let answer = try wake("after\(number)", ahead: ahead)
          #expect(answer.status == 200, "\(ahead): \(answer.text)")
          for platform in ["ios", "android"] {
            try awaitSoon("\(platform) has it, \(ahead)") {
              try rig.pushes(of: answer["wake_id"], on: platform).count == 1
            }
          }
          try rig.awaitDelivered()
          #expect(try rig.pushes(of: under["wake_id"], on: "android").count == 1)
        }
        #expect(try rig.fakes.counters()["providerTokens"] == .integer(1))
        #expect(try rig.fakes.counters()["tokenExchanges"] == .integer(1))
      }
    }

    @Test("What is spent stays spent when the clock is set back, and comes back in the same time (case 53)")
    func limits() throws {
      let faults = try Faults()
      try PushRig.runWatched([:], faults) { rig in
        defer { faults.end() }
        let (phone, sender) = (try rig.household(["ios"]), Ed25519SecretKey.generate())
        var count = 0
        func wake(ahead: Int64) throws -> PushRig.Answer {
          count += 1
          return try rig.insistSigned(
            sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: "t\(count)"),
            at: WallClock.seconds + ahead)
        }
        for _ in 0..<10 { #expect(try wake(ahead: 0).status == 200) }
        faults.setClock(ahead: -3_600)
        let refused = try wake(ahead: -3_600)
        #expect(refused.status == 429, "\(refused.text)")
        guard case .integer(let seconds) = refused.json["retry_after"] else { return #expect(Bool(false)) }
        #expect((1...70).contains(seconds), "\(seconds)")
        // Forward: an hour has passed for all that the relay can know.
        faults.setClock(ahead: 3_600)
        #expect(try wake(ahead: 3_600).status == 200)
      }
    }
  }
}
