import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// `kill -9` at each step between a request and the platform's answer. A client whose request was not answered sends
  /// it again, as it is.
  @Suite("A push relay through deaths")
  struct PushKillTests {
    /// Steps of a wake, in their order; those behind the answer are of each platform.
    static let steps =
      ["writing wake", "deciding", "written wake", "replying POST /v1/wake", "replied POST /v1/wake"]
      + ["ios", "android", "webpush"].flatMap { ["sending \($0)", "answered \($0)"] }
      + ["writing settlement", "written settlement"]
    private static let platforms = ["ios", "android", "webpush"]

    @Test("at no step of a wake is it lost, and no phone is woken more than twice, with one apns-id (case 51)")
    func wakes() throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household()
        for (number, step) in Self.steps.enumerated() {
          let process = try rig.processID()
          let sender = Ed25519SecretKey.generate()
          try rig.arm(step)
          let body = PushRig.body(to: phone.key, by: sender, type: "step\(number)")
          let answer = try rig.insistSigned(sender, "POST", "/wake", body)
          #expect(answer.status == 200, "\(step): \(answer.text)")
          try awaitSoon("it dies: \(step)") { rig.hasDied }
          try rig.awaitAnother(than: process)
          try rig.awaitDelivered()
          for platform in Self.platforms {
            let pushes = try rig.pushes(of: answer["wake_id"], on: platform)
            #expect((1...2).contains(pushes.count), "\(step): \(pushes.count) pushes by \(platform)")
            #expect(Set(pushes.map { $0["headers"]?["apns-id"] ?? .null }).count <= 1, "\(step): \(pushes)")
          }
          // Who asks again has the same answer, and wakes nobody.
          let count = try rig.fakes.requests(to: .apns).count
          let accepted = try rig.status().accepted
          #expect(try rig.insistSigned(sender, "POST", "/wake", body).text == answer.text)
          try rig.awaitQuiet()
          #expect(try rig.fakes.requests(to: .apns).count == count && rig.status().accepted == accepted, "\(step)")
        }
        #expect(try rig.fakes.counters()["providerTokens"] == .integer(1))
      }
    }

    @Test("what a platform was sent and has not answered is sent once more, and the rest is not (case 51)")
    func underWay() throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household()
        // Of a push to Web Push that is not answered the journal does not say whose it is: it is encrypted.
        for (number, platform) in ["ios", "android"].enumerated() {
          // A connection that is made to a black hole is none: each platform has one before.
          let first = Ed25519SecretKey.generate()
          let warm = PushRig.body(to: phone.key, by: first, type: "warm\(number)")
          #expect(try rig.insistSigned(first, "POST", "/wake", warm).status == 200)
          try rig.awaitDelivered()
          let service = PushRig.service(platform)
          try rig.fakes.order(#"{"service":"\#(service)","mode":"black-hole"}"#)
          let sender = Ed25519SecretKey.generate()
          let body = PushRig.body(to: phone.key, by: sender, type: "hole\(number)")
          let wake = try rig.insistSigned(sender, "POST", "/wake", body)["wake_id"]
          try awaitSoon("\(platform) has it") { try rig.pushes(of: wake, on: platform).count == 1 }
          // What the others have taken is written down by the time that it is counted.
          let others = Self.platforms.filter { $0 != platform }
          try awaitSoon("the others have it") { try others.allSatisfy { try rig.pushes(of: wake, on: $0).count == 1 } }
          try awaitSoon("it is written down") { try Self.settledCount(rig) == 2 }
          let process = try rig.processID()
          try rig.kill()
          try rig.fakes.order(#"{"service":"\#(service)","mode":"normal"}"#)
          try rig.awaitAnother(than: process)
          try rig.awaitDelivered()
          let pushes = try rig.pushes(of: wake, on: platform)
          #expect(pushes.count == 2 && Set(pushes.map { $0["headers"]?["apns-id"] ?? .null }).count == 1, "\(pushes)")
          for other in others { #expect(try rig.pushes(of: wake, on: other).count == 1, "\(platform), \(other)") }
        }
      }
    }

    /// Devices that the ledger knows to need no wake more, while the wake is in the queue.
    private static func settledCount(_ rig: PushRig) throws -> Int {
      try rig.column("SELECT count(*) FROM delivery").first ?? 0
    }

    @Test("at no step is a registration or a removal lost, or done twice (case 51)")
    func registrations() throws {
      try PushRig.runWatched { rig in
        let steps = { (word: String, request: String) in
          ["writing \(word)", "written \(word)", "replying \(request)", "replied \(request)"]
        }
        for step in steps("registration", "POST /v1/register") {
          let (process, phone) = (try rig.processID(), PushRig.Household())
          let body = phone.body("phone", "ios", try rig.token("ios"))
          let time = WallClock.seconds
          try rig.arm(step)
          let first = try rig.insistSigned(phone.key, "POST", "/register", body, at: time, from: phone.address)
          try awaitSoon("it dies: \(step)") { rig.hasDied }
          try rig.awaitAnother(than: process)
          let again = try rig.insistSigned(phone.key, "POST", "/register", body, at: time, from: phone.address)
          #expect(first.status == 200 && first.text == again.text, "\(step): \(first.text), \(again.text)")
          let owner = ZBase32.text(of: phone.key.publicKey.octets)
          #expect(try rig.client.call("push.devices", #"{"owner":"\#(owner)"}"#).parts.count == 1, "\(step)")
        }
        let count = try rig.status().devices
        for (number, step) in steps("removal", "DELETE /v1/register").enumerated() {
          let phone = try rig.household(["ios"])
          let process = try rig.processID()
          try rig.arm(step)
          let body = #"{"device_id":"ios"}"#
          let answer = try rig.insistSigned(phone.key, "DELETE", "/register", body, from: phone.address)
          #expect(answer.text == #"{"status":"unregistered"}"#, "\(step): \(answer.text)")
          try awaitSoon("it dies: \(step)") { rig.hasDied }
          try rig.awaitAnother(than: process)
          #expect(try rig.status().devices == count, "\(number): \(step)")
        }
      }
    }

    @Test(
      "the token for APNs is one, though the relay dies while it writes it down, and ten times after (cases 51, 54)",
      arguments: ["writing credential", "written credential"])
    func oneToken(step: String) throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household(["ios"])
        try rig.arm(step)
        for number in 0..<10 {
          let (process, sender) = (try rig.processID(), Ed25519SecretKey.generate())
          let body = PushRig.body(to: phone.key, by: sender, type: "crash\(number)")
          let answer = try rig.insistSigned(sender, "POST", "/wake", body)
          try awaitSoon("it is sent", within: 60) { try !rig.pushes(of: answer["wake_id"], on: "ios").isEmpty }
          if number == 0 { #expect(rig.hasDied, "\(step)") } else { try rig.kill() }
          try rig.awaitAnother(than: process)
        }
        try rig.awaitDelivered()
        #expect(try rig.fakes.counters()["providerTokens"] == .integer(1))
      }
    }

    @Test("a sweep, and the turning of the key ring, go on where they were killed (cases 51, 55)")
    func keeping() throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household()
        for step in ["writing sweep", "written sweep"] {
          let process = try rig.processID()
          // The next process sweeps when it begins, and dies of it; the one after that does as well, and lives.
          try rig.arm(step)
          try rig.kill()
          try awaitSoon("it dies: \(step)", within: 60) { rig.hasDied }
          try rig.awaitAnother(than: process)
        }
        for (number, step) in ["writing ring", "written ring", "writing rekey", "written rekey"].enumerated() {
          let process = try rig.processID()
          try rig.addKey("turn\(number)")
          try rig.arm(step)
          // The hub asks the next process, which has read the new ring by itself.
          let answer = try rig.client.call("push.rekey", within: 60)
          #expect(answer.isResponse, "\(step): \(answer.text)")
          try awaitSoon("it dies: \(step)") { rig.hasDied }
          try rig.awaitAnother(than: process)
          #expect(try rig.status().underOlderKeys == 0 && rig.status().unreadable == 0, "\(step)")
        }
        let sender = Ed25519SecretKey.generate()
        let wake = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender))
        try rig.awaitDelivered()
        for platform in Self.platforms { #expect(try rig.pushes(of: wake["wake_id"], on: platform).count == 1) }
      }
    }
  }
}
