internal import Contracts
public import Cryptography
public import Frames
internal import Nostr

extension SignerMachine {
  /// Finds the account that a caller means.
  ///
  /// - Parameters:
  ///   - text: a name, an `npub` or hexadecimal digits. Nil: the account of one of the candidates; without candidates
  ///     the account that was chosen, or else the only account of a person that is not left, unless a key is refused.
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
    if let used, let account = accounts[used] { return account }
    let own = accounts.filter { !Self.isOfWorker($0.key) }
    let accounts = own.filter { !$0.value.isLeft }
    if accounts.count == 1, let only = accounts.values.first {
      guard let refused = refusedKeys.first(where: { !Self.isOfWorker($0.account) }) else { return only }
      throw Refusal(
        .badRequest, "'account' is missing: \(only.name) is the only one, but \(refused.sentence)", outcome: .notStarted
      )
    }
    if accounts.isEmpty, let left = own.keys.min() { throw Self.leftRefusal(left) }
    guard !accounts.isEmpty else {
      let text = refusedKeys.first.map { "there is no account; \($0.sentence)" }
      throw Refusal(
        .noSuchAccount, text ?? "there is no account yet; 'roost account new NAME' makes one", outcome: .notStarted)
    }
    throw Refusal(
      .badRequest,
      "'account' is missing, and there are \(accounts.count) accounts; 'roost account use NAME' says which is meant",
      outcome: .notStarted)
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
    if used == name { used = nil }
    let over = waiting.filter { $0.account == name }
    waiting.removeAll { $0.account == name }
    let refusal = Refusal(.noSuchAccount, "the account '\(name)' was removed", outcome: .notStarted)
    return over.flatMap { refuse($0.key, $0.use, name, refusal) } + timerActions()
  }

  /// An account's key is open: the requests that wait for it proceed, in their order of arrival.
  public mutating func unlocked(_ name: String) -> [Action] {
    guard accounts[name] != nil else { return [] }
    accounts[name]?.isLocked = false
    accounts[name]?.isLeft = false
    accounts[name]?.isForgetting = false
    return release(name)
  }

  /// The secret key of an account is here now, of which only the public key was. It is locked until ``unlocked(_:)``.
  public mutating func gainedKey(_ name: String) { accounts[name]?.isReadOnly = false }

  /// An account was chosen: from now on it is meant where none is named. Nil: no account is.
  public mutating func chosen(_ name: String?) {
    used = name.flatMap { accounts[$0] == nil || Self.isOfWorker($0) ? nil : $0 }
  }

  /// An account is left, and its key dropped; requests that wait for it are refused. It is no longer the chosen one.
  ///
  /// - Parameters:
  ///   - name: the account.
  ///   - isForgetting: whether it is to be forgotten.
  public mutating func left(_ name: String, isForgetting: Bool) -> [Action] {
    guard accounts[name] != nil else { return [] }
    accounts[name]?.isLocked = true
    accounts[name]?.isLeft = true
    accounts[name]?.isForgetting = isForgetting
    if used == name { used = nil }
    let over = waiting.filter { $0.account == name }
    waiting.removeAll { $0.account == name }
    return over.flatMap { refuse($0.key, $0.use, name, Self.leftRefusal(name)) } + timerActions()
  }

  /// A left account is brought back. Its key stays locked until ``unlocked(_:)``.
  public mutating func broughtBack(_ name: String) {
    accounts[name]?.isLeft = false
    accounts[name]?.isForgetting = false
  }

  /// Why a caller may not remove an account's key; nil when it may. A worker may remove only the key of an account
  /// whose owner has said that it is to be forgotten: a worker that was taken over must not be able to destroy keys.
  public func refusalOfRemoval(_ name: String, by role: String) -> Refusal? {
    guard role != Role.client.name, accounts[name]?.isForgetting != true else { return nil }
    return Refusal(
      .forbidden, "the role \(role) removes the keys of accounts that are to be forgotten, and \(name) is not",
      outcome: .notStarted)
  }

  /// An account's key was dropped; from now on requests for it wait.
  public mutating func locked(_ name: String) { accounts[name]?.isLocked = true }

  /// `3 accounts, 1 LOCKED, 1 read-only, 1 left, 2 requests wait`; without any, what to type.
  public var summary: String {
    if accounts.keys.allSatisfy(Self.isOfWorker), refusedKeys.isEmpty {
      return "no account: roost setup, roost account new NAME, or roost key import NAME"
    }
    let left = accounts.values.count { $0.isLeft }
    let locked = accounts.values.count { $0.isLocked && !$0.isLeft && !$0.isReadOnly }
    let readOnly = accounts.values.count { $0.isReadOnly && !$0.isLeft }
    var parts = [accounts.count == 1 ? "1 account" : "\(accounts.count) accounts"]
    if locked > 0 { parts.append(locked == accounts.count ? "LOCKED" : "\(locked) LOCKED") }
    if readOnly > 0 { parts.append(readOnly == accounts.count ? "read-only" : "\(readOnly) read-only") }
    if left > 0 { parts.append(left == accounts.count ? "left" : "\(left) left") }
    if waitingCount > 0 { parts.append(waitingCount == 1 ? "1 request waits" : "\(waitingCount) requests wait") }
    return parts.joined(separator: ", ")
  }
}
