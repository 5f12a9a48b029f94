internal import Contracts
public import Cryptography
public import Frames
internal import Nostr

extension SignerMachine {
  /// Finds the account that a caller means.
  ///
  /// - Parameters:
  ///   - text: a name, an `npub` or hexadecimal digits. Nil: the account of one of the candidates, or without
  ///     candidates the only account of a person, unless a key is refused.
  ///   - candidates: the possible keys when no account is named.
  /// - Throws: `no-such-account`; `bad-request` when several accounts are possible, or a key is refused.
  public func resolve(_ text: String?, candidates: [PublicKey] = []) throws(Refusal) -> Account {
    guard let text else { return try resolve(among: candidates) }
    if let account = accounts[text] { return account }
    // An invalid key is treated as an unknown name: for a mistyped name the difference does not matter.
    let key = Result { () throws(EntityFault) in try PublicKey(spelled: text) }
    if case .success(let key) = key, let account = accounts.values.first(where: { $0.publicKey == key }) {
      return account
    }
    guard case .failure(.secret) = key else {
      if let refused = refusedKeys.first(named: text) {
        throw Refusal(.noSuchAccount, "there is no account '\(text)'; \(refused.sentence)", outcome: .notStarted)
      }
      let hint = NearestName.find(text, among: accounts.keys.sorted()).map { "; did you mean '\($0)'?" } ?? ""
      let shown = AccountName.isValid(text) || PublicKey(text) != nil ? " '\(text)'" : " of this name"
      throw Refusal(.noSuchAccount, "there is no account\(shown)\(hint)", outcome: .notStarted)
    }
    throw Refusal(.badRequest, "'account' is a secret key, which must not stand there", outcome: .notStarted)
  }

  private func resolve(among candidates: [PublicKey]) throws(Refusal) -> Account {
    if !candidates.isEmpty {
      if let account = accounts.values.first(where: { candidates.contains($0.publicKey) }) { return account }
      throw Refusal(.noSuchAccount, "it is for none of the accounts here", outcome: .notStarted)
    }
    let accounts = accounts.filter { !Self.isOfWorker($0.key) }
    if accounts.count == 1, let only = accounts.values.first {
      guard let refused = refusedKeys.first(where: { !Self.isOfWorker($0.account) }) else { return only }
      throw Refusal(
        .badRequest, "'account' is missing: \(only.name) is the only one, but \(refused.sentence)", outcome: .notStarted
      )
    }
    guard !accounts.isEmpty else {
      let text = refusedKeys.first.map { "there is no account; \($0.sentence)" }
      throw Refusal(
        .noSuchAccount, text ?? "there is no account yet; 'roost key generate NAME' makes one", outcome: .notStarted)
    }
    throw Refusal(
      .badRequest, "'account' is missing, and there are \(accounts.count) accounts", outcome: .notStarted)
  }

  /// Whether an account of this name belongs to a worker. Such an account is never the default.
  private static func isOfWorker(_ name: String) -> Bool { Role.withAccount.contains { $0.name == name } }

  /// Why no account with this name and key can be added; nil when it can. The same key under the same name is no new
  /// account.
  public func refusalOfNew(_ name: String, _ publicKey: PublicKey?) -> Refusal? {
    guard AccountName.isValid(name) else {
      return Refusal(.badRequest, "'name' must be \(AccountName.form)", outcome: .notStarted)
    }
    if let present = accounts[name], present.publicKey != publicKey || publicKey == nil {
      return Refusal(
        .nameTaken, "there is an account '\(name)' already, with the key \(present.publicKey.npub)",
        outcome: .notStarted)
    }
    if let publicKey, let twin = accounts.values.first(where: { $0.publicKey == publicKey && $0.name != name }) {
      return Refusal(.nameTaken, "this key is here already, as the account '\(twin.name)'", outcome: .notStarted)
    }
    guard accounts.count < Self.accountMaximum || accounts[name] != nil else {
      return Refusal(.full, "there are \(accounts.count) accounts, and no more are taken", outcome: .notStarted)
    }
    return nil
  }

  /// Adds an account.
  public mutating func added(_ account: Account) -> [Action] {
    precondition(refusalOfNew(account.name, account.publicKey) == nil, "an account is looked at before it is added")
    accounts[account.name] = account
    return account.isLocked ? [] : release(account.name)
  }

  /// Removes an account; requests that wait for it are refused.
  public mutating func removed(_ name: String) -> [Action] {
    guard accounts.removeValue(forKey: name) != nil else { return [] }
    let over = waiting.filter { $0.account == name }
    waiting.removeAll { $0.account == name }
    let refusal = Refusal(.noSuchAccount, "the account '\(name)' was removed", outcome: .notStarted)
    return over.flatMap { refuse($0.key, $0.use, name, refusal) } + timerActions()
  }

  /// An account's key is open: the requests that wait for it proceed, in their order of arrival.
  public mutating func unlocked(_ name: String) -> [Action] {
    guard accounts[name] != nil else { return [] }
    accounts[name]?.isLocked = false
    return release(name)
  }

  /// An account's key was dropped; from now on requests for it wait.
  public mutating func locked(_ name: String) { accounts[name]?.isLocked = true }

  /// `3 accounts, 1 locked, 2 requests wait`
  public var summary: String {
    let locked = accounts.values.count { $0.isLocked }
    var parts = [accounts.count == 1 ? "1 account" : "\(accounts.count) accounts"]
    if locked > 0 { parts.append(locked == accounts.count ? "LOCKED" : "\(locked) LOCKED") }
    if waitingCount > 0 { parts.append(waitingCount == 1 ? "1 request waits" : "\(waitingCount) requests wait") }
    return parts.joined(separator: ", ")
  }
}
