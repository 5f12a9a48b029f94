internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Rendering
internal import RoostClient

// Whose account: the second step of `roost setup`.

/// What the step has found or made.
enum SetupChoice {
  /// An account that is here, and for which the mirror works already.
  case present(SignerAccount)
  /// An account that is here and left; with its passphrase, if it was typed just now.
  case left(SignerAccount, SealedSecret?)
  /// An account to read along with, which is not here yet.
  case watched(PublicKey, name: String)
  /// A new account, made just now.
  case made(SignerAccount)
  /// A new account was not wanted after all.
  case nothing
}

extension SetupRun {
  /// The ways to an account.
  private enum Way {
    case watch, take, make
  }
  /// The name of an account whose user gives none.
  private static let standardName = "me"

  func choose() async throws(Refusal) -> SetupChoice {
    let all = try await session.accounts()
    let own = all.accounts.filter { !$0.isOfWorker }
    let way = way
    if way != .watch, let name = options.name, let account = own.first(where: { $0.name == name }),
      way != .take || account.isReadOnly != true
    {
      return try known(account)
    }
    if way == nil, options.name == nil, !own.isEmpty { return try known(try session.account(nil, among: all)) }
    let chosen: Way
    if let way { chosen = way } else { chosen = try askWay() }
    switch chosen {
    case .watch: return try await watch(among: own)
    case .take: return try await take(all)
    case .make: return try await make(all)
    }
  }

  private var way: Way? { options.watch != nil ? .watch : options.imports ? .take : options.isNew ? .make : nil }

  private func known(_ account: SignerAccount) throws(Refusal) -> SetupChoice {
    guard account.isForgetting != true else {
      throw Refusal(
        .badRequest, "'\(account.name)' is being forgotten; 'roost account use \(account.name)' brings it back",
        outcome: .notStarted)
    }
    return account.isLeft == true ? .left(account, nil) : .present(account)
  }

  private func askWay() throws(Refusal) -> Way {
    guard isAsking else {
      leaveForUsage("there is no account here, and no terminal to ask at: give --watch KEY, --import or --new")
    }
    let way = try Question.ask(SetupText.ways) { (text) -> Question.Reading<Way> in
      switch text {
      case "1": .success(.watch)
      case "2": .success(.take)
      case "3": .success(.make)
      default: .failure("Answer 1, 2 or 3:")
      }
    }
    guard let way else { throw Self.noAnswer("--watch, --import or --new") }
    return way
  }

  static func noAnswer(_ option: String) -> Refusal {
    Refusal(.badRequest, "no answer was given; give \(option)", outcome: .notStarted)
  }

  /// The account's name: given, asked for, or the standard one.
  private func name(_ proposal: String, besides taken: [SignerAccount]) throws(Refusal) -> String {
    func flaw(_ name: String) -> String? {
      if name.lowercased().hasPrefix("nsec1") { return "That is a secret key. Type a short name:" }
      guard AccountName.isValid(name) else { return "A name is \(AccountName.form). Again:" }
      guard let other = taken.first(where: { $0.name == name }) else { return nil }
      return "'\(name)' is another account here, \(other.npub). Another name:"
    }
    if let name = options.name { return name }
    let proposal = AccountName.isValid(proposal) ? proposal : Self.standardName
    guard isAsking else {
      guard let other = taken.first(where: { $0.name == proposal }) else { return proposal }
      throw Refusal(
        .nameTaken, "'\(proposal)' is another account here, \(other.npub); give another with --name",
        outcome: .notStarted)
    }
    let name = try Question.ask("A short name for it on this machine (Enter: \(proposal)): ") {
      (text) -> Question.Reading<String> in
      let name = text.isEmpty ? proposal : text
      return flaw(name).map { .failure($0) } ?? .success(name)
    }
    guard let name else { throw Self.noAnswer("--name") }
    return name
  }

  // MARK: Reading along

  private func watch(among own: [SignerAccount]) async throws(Refusal) -> SetupChoice {
    let (text, key) = try await watchedKey()
    if let account = own.first(where: { $0.publicKey == "\(key)" }) { return try known(account) }
    if let other = own.first(where: { $0.name == options.name }) {
      throw Refusal(
        .nameTaken, "'\(other.name)' is another account here, \(other.npub); give another with --name",
        outcome: .notStarted)
    }
    let local = KeyArgument.isName(text) ? String(text.prefix { $0 != "@" }) : ""
    return .watched(key, name: try name(local, besides: own))
  }

  private func watchedKey() async throws(Refusal) -> (text: String, key: PublicKey) {
    if let text = options.watch { return (text, try await session.publicKey(text)) }
    SecretInput.say("Its npub, or its name (bob@example.com): ")
    for attempt in 1...Question.attemptMaximum {
      guard let text = Question.line() else { break }
      do throws(Refusal) { return (text, try await session.publicKey(text)) } catch {
        guard attempt < Question.attemptMaximum else { throw error }
        SecretInput.say("\(RefusalText.sentence(error)) Again:\n")
      }
    }
    throw Self.noAnswer("--watch KEY")
  }

  // MARK: Taking a key over

  private func take(_ all: SignerAccounts) async throws(Refusal) -> SetupChoice {
    let secret = try secretKey(for: all.sealingKey)
    // The secret key of a read-only account may be meant, so its name can be given.
    let others = all.accounts.filter { $0.isReadOnly != true }
    var name = try name(Self.standardName, besides: others)
    try all.refuseTaken(name)
    for attempt in 1...Question.attemptMaximum {
      let passphrase = options.noPassphrase ? nil : try passphrase(secret, for: all.sealingKey)
      do throws(Refusal) {
        let account = try await session.client.request(
          SignerMethod.import,
          SignerImport(name: name, secret: secret.sealed, passphrase: passphrase, isLeft: true),
          options: RequestOptions(ttlMilliseconds: CommandSession.keyMilliseconds, atMostOnce: true))
        return account.isLeft == true ? .left(account, passphrase) : .present(account)
      } catch {
        let isName = error.code == .nameTaken && options.name == nil
        guard isAsking, isName || error.code == .wrongPassphrase, attempt < Question.attemptMaximum else { throw error }
        SecretInput.say("\(RefusalText.sentence(error)) Again:\n")
        if isName { name = try self.name(Self.standardName, besides: others) }
      }
    }
    throw Self.noAnswer("the second line of standard input")
  }

  private func secretKey(for sealingKey: String) throws(Refusal) -> TypedKey {
    for attempt in 1...Question.attemptMaximum {
      do throws(Refusal) {
        let prompt = "Secret key (nsec1…, ncryptsec1… or hexadecimal; it is not shown): "
        if let key = try session.typedKey(prompt, for: sealingKey) { return key }
        throw Refusal(
          .badRequest, "no secret key was given (on the terminal, or as the first line of standard input)",
          outcome: .notStarted)
      } catch {
        guard isAsking, attempt < Question.attemptMaximum else { throw error }
        SecretInput.say("\(RefusalText.sentence(error)) Again:\n")
      }
    }
    throw Self.noAnswer("--import")
  }

  /// A new passphrase, or that of an ncryptsec. Two that differ are reported, and asked for again.
  private func passphrase(_ key: TypedKey?, for sealingKey: String) throws(Refusal) -> SealedSecret {
    if key?.isEncrypted == true {
      guard let sealed = try session.sealed("The passphrase that opens it: ", for: sealingKey) else {
        throw CommandSession.passphraseMissing
      }
      return sealed
    }
    for attempt in 1...Question.attemptMaximum {
      do throws(Refusal) {
        return try session.sealedNewPassphrase("A passphrase for the key on this machine: ", for: sealingKey)
      } catch {
        guard isAsking, attempt < Question.attemptMaximum else { throw error }
        SecretInput.say("\(RefusalText.sentence(error)) Again:\n")
      }
    }
    throw CommandSession.passphraseMissing
  }

  // MARK: A new one

  private func make(_ all: SignerAccounts) async throws(Refusal) -> SetupChoice {
    guard options.yes || isAsking else {
      leaveForUsage(
        "a new account's profile and lists are published, and there is no terminal to ask at: give --yes, or make it with "
          + "'roost account new'")
    }
    let name = try name(Self.standardName, besides: all.accounts)
    try all.refuseTaken(name)
    let displayName = try session.profileName(given: options.displayName)
    let proposal = AccountProposal(name: displayName, relays: try await session.proposedRelays())
    if !session.isJSON {
      await session.output.writeLines(SetupText.making(name) + AccountText.proposal(proposal, session.style))
    }
    guard try isYes("Make this account" + (proposal.drafts.isEmpty ? "?" : ", and publish this?")) else {
      await tell(SetupJSON.Stopped(), ["Nothing was made."])
      return .nothing
    }
    let passphrase = options.noPassphrase ? nil : try passphrase(nil, for: all.sealingKey)
    let account = try await session.client.request(
      SignerMethod.generate, SignerGenerate(name: name, passphrase: passphrase),
      options: RequestOptions(ttlMilliseconds: CommandSession.keyMilliseconds, atMostOnce: true))
    if !session.isJSON { await session.output.writeLines(AccountText.changed(account, "made", session.style)) }
    let ids = try await session.publish(proposal, as: account)
    if session.isJSON { await tell(SetupJSON.Published(ids: ids), []) }
    return .made(account)
  }
}
