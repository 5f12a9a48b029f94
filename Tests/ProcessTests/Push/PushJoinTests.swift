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
  }
}
