internal import Addresses
internal import ArgumentParser
internal import Bus
internal import Clocks
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost account new`
struct AccountNew: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Makes an account: a key, and if you say yes a profile and its lists of relays.",
    discussion: """
      The passphrase of the key is asked for twice. Then the profile's name is asked for, and what would be published is \
      shown: the profile (kind 0), the relays where you write and read (kind 10002), and those where you receive messages \
      (kind 10050), from the relays of supervisor.conf. Nothing is published unless you say yes, or give --yes; without a \
      terminal and without --yes nothing is, and the commands that do it are printed.

        roost account new alice
        pass show alice | roost account new alice --display-name 'Alice' --yes
      """)
  @OptionGroup var account: AccountArgument
  @OptionGroup var misplaced: MisplacedSecrets
  @Flag(help: "Store the key unencrypted: who reads the file has the key, and no unlocking is needed.")
  var noPassphrase = false
  @Option(help: ArgumentHelp("The name in the profile, instead of the question; empty: no profile.", valueName: "text"))
  var displayName: String?
  @Flag(help: "Publish the profile and the lists without a question.")
  var yes = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if let displayName, let flaw = AccountProposal.flaw(inName: displayName) { throw ValidationError(flaw) }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let present = try await session.accounts()
    if present.accounts.contains(where: { $0.name == account.name }) {
      throw Refusal(.nameTaken, "there is an account '\(account.name)' already", outcome: .notStarted)
    }
    try present.refuseTaken(account.name)
    let passphrase = noPassphrase ? nil : try session.sealedNewPassphrase(for: present.sealingKey)
    let made = try await session.client.request(
      SignerMethod.generate, SignerGenerate(name: account.name, passphrase: passphrase),
      options: RequestOptions(ttlMilliseconds: CommandSession.keyMilliseconds, atMostOnce: true))
    if !session.isJSON { await session.output.writeLines(AccountText.changed(made, "made", session.style)) }
    let profileName = try session.profileName(given: displayName)
    let proposal = AccountProposal(name: profileName, relays: try await session.proposedRelays())
    if !session.isJSON { await session.output.writeLines(AccountText.proposal(proposal, session.style)) }
    let isMeant = proposal.drafts.isEmpty ? false : try isMeant()
    var published: [String] = []
    if isMeant {
      published = try await session.publish(proposal, as: made)
    } else if !session.isJSON, !proposal.drafts.isEmpty {
      await session.output.writeLines(AccountText.howToPublish(proposal.drafts, as: made.name))
    }
    if session.isJSON {
      await session.output.writeLine(
        JSONPayload.encode(Report(account: made, proposed: proposal.drafts, published: published)))
    }
    return .done
  }

  /// What `--json` prints.
  private struct Report: Encodable {
    let account: SignerAccount
    let proposed: [AccountProposal.Draft]
    let published: [String]
  }

  private func isMeant() throws(Refusal) -> Bool {
    if yes { return true }
    guard SecretInput.isTerminal, !general.isJSON else { return false }
    return try Question.isYes("Publish this?")
  }
}

extension CommandSession {
  /// The name in a new account's profile: given, or asked for; empty: no profile, also if it cannot be asked for.
  func profileName(given name: String?) throws(Refusal) -> String {
    if let name { return name }
    guard SecretInput.isTerminal, !isJSON else { return "" }
    let question = "The name that others see (Enter: no profile now): "
    let name = try Question.ask(question) { (text) -> Question.Reading<String> in
      guard let flaw = AccountProposal.flaw(inName: text) else { return .success(text) }
      return .failure(flaw)
    }
    return name ?? ""
  }

  /// How long the planner may take to know a new account, in milliseconds.
  private static let newAccountMilliseconds: UInt64 = 20_000

  /// Signs and publishes what was proposed. Returns the ids. What could not be published is shown with the commands
  /// that do it, because the account is there.
  func publish(_ proposal: AccountProposal, as account: SignerAccount) async throws(Refusal) -> [String] {
    var published: [String] = []
    for (number, draft) in proposal.drafts.enumerated() {
      let event: Event
      do throws(Refusal) {
        event = try await client.sign(
          EventDraft(kind: draft.kind, content: draft.content, tags: draft.tags), as: account.publicKey)
        try await publishWhenKnown(event)
      } catch {
        let rest = Array(proposal.drafts[number...])
        note("'\(account.name)' is made, and not all of it is published.", .warning)
        for line in AccountText.howToPublish(rest, as: account.name) { note(line, .warning) }
        throw Refusal(error.code, error.message, outcome: .unknown)
      }
      published.append("\(event.id)")
      if !isJSON { await output.writeLines(["Published: \(KindText.word(draft.kind)) \(event.id.note)"]) }
    }
    return published
  }

  /// Publishes, and waits for a planner that does not know the new account yet.
  private func publishWhenKnown(_ event: Event) async throws(Refusal) {
    let deadline = EventLoop.process.now.advanced(milliseconds: Self.newAccountMilliseconds)
    while true {
      do throws(Refusal) {
        _ = try await client.publish(event, to: nil, replaces: false)
        return
      } catch {
        guard error.code == .unavailable, EventLoop.process.now < deadline else { throw error }
        await EventLoopActor.sleep(milliseconds: UInt64(error.retryAfterMilliseconds ?? 1_000))
      }
    }
  }

  /// The relays of supervisor.conf; none if the planner does not answer, because the account is made all the same.
  func proposedRelays() async throws(Refusal) -> [AccountProposal.Relay] {
    do throws(Refusal) {
      let list = try await waiting(for: PlanMethod.relays.declaration) { () async throws(Refusal) in
        try await client.request(
          PlanMethod.relays, NoArguments(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
      }
      return list.relays.filter { relay in relay.sources.contains { $0.hasPrefix("supervisor.conf") } }
        .map { AccountProposal.Relay(url: $0.relay, reads: $0.reads, writes: $0.writes) }
    } catch {
      note("The relays are not known, so no list of them is proposed: \(error.message)", .warning)
      return []
    }
  }
}
