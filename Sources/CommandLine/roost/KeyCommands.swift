internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import RoostClient
internal import Rendering

/// `roost key`
struct Key: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes, imports, lists, unlocks and removes the signer's keys, and changes their passphrases.",
    discussion: """
      Secret keys and passphrases are asked for on the terminal, or read from standard input, a line each; they are never \
      arguments. An ACCOUNT is a name, an npub or 64 hexadecimal digits, and may be left out while there is one.

        roost key generate alice
        pass show nostr | roost key import bob --no-passphrase
        roost key unlock alice
      """,
    subcommands: [
      KeyGenerate.self, KeyImport.self, KeyList.self, KeyShow.self, KeyUnlock.self, KeyLock.self,
      KeyPassphrase.self, KeyRemove.self,
    ])
}

/// The error if a secret key was typed as an argument.
let secretAsArgument =
  "A secret key is never an argument: it is now in your shell's history, and everybody on this machine could read it in the "
  + "list of processes. Remove it there, and regard the key as exposed: others may sign with it."

/// Arguments after the account, where none is allowed. The user may have typed a key or a passphrase there, which must
/// not be shown again.
struct MisplacedSecrets: ParsableArguments, Sendable {
  @Argument(help: .hidden)
  var words: [String] = []

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    guard words.isEmpty else {
      throw ValidationError(
        "Unexpected argument after the account: keys and passphrases are asked for, or read from standard input. What was typed "
          + "there is now in your shell's history, and everybody on this machine could read it in the list of processes; "
          + "if it was a key or a passphrase, regard it as exposed.")
    }
  }
}

/// The name of a new account.
struct AccountArgument: ParsableArguments, Sendable {
  @Argument(help: "The account's name: lower case letters, digits, '-' and '_'.")
  var name: String

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    // People paste the wrong text. It must go no further, and must not be shown again.
    if name.lowercased().hasPrefix("nsec1") || name.lowercased().hasPrefix("ncryptsec1") {
      throw ValidationError(secretAsArgument)
    }
    // The signer checks this too, but only after the passphrase was typed twice.
    guard AccountName.isValid(name) else { throw ValidationError("A name is \(AccountName.form).") }
  }
}

/// The account that a command is about.
struct AccountChoice: ParsableArguments, Sendable {
  @Argument(help: "The account: a name, an npub or 64 hexadecimal digits.")
  var account: String?
  @Option(name: .customLong("as"), help: ArgumentHelp("The same, as other commands take it.", valueName: "account"))
  var other: String?

  /// Whichever of the two was typed.
  var typed: String? { account ?? other }
  /// The same; else `ROOST_ACCOUNT`.
  var text: String? { typed ?? AccountWord.unnamed.name }

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if account != nil, other != nil { throw ValidationError("Give the account once.") }
    if text?.lowercased().hasPrefix("nsec1") == true {
      throw ValidationError(secretAsArgument)
    }
  }
}

extension SignerAccounts {
  /// Refuses the name of a stored key that is not in use, before the user types a passphrase for it.
  func refuseTaken(_ name: String) throws(Refusal) {
    guard let refused = refused.first(named: name) else { return }
    throw Refusal(.nameTaken, "\(refused.sentence); nothing is written over it", outcome: .notStarted)
  }
}

/// `roost key generate`
struct KeyGenerate: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Makes a new key, under a passphrase.",
    discussion: "There is no way to the key without its passphrase. Keep it where you will find it.")
  @OptionGroup var account: AccountArgument
  @OptionGroup var misplaced: MisplacedSecrets
  @Flag(help: "Store the key unencrypted: who reads the file has the key, and no unlocking is needed.")
  var noPassphrase = false
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let present = try await session.accounts()
    if present.accounts.contains(where: { $0.name == account.name }) {
      throw Refusal(.nameTaken, "there is an account '\(account.name)' already", outcome: .notStarted)
    }
    try present.refuseTaken(account.name)
    let passphrase = noPassphrase ? nil : try session.sealedNewPassphrase(for: present.sealingKey)
    let request = SignerGenerate(name: account.name, passphrase: passphrase)
    return try await session.change(SignerMethod.generate, request, verb: "made")
  }
}

/// `roost key import`
struct KeyImport: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Takes over a key that was made elsewhere: nsec, ncryptsec or hexadecimal.",
    discussion: """
      On a terminal the key and its passphrase are asked for. From standard input the first line is the key and the second \
      the passphrase: of an ncryptsec the one that opens it, else the one to store the key under.
      """)
  @OptionGroup var account: AccountArgument
  @OptionGroup var misplaced: MisplacedSecrets
  @Flag(help: "Store the key unencrypted: who reads the file has the key, and no unlocking is needed.")
  var noPassphrase = false
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let present = try await session.accounts()
    let sealingKey = present.sealingKey
    try present.refuseTaken(account.name)
    guard let secret = try session.sealed("Secret key (nsec1…, ncryptsec1… or hexadecimal): ", for: sealingKey) else {
      throw Refusal(
        .badRequest, "no secret key was given (on the terminal, or as the first line of standard input)",
        outcome: .notStarted)
    }
    let passphrase = noPassphrase ? nil : try session.sealedNewPassphrase(for: sealingKey)
    let request = SignerImport(name: account.name, secret: secret, passphrase: passphrase)
    return try await session.change(SignerMethod.import, request, verb: "imported")
  }
}

/// `roost key list`
struct KeyList: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists the accounts.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.listAccounts()
  }
}

/// `roost key show`
struct KeyShow: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows one account: its public key, and how it is kept.")
  @OptionGroup var choice: AccountChoice
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let account = try session.account(choice.text, among: try await session.accounts())
    await session.print(account, AccountText.one(account, session.style))
    return .done
  }
}

/// `roost key unlock`
struct KeyUnlock: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Opens an account's key until the signer ends or 'roost key lock'.",
    discussion: "Requests that wait for it then go on. Without ACCOUNT it is the one that is locked.")
  @OptionGroup var choice: AccountChoice
  @OptionGroup var misplaced: MisplacedSecrets
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let present = try await session.accounts()
    let account = try session.account(choice.text, among: present) { $0.awaitsPassphrase }
    guard account.state == .locked else {
      await session.print(account, AccountText.changed(account, "open already", session.style))
      return .done
    }
    // A left account is locked although its key has no passphrase.
    guard account.isEncrypted else {
      return try await session.change(SignerMethod.unlock, SignerUnlock(account: account.name), verb: "unlocked")
    }
    guard let passphrase = try session.sealed("Passphrase of \(account.name): ", for: present.sealingKey) else {
      throw Refusal(
        .badRequest, "no passphrase was given (on the terminal, or as a line of standard input)", outcome: .notStarted)
    }
    let request = SignerUnlock(account: account.name, passphrase: passphrase)
    return try await session.change(SignerMethod.unlock, request, verb: "unlocked")
  }
}

/// `roost key lock`
struct KeyLock: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Makes the signer forget a key, or all of them, until the passphrase is given again."
  )
  @OptionGroup var choice: AccountChoice
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let accounts = try await session.client.request(
      SignerMethod.lock, SignerLock(account: choice.typed),
      options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    await session.print(accounts, AccountText.list(accounts, session.style))
    return .done
  }
}

/// `roost key passphrase`
struct KeyPassphrase: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase", abstract: "Stores a key under another passphrase.",
    discussion: """
      The present passphrase is asked for first, if there is one, and then the new one; from standard input they are two \
      lines. The key is never without a whole file. Copies of the old file, in backups, still open with the old one.
      """)
  @OptionGroup var choice: AccountChoice
  @OptionGroup var misplaced: MisplacedSecrets
  @Flag(help: "Store the key unencrypted: who reads the file has the key, and no unlocking is needed.")
  var noPassphrase = false
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let keys = try await session.accounts()
    let account = try session.account(choice.text, among: keys)
    var present: SealedSecret?
    if account.isEncrypted {
      present = try session.sealed("Present passphrase of \(account.name): ", for: keys.sealingKey)
      guard present != nil else {
        throw Refusal(
          .badRequest, "no passphrase was given (on the terminal, or as lines of standard input)", outcome: .notStarted)
      }
    }
    let new = noPassphrase ? nil : try session.sealedNewPassphrase("New passphrase: ", for: keys.sealingKey)
    let request = SignerPassphrase(account: account.name, present: present, new: new)
    let verb = noPassphrase ? "stored without a passphrase" : "stored under the new passphrase"
    return try await session.change(SignerMethod.passphrase, request, verb: verb)
  }
}

/// `roost key remove`
struct KeyRemove: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Deletes a stored key for good.",
    discussion: """
      Without a copy elsewhere the account is lost: no one can ever sign for it again. The account's npub has to be typed, or \
      given with --confirm.
      """)
  @OptionGroup var account: AccountArgument
  @Option(help: ArgumentHelp("The account's npub, so that nothing is asked.", valueName: "npub"))
  var confirm: String?
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let account = try session.account(self.account.name, among: try await session.accounts())
    let typed: String
    if let confirm { typed = confirm } else { typed = try Self.ask(account) }
    guard typed == account.npub || typed == account.publicKey else {
      throw Refusal(.badRequest, "that is not the key of '\(account.name)'; nothing is removed", outcome: .notStarted)
    }
    return try await session.change(
      SignerMethod.remove, SignerRemove(name: account.name, publicKey: account.publicKey), verb: "removed")
  }

  private static func ask(_ account: SignerAccount) throws(Refusal) -> String {
    guard SecretInput.isTerminal else {
      throw Refusal(.badRequest, "removing a key needs --confirm \(account.npub)", outcome: .notStarted)
    }
    SecretInput.say("The key of '\(account.name)' will be gone for good. Type its npub, \(account.npub):\n")
    return Swift.readLine() ?? ""
  }
}
