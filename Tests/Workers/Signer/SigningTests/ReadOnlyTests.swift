import Clocks
import Contracts
import Cryptography
import Frames
import Testing

@testable import Signing

@Suite("Accounts of which only the public key is here")
struct ReadOnlyTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  private func machine() throws -> SignerMachine {
    var machine = SignerMachine(policy: try SigningPolicy(rules: []))
    let key = SecretKey.generate().publicKey
    _ = machine.added(SignerMachine.Account(name: "alice", publicKey: key, isLocked: false, isReadOnly: true))
    return machine
  }

  private func refusal(_ actions: [SignerMachine.Action]) -> Refusal? {
    for case .refuse(_, let refusal) in actions { return refusal }
    return nil
  }

  private func use(_ method: SignerOperation) -> SignerUse {
    SignerUse(
      method: method, caller: SignerCaller(name: "client 9.1", role: "client"), account: "alice", kind: 1,
      byteCount: 10)
  }

  @Test("Nothing is signed or opened for one, and no request waits for a passphrase")
  func refused() throws {
    var machine = try machine()
    for (number, method) in [SignerOperation.sign, .nip44Decrypt, .unwrap].enumerated() {
      let refused = refusal(machine.received(SignerMachine.Key(UInt64(number)), use(method), at: start))
      #expect(refused?.code == .locked && refused?.message.contains("roost key import alice") == true)
    }
    #expect(machine.waitingCount == 0)
    #expect(machine.summary == "1 account, read-only")
  }

  @Test("With its secret key it signs; a left one stays left")
  func gained() throws {
    var machine = try machine()
    machine.gainedKey("alice")
    _ = machine.unlocked("alice")
    #expect(refusal(machine.received(SignerMachine.Key(1), use(.sign), at: start)) == nil)
    #expect(machine.summary == "1 account")
    var left = try self.machine()
    _ = left.left("alice", isForgetting: false)
    left.gainedKey("alice")
    let refused = refusal(left.received(SignerMachine.Key(1), use(.sign), at: start))
    #expect(refused?.message.contains("roost account use alice") == true)
  }
}
