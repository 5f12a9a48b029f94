import Contracts
import Rendering
import Testing

@Suite("What a new account would publish")
struct AccountProposalTests {
  private func relay(_ name: String, reads: Bool = true, writes: Bool = true) -> AccountProposal.Relay {
    AccountProposal.Relay(url: "wss://\(name).example", reads: reads, writes: writes)
  }

  @Test("is the lists of relays, and then the profile if there is a name")
  func drafts() {
    let proposal = AccountProposal(name: #"O'Neill "x""#, relays: [relay("a"), relay("b", writes: false)])
    #expect(proposal.drafts.map(\.kind) == [10_002, 10_050, 0])
    #expect(proposal.drafts[0].tags == [["r", "wss://a.example"], ["r", "wss://b.example", "read"]])
    #expect(proposal.drafts[1].tags == [["relay", "wss://a.example"], ["relay", "wss://b.example"]])
    #expect(proposal.drafts[2].content == #"{"name":"O'Neill \"x\""}"#)
    let lines = AccountText.howToPublish(proposal.drafts, as: "alice")
    #expect(lines.count == 4 && lines[3].contains(#"O'\''Neill"#))
    #expect(AccountProposal(name: "", relays: []).drafts.isEmpty)
  }

  @Test("has few relays, and for messages only those that are read")
  func bounds() {
    let relays = (0..<9).map { relay("r\($0)", reads: $0 % 2 == 0) }
    let proposal = AccountProposal(name: "", relays: relays)
    #expect(proposal.drafts[0].tags.count == AccountProposal.relayMaximum)
    #expect(proposal.drafts[1].tags.map { $0[1] } == ["wss://r0.example", "wss://r2.example", "wss://r4.example"])
  }

  @Test("A name that is too long, has control characters or is a secret is no name")
  func names() {
    #expect(AccountProposal.flaw(inName: "Alice") == nil)
    #expect(AccountProposal.flaw(inName: "") == nil)
    #expect(AccountProposal.flaw(inName: String(repeating: "x", count: 101)) != nil)
    #expect(AccountProposal.flaw(inName: "a\u{1B}[31mb") != nil)
    #expect(AccountProposal.flaw(inName: "nsec1abc")?.contains("secret") == true)
  }

  @Test("What was left, forgotten or waits is said with the next command and without control characters")
  func words() {
    var account = SignerAccount(
      name: "alice", publicKey: String(repeating: "a", count: 64), npub: "npub1x", state: .locked, isEncrypted: true,
      origin: .file, createdAt: 0)
    account.isLeft = true
    #expect(AccountText.left(account, .plain).last?.contains("roost account use alice") == true)
    let accounts = SignerAccounts(
      accounts: [account], problems: [], sealingKey: "", isMemoryLocked: true, waiting: 0)
    #expect(AccountText.list(accounts, .plain).contains { $0.contains("left") })
    #expect(AccountText.checks(accounts).allSatisfy { $0.name != "locked keys" }, "a left account needs no unlocking")
    let wait = ForgetStep("mirror", isDone: false, remark: "no\u{1B}[31m")
    #expect(!AccountText.step(wait, .plain)[0].contains("\u{1B}"))
    let end = PeopleForgotten(
      gone: [AccountForgotten.Part("events that it wrote", 3)], remarks: ["one stays"],
      relays: [SourceRelays.Relay(relay: "wss://a.example", events: 7)])
    let lines = AccountText.forgotten(account, end, .plain)
    #expect(lines.contains("  events that it wrote: 3") && lines.contains("Note: one stays."))
    #expect(lines.contains("  wss://a.example: 7 events") && lines.contains { $0.contains("NIP-62") })
  }
}
