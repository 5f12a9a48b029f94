import Cryptography
import TestSupport
import Testing

extension ProcessTests {
  @Suite("What authors of a push relay's clients are shown")
  struct PushExampleTests {
    @Test(
      "The example in Python registers a phone, wakes it in both versions of the signature, and tells what is refused",
      .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
    func example() throws {
      try PushRig.run(["audience": "\"push.example.org\""]) { rig in
        let directory = try TemporaryDirectory()
        func run(_ arguments: [String], audience: String = "") throws -> String {
          let process = try SpawnedProcess(
            PythonPeer.interpreter,
            ["-B", SharedFolder.repository + "/examples/push.py", "http://127.0.0.1:\(rig.port)"] + arguments,
            environment: ["PATH=/usr/bin:/bin", "PUSH_AUDIENCE=" + audience])
          let said = try process.readAllOutput(within: 60)
          _ = try process.waitForEnd()
          return said
        }
        let (phone, friend) = (directory.path + "/phone.key", directory.path + "/friend.key")
        let token = PushRig.appleToken()
        let registered = try run([phone, "register", "ios", token])
        #expect(registered.contains(#""status": "registered""#), "\(registered)")
        let seed = try #require(SharedFolder.bytes(ofFile: phone))
        let owner = ZBase32.text(of: Ed25519SecretKey(seed: try #require(Octets32(seed))).publicKey.octets)
        for audience in ["", "push.example.org"] {
          let woken = try run([friend, "wake", owner], audience: audience)
          #expect(woken.contains(#""status": "queued""#), "\(woken)")
        }
        try rig.await(1, at: .apns)
        let refused = try run([friend, "wake", owner], audience: "other.example")
        #expect(refused.contains("invalid_signature"), "\(refused)")
      }
    }
  }
}
