internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import RoostClient
internal import Rendering

/// `roost account`
struct AccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account",
    abstract: "Makes accounts, reads along with others, says which is meant, leaves one, and forgets one.",
    discussion: """
      An account is a key with what belongs to it: its profile, lists and events, and what relays are asked for it. Keys alone \
      are the matter of 'roost key'.

        roost account new alice
        roost account watch bob npub1…
        roost account use alice
        roost account leave alice
        roost account forget alice
      """,
    subcommands: [
      AccountList.self, AccountNew.self, AccountWatch.self, AccountUse.self, AccountLeave.self,
      AccountForgetCommand.self,
    ])
}

/// The account that a command is about, which is always named.
struct NamedAccount: ParsableArguments, Sendable {
  @Argument(help: "The account: a name, an npub or 64 hexadecimal digits.")
  var account: String

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if account.lowercased().hasPrefix("nsec1") || account.lowercased().hasPrefix("ncryptsec1") {
      throw ValidationError(secretAsArgument)
    }
  }
}

/// `roost account list`
struct AccountList: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the accounts: which is used, locked or left.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.listAccounts()
  }
}

/// `roost account watch`
struct AccountWatch: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Adds an account of which only the public key is here, to read along with.",
    discussion: """
      What it writes, what names it, and what those write whom it follows is fetched as for any other account; nothing can be \
      signed or decrypted for it. 'roost key import NAME' with its secret key makes it a whole account.

        roost account watch bob npub1…
        roost account watch bob bob@example.com
      """)
  @OptionGroup var account: AccountArgument
  @Argument(help: ArgumentHelp("The key: npub, nprofile, 64 hexadecimal digits or name@domain.", valueName: "key"))
  var key: String
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try (try await session.accounts()).refuseTaken(account.name)
    let key = try await session.publicKey(key)
    let options = RequestOptions.idempotent(ttlMilliseconds: CommandSession.keyMilliseconds)
    let added = try await session.client.request(
      SignerMethod.watch, SignerWatch(name: account.name, publicKey: "\(key)"), options: options)
    let verb = added.isReadOnly == true ? "read along with" : "here with its key"
    await session.print(added, AccountText.changed(added, verb, session.style))
    return .done
  }
}

/// `roost account use`
struct AccountUse: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "use",
    abstract: "From now on this account is meant wherever none is named; one that was left comes back.")
  @OptionGroup var named: NamedAccount
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let account = try session.account(named.account, among: try await session.accounts())
    let options = RequestOptions.idempotent(ttlMilliseconds: Timeout.reading.milliseconds)
    let used = try await session.client.request(
      SignerMethod.use, SignerChoose(account: account.name), options: options)
    await session.print(used, AccountText.used(used, session.style))
    return .done
  }
}

/// `roost account leave`
struct AccountLeave: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "leave", abstract: "Locks an account and ends what is asked of relays for it; everything is kept.",
    discussion: """
      It stays left over restarts, until 'roost account use' or 'roost key unlock'. Its events, lists and key stay here. What \
      was published before is still sent to its relays.
      """)
  @OptionGroup var named: NamedAccount
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let account = try session.account(named.account, among: try await session.accounts())
    let options = RequestOptions.idempotent(ttlMilliseconds: Timeout.reading.milliseconds)
    let left = try await session.client.request(
      SignerMethod.leave, SignerLeave(account: account.name), options: options)
    await session.print(left, AccountText.left(left, session.style))
    return .done
  }
}

/// `roost account forget`
struct AccountForgetCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Removes an account from this machine: its key, and all that is its alone.",
    discussion: """
      Without a copy of the key elsewhere the account is lost: nothing can ever be signed for it again. Events that concern \
      another account too stay. Relays keep what they have: to have it deleted there, publish a request to vanish (NIP-62) \
      before. Backups and logs are not searched. The account's npub has to be typed, or given with --confirm.

      It continues by itself when this command, or any worker, ends in between; the same command joins it again. Until the \
      key is gone, 'roost account use' brings the account back, without what was removed.
      """)
  @OptionGroup var named: NamedAccount
  @Option(help: ArgumentHelp("The account's npub, so that nothing is asked.", valueName: "npub"))
  var confirm: String?
  @OptionGroup var general: GeneralOptions

  /// How long a lost answer is waited for before the next attempt, in milliseconds.
  private static let retryMilliseconds: UInt64 = 500
  /// How often an answer may be lost.
  private static let attemptMaximum = 100

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let account = try session.account(named.account, among: try await session.accounts())
    try await Self.confirm(account, typed: confirm)
    // Before anything is done: the worker that does it must be there.
    _ = try await session.waiting(for: PeopleMethod.status.declaration) { () async throws(Refusal) in
      try await session.client.request(
        PeopleMethod.status, NoArguments(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    }
    _ = try await session.client.request(
      SignerMethod.leave, SignerLeave(account: account.name, isForgetting: true),
      options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    return try await Self.follow(account, in: session)
  }

  private static func confirm(_ account: SignerAccount, typed: String?) async throws(Refusal) {
    if let typed {
      guard typed == account.npub || typed == account.publicKey else {
        throw Refusal(.badRequest, "that is not the key of '\(account.name)'; nothing is removed", outcome: .notStarted)
      }
      return
    }
    guard SecretInput.isTerminal else {
      throw Refusal(.badRequest, "forgetting an account needs --confirm \(account.npub)", outcome: .notStarted)
    }
    let lost = account.isReadOnly == true ? "Everything" : "The key of '\(account.name)' and everything"
    let owner = account.isReadOnly == true ? "only '\(account.name)' wanted" : "is its alone"
    let question = "\(lost) that \(owner) will be gone for good. Type its npub, \(account.npub):\n"
    let answer = try Question.ask(question) { (text) -> Question.Reading<String> in
      text == account.npub || text == account.publicKey
        ? .success(text) : .failure("That is not its npub; nothing is removed. Type it, or Ctrl-C:")
    }
    guard answer != nil else {
      throw Refusal(.badRequest, "no npub was typed; nothing is removed", outcome: .notStarted)
    }
  }

  /// Shows the steps until the end. A death of the worker is no end: it continues, and this joins it again.
  private static func follow(_ account: SignerAccount, in session: CommandSession) async throws(Refusal) -> ExitStatus {
    var (told, attempts): (Set<ForgetStep>, Int) = ([], 0)
    while true {
      do throws(Refusal) {
        let steps = try await session.client.stream(PeopleMethod.forget, PeopleForget(account: account.publicKey))
        while let item = try await steps.next() {
          switch item {
          case .part(let step):
            guard told.insert(step).inserted else { continue }
            await session.print(step, AccountText.step(step, session.style))
          case .end(let end):
            await session.print(end, AccountText.forgotten(account, end, session.style))
            return .done
          }
        }
      } catch {
        if error.code == .noSuchAccount, !told.isEmpty || attempts > 0 {
          await session.print(
            PeopleForgotten(gone: [], remarks: [], relays: []),
            ["\(account.name) is forgotten; the answer that said what was removed was lost."])
          return .done
        }
        let isLost = [.workerDied, .unavailable, .gone, .disconnected].contains(error.code)
        attempts += 1
        guard isLost, attempts < attemptMaximum else { throw error }
      }
      await EventLoopActor.sleep(milliseconds: retryMilliseconds)
    }
  }
}
