// The accounts and keys of the signer, as it reports them.

/// One account, without anything secret.
public struct SignerAccount: Codable, Sendable, Hashable {
  /// Whether it can be used now.
  public enum State: String, Codable, Sendable, CaseIterable {
    /// Its passphrase is needed first.
    case locked
    /// It can be used.
    case unlocked
  }
  /// Where its key is.
  public enum Origin: String, Codable, Sendable, CaseIterable {
    /// In a file of the signer's.
    case file
    /// In a credential of the service manager: the signer does not store it and cannot remove it.
    case credential
  }
  /// Lower case letters, digits, `-` and `_`, at most 32.
  public var name: String
  /// 64 hexadecimal digits.
  public var publicKey: String
  /// The same as people write it.
  public var npub: String
  /// Whether it can be used now.
  public var state: State
  /// Whether the stored key is encrypted with a passphrase (NIP-49).
  public var isEncrypted: Bool
  /// Where the key is.
  public var origin: Origin
  /// When the signer got the key, in seconds since 1970.
  public var createdAt: Int64
  /// True: it is meant where no account is named (`signer.use`). Absent otherwise.
  public var isUsed: Bool?
  /// True: it is left (`signer.leave`). Its key is locked, nothing is asked of relays for it, and everything is kept.
  /// Absent otherwise.
  public var isLeft: Bool?
  /// True: it is left, and to be forgotten: role `people` may remove its key. Absent otherwise.
  public var isForgetting: Bool?
  /// True: only its public key is here (`signer.watch`), so it is locked for good: what needs the secret key is refused
  /// at once. `signer.import` with the secret key ends that. Absent otherwise.
  public var isReadOnly: Bool?

  /// Whether a passphrase would open it.
  public var awaitsPassphrase: Bool { state == .locked && isReadOnly != true }

  /// Whether it is a worker's own account, not a person's. Such an account is never used where no account is named.
  public var isOfWorker: Bool { Role.withAccount.contains { $0.name == name } }

  /// An account.
  public init(
    name: String, publicKey: String, npub: String, state: State, isEncrypted: Bool, origin: Origin, createdAt: Int64
  ) {
    self.name = name
    self.publicKey = publicKey
    self.npub = npub
    self.state = state
    self.isEncrypted = isEncrypted
    self.origin = origin
    self.createdAt = createdAt
  }
}

extension [SignerAccount] {
  /// Those for which something is asked of relays: all that are not left.
  public var present: [SignerAccount] { filter { $0.isLeft != true } }
}

/// A key that exists but is not used. As long as there is one, no account counts as the only one.
public struct SignerRefusedKey: Codable, Sendable, Hashable {
  /// The name of the account that it would be.
  public var account: String
  /// `a key file alice.key`, `a credential roost.key.alice`.
  public var place: String
  /// Why, as the end of a sentence.
  public var reason: String
  /// What to do about it.
  public var remedy: String

  /// A key that is not used.
  public init(account: String, place: String, reason: String, remedy: String) {
    self.account = account
    self.place = place
    self.reason = reason
    self.remedy = remedy
  }

  /// `a key file bob.key is there but not used: …; …`
  public var sentence: String { "\(place) is there but not used: \(reason); \(remedy)" }
}

extension [SignerRefusedKey] {
  /// The refused key of the account with this name.
  public func first(named name: String) -> SignerRefusedKey? { first { $0.account == name } }
}

/// The answer of `signer.accounts` and `signer.lock`.
public struct SignerAccounts: Codable, Sendable {
  /// By name.
  public var accounts: [SignerAccount]
  /// Key files that were refused, as sentences that say what to do.
  public var problems: [String]
  /// The refused keys among them that would be accounts.
  public var refused: [SignerRefusedKey]
  /// For ``SealedSecret``: the public key of this process of the signer, 64 hexadecimal digits.
  public var sealingKey: String
  /// Whether keys are locked into memory, so that they are never written to a swap partition.
  public var isMemoryLocked: Bool
  /// Requests that wait for an account to be unlocked.
  public var waiting: Int

  /// The accounts and keys of the signer.
  public init(
    accounts: [SignerAccount], problems: [String], refused: [SignerRefusedKey] = [], sealingKey: String,
    isMemoryLocked: Bool, waiting: Int
  ) {
    self.accounts = accounts
    self.problems = problems
    self.refused = refused
    self.sealingKey = sealingKey
    self.isMemoryLocked = isMemoryLocked
    self.waiting = waiting
  }
}

/// An event of the topic `signer.changes`: all accounts, whenever one is added, removed, locked, unlocked, left, or
/// meant where several are. A subscriber may miss one; `signer.accounts` gives the same.
public struct SignerChanges: Codable, Sendable {
  /// By name.
  public var accounts: [SignerAccount]

  /// The accounts as they are now.
  public init(accounts: [SignerAccount]) { self.accounts = accounts }
}
