import Contracts
import Cryptography
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and wakes of one kind at one time")
  struct PushJoinTests {
    private let phone = Ed25519SecretKey.generate()
    private let friend = Ed25519SecretKey.generate()

    @Test("brings a contact's wake though a stranger's of its kind went a moment before (case 50)")
    func contact() throws {
      try PushRig.run { rig in
        try rig.register(phone, "ios", PushRig.appleToken(), capabilities: "[]")
        try rig.contacts(of: phone, allow: [friend])
        for sender in [Ed25519SecretKey.generate(), friend] {
          #expect(try rig.wake(phone, by: sender, type: "knock").status == 200)
        }
        try rig.await(2, at: .apns)
        try rig.awaitEnded(2)
        #expect(try rig.status().ended["delivered"] == 2)
      }
    }

    @Test("has a wake pay for its push when the one of its kind a moment before reached nobody (case 31)")
    func afterFailure() throws {
      try PushRig.run(["recipient-hour": "1", "strangers-hour": "1"]) { rig in
        let token = PushRig.appleToken()
        try rig.register(phone, "ios", token, capabilities: "[]")
        let refusal = #"{"status":400,"reason":"BadDeviceToken"}"#
        try rig.order(.apns, to: token, [refusal, refusal])
        #expect(try rig.wake(phone, by: .generate()).status == 200)
        try rig.awaitEnded(1)
        #expect(try rig.wake(phone, by: .generate()).status == 200)
        try rig.awaitQuiet()
        #expect(try rig.requests(.apns, to: token).count == 1, "the hour's one push is spent")
      }
    }
  }
}
