internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Rendering
internal import RoostClient

/// `roost setup`
struct SetupCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup", abstract: "The first run: starts Roost, takes an account, and fetches what is its.",
    discussion: """
      It asks for what no option says: whether to start Roost; whose account (one to read along with, your own whose secret \
      key you have, or a new one); and, after it has shown what relays have, whether to fetch that. Before that yes nothing \
      is fetched but the account's lists. Without a terminal each answer must be an option. Running it twice does no harm: \
      an account that is here is taken as it is.

        roost setup
        roost setup --start --watch bob@example.com --yes
        pass show nostr | roost setup --import --name alice --no-passphrase --yes
        roost setup --new --name alice --display-name Alice --yes
      """)
  @Flag(inversion: .prefixedNo, help: "Start Roost if it is not running, without a question; or never start it.")
  var start: Bool?
  @Option(help: ArgumentHelp("The supervisor.conf to start with, instead of the usual places.", valueName: "path"))
  var config: String?
  @Option(help: ArgumentHelp("Read along with this npub, nprofile, hexadecimal key or name@domain.", valueName: "key"))
  var watch: String?
  @Flag(
    name: .customLong("import"),
    help: "Take over a secret key: asked for, or the first line of standard input; its passphrase is the second.")
  var imports = false
  @Flag(name: .customLong("new"), help: "Make a new account.")
  var isNew = false
  @Option(
    help: ArgumentHelp(
      "The account's name on this machine; without a terminal the name before the @, else 'me'.", valueName: "name"))
  var name: String?
  @Flag(help: "Store the key unencrypted: who reads the file has the key, and no unlocking is needed.")
  var noPassphrase = false
  @Option(help: ArgumentHelp("The name in a new account's profile. Empty: no profile.", valueName: "text"))
  var displayName: String?
  @Flag(help: "Fetch, or publish a new account's profile and lists, without a question.")
  var yes = false
  @Flag(help: "Do not wait until everything was fetched.")
  var noWait = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if [watch != nil, imports, isNew].count(where: { $0 }) > 1 {
      throw ValidationError("Give one of --watch, --import and --new.")
    }
    if let watch, ["nsec1", "ncryptsec1"].contains(where: watch.lowercased().hasPrefix) {
      throw ValidationError(secretAsArgument)
    }
    if let name, !AccountName.isValid(name) { throw ValidationError("A name is \(AccountName.form).") }
    if let displayName, let flaw = AccountProposal.flaw(inName: displayName) { throw ValidationError(flaw) }
    if config != nil, start == false { throw ValidationError("--config is for a start, and --no-start forbids it.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await SetupRun(session, self).run()
  }
}

/// The steps of `roost setup`, in their order:
///
///     supervisor ─▶ account ─▶ lists ─▶ what relays have ─▶ yes? ─▶ begin ─▶ progress ─▶ how clients connect
///
/// The mirror fetches for each account by itself. So the account comes to the signer after the yes: one that is read
/// along with is added then, and one whose key is imported is left until then (`signer.leave`).
@EventLoopActor
final class SetupRun {
  let session: CommandSession
  let options: SetupCommand

  /// Whether a person can be asked.
  var isAsking: Bool { SecretInput.isTerminal && !session.isJSON }

  init(_ session: CommandSession, _ options: SetupCommand) { (self.session, self.options) = (session, options) }

  func run() async throws(Refusal) -> ExitStatus {
    try await findSupervisor()
    switch try await choose() {
    case .present(let account):
      await tellPresent(account)
      return try await finish(account)
    case .made(let account): return try await finish(account)
    case .nothing: return .done
    case .watched(let key, let name):
      guard try await survey(key, isReadOnly: true) else {
        await tell(SetupJSON.Stopped(), ["Nothing was added, and nothing is fetched."])
        return .done
      }
      return try await finish(
        try await session.client.request(
          SignerMethod.watch, SignerWatch(name: name, publicKey: "\(key)"),
          options: .idempotent(ttlMilliseconds: CommandSession.keyMilliseconds)))
    case .left(let account, let passphrase):
      guard try await survey(try session.key(of: account), isReadOnly: account.isReadOnly == true) else {
        await tell(SetupJSON.Stopped(), SetupText.staysLeft(account))
        return .done
      }
      return try await finish(try await bringBack(account, passphrase))
    }
  }

  /// Writes the outcome of a step: an object with `--json`, else lines.
  func tell(_ step: some Encodable, _ lines: [String]) async { await session.print(step, lines) }

  /// The one question, which `--yes` answers.
  func isYes(_ question: String) throws(Refusal) -> Bool {
    if options.yes { return true }
    return try Question.isYes(question)
  }

  /// Ends the program, because an answer is needed that no option gave.
  func leaveForUsage(_ message: String) -> Never {
    session.leave(Refusal(.badRequest, message, outcome: .notStarted), status: .usage)
  }

  /// A left account is no longer left; with its passphrase it is open too.
  private func bringBack(_ account: SignerAccount, _ passphrase: SealedSecret?) async throws(Refusal) -> SignerAccount {
    let options = RequestOptions(ttlMilliseconds: CommandSession.keyMilliseconds, atMostOnce: true)
    if account.isReadOnly != true, !account.isEncrypted || passphrase != nil {
      return try await session.client.request(
        SignerMethod.unlock, SignerUnlock(account: account.name, passphrase: passphrase), options: options)
    }
    return try await session.client.request(SignerMethod.use, SignerChoose(account: account.name), options: options)
  }

  // MARK: The end

  /// The account is here: it is the one that is meant if it is the only one, its progress is shown, and at last how
  /// clients connect.
  private func finish(_ account: SignerAccount) async throws(Refusal) -> ExitStatus {
    let all = try await session.accounts().accounts
    let others = all.filter { !$0.isOfWorker && $0.name != account.name }
    var account = all.first { $0.name == account.name } ?? account
    if others.isEmpty, account.isUsed != true {
      account = try await session.client.request(
        SignerMethod.use, SignerChoose(account: account.name),
        options: .idempotent(ttlMilliseconds: CommandSession.keyMilliseconds))
    }
    await tell(SetupJSON.Begun(account: account), SetupText.begun(account, session.style))
    if !options.noWait { try await showProgress(of: account) }
    let addresses = await session.clientAddresses()
    await tell(
      SetupJSON.End(addresses: addresses, account: account), SetupText.end(addresses, account, session.style))
    return .done
  }

  private func tellPresent(_ account: SignerAccount) async {
    await tell(SetupJSON.Account(account: account), SetupText.present(account, session.style))
  }
}

/// What `roost setup --json` prints, an object for each step.
enum SetupJSON {
  struct Supervisor: Encodable {
    var step = "supervisor"
    let isStarted: Bool
  }
  struct Account: Encodable {
    var step = "account"
    let account: SignerAccount
  }
  struct Lists: Encodable {
    var step = "lists"
    let publicKey: String
    let name: String?
    let follows: Int?
    let relays: Int?
    let messageRelays: Int?
    let asked: Int
    let answered: Int
  }
  struct Relay: Encodable {
    var step = "relay"
    let figure: SetupFigure
  }
  struct Stopped: Encodable { var step = "stopped" }
  struct Published: Encodable {
    var step = "published"
    let ids: [String]
  }
  struct Begun: Encodable {
    var step = "begun"
    let account: SignerAccount
  }
  struct Progress: Encodable {
    var step = "progress"
    let entries: [MirrorStatus.Entry]
  }
  struct End: Encodable {
    var step = "end"
    let addresses: [String]
    let account: SignerAccount
  }
}
