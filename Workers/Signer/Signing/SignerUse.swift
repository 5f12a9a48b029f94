public import Contracts
public import Cryptography

/// What the signer is asked to do.
public enum SignerOperation: Hashable, Sendable, CaseIterable {
  /// Sign an event.
  case sign
  /// Answer a relay's challenge (NIP-42).
  case authenticate
  /// Encrypt as NIP-04 does.
  case nip04Encrypt
  /// Decrypt what NIP-04 encrypted.
  case nip04Decrypt
  /// Encrypt as NIP-44 does.
  case nip44Encrypt
  /// Decrypt what NIP-44 encrypted.
  case nip44Decrypt
  /// Seal and gift-wrap (NIP-59).
  case wrap
  /// Open a gift wrap (NIP-59).
  case unwrap
  /// Tell the accounts.
  case accounts
  /// Tell the account of the caller's role, and make it if it is not there.
  case own
  /// Make a key.
  case generate
  /// Take a key over.
  case `import`
  /// Open an account's key.
  case unlock
  /// Forget an account's key.
  case lock
  /// Delete a stored key.
  case remove
  /// Store a key under another passphrase.
  case passphrase

  /// The method of the bus.
  public var method: MethodDeclaration {
    switch self {
    case .sign: SignerMethod.sign.declaration
    case .authenticate: SignerMethod.authenticate.declaration
    case .nip04Encrypt: SignerMethod.nip04Encrypt.declaration
    case .nip04Decrypt: SignerMethod.nip04Decrypt.declaration
    case .nip44Encrypt: SignerMethod.nip44Encrypt.declaration
    case .nip44Decrypt: SignerMethod.nip44Decrypt.declaration
    case .wrap: SignerMethod.wrap.declaration
    case .unwrap: SignerMethod.unwrap.declaration
    case .accounts: SignerMethod.accounts.declaration
    case .own: SignerMethod.own.declaration
    case .generate: SignerMethod.generate.declaration
    case .import: SignerMethod.import.declaration
    case .unlock: SignerMethod.unlock.declaration
    case .lock: SignerMethod.lock.declaration
    case .remove: SignerMethod.remove.declaration
    case .passphrase: SignerMethod.passphrase.declaration
    }
  }

  /// The method's name.
  public var name: String { method.name }

  /// Whether an account's secret key is needed for it, so that it waits while that is locked.
  public var needsKey: Bool {
    switch self {
    case .sign, .authenticate, .nip04Encrypt, .nip04Decrypt, .nip44Encrypt, .nip44Decrypt, .wrap, .unwrap: true
    case .accounts, .own, .generate, .import, .unlock, .lock, .remove, .passphrase: false
    }
  }
}

/// Who asks, as the hub knows him.
public struct SignerCaller: Hashable, Sendable {
  /// The worker's name; for clients, which have none that could be relied on, `client` and their endpoint.
  public var name: String
  /// The role.
  public var role: String

  /// A caller.
  public init(name: String, role: String) {
    self.name = name
    self.role = role
  }
}

/// One request, as far as it matters for deciding about it. What is to be signed or encrypted is not in here.
public struct SignerUse: Hashable, Sendable {
  /// What is asked.
  public var method: SignerOperation
  /// Who asks.
  public var caller: SignerCaller
  /// With which account: its name, `npub` or hexadecimal digits. Nil: the only one.
  public var account: String?
  /// Where no account is given: those whose accounts it may be, as a gift wrap names them.
  public var candidates: [PublicKey] = []
  /// The kind of the event to be signed or sealed.
  public var kind: UInt16?
  /// Of a deletion (NIP-09): the kinds of all that it deletes; nil when the caller has not shown them all.
  public var deletedKinds: Set<UInt16>?
  /// Of a text to be decrypted: the kind of the peer's event whose content it is; nil when none was shown.
  public var contentKind: UInt16?
  /// The relay that asks for authentication.
  public var relay: String?
  /// Bytes of the request, held while it waits.
  public var byteCount: Int
  /// How long the answer is of use, in milliseconds; 0 = not said.
  public var ttlMilliseconds: UInt32

  /// A request.
  public init(
    method: SignerOperation, caller: SignerCaller, account: String? = nil, kind: UInt16? = nil, relay: String? = nil,
    byteCount: Int = 0, ttlMilliseconds: UInt32 = 0
  ) {
    self.method = method
    self.caller = caller
    self.account = account
    self.kind = kind
    self.relay = relay
    self.byteCount = byteCount
    self.ttlMilliseconds = ttlMilliseconds
  }
}

/// What is written down of each use: who, what and with which outcome, and nothing of the content.
public struct AuditLine: Hashable, Sendable {
  /// What was asked, by whom.
  public var use: SignerUse
  /// The account's name, once it is known.
  public var account: String?
  /// `done`, or the refusal's code.
  public var result: String

  /// A line.
  public init(use: SignerUse, account: String?, result: String) {
    self.use = use
    self.account = account
    self.result = result
  }
}
