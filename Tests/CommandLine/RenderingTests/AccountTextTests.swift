import Contracts
import Testing

@testable import Rendering

@Suite struct KeyTextTests {
  private func accounts(_ states: [(String, SignerAccount.State)]) -> SignerAccounts {
    let accounts = states.map { name, state in
      SignerAccount(
        name: name, publicKey: "", npub: "", state: state, isEncrypted: true, origin: .file, createdAt: 0)
    }
    return SignerAccounts(accounts: accounts, problems: [], sealingKey: "", isMemoryLocked: true, waiting: 0)
  }

  private func verdict(_ accounts: SignerAccounts) -> [String] {
    DoctorText.lines(DoctorResult(checks: AccountText.checks(accounts)), .plain)
  }

  @Test("The doctor names the accounts that are locked and what unlocks them, and does not say that all is well")
  func locked() {
    #expect(verdict(accounts([("alice", .unlocked)])).last == "All is well.")
    let lines = verdict(accounts([("alice", .unlocked), ("bob", .locked), ("carol", .locked)]))
    let text = lines.joined(separator: " ")
    #expect(text.contains("bob, carol are locked and sign nothing"), "\(lines)")
    #expect(text.contains("roost key unlock bob"), "\(lines)")
    #expect(lines.last?.contains("All is well") == false)
    let ill = AccountText.checks(accounts([("bob", .locked)])).filter { !$0.isGood }
    #expect(ill.isEmpty, "whoever wants it so has nothing to mend")
  }
}
