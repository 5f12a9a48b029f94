public import Contracts
public import Cryptography

/// The operations of the signer.
public enum SignerOperation: Hashable, Sendable, CaseIterable {
  /// Sign an event.
  case sign
  /// Answer a relay's challenge (NIP-42).
  case authenticate
  /// Encrypt as NIP-04 does.
  case nip04Encrypt
  /// Decrypt a text by NIP-04.
  case nip04Decrypt
  /// Encrypt as NIP-44 does.
  case nip44Encrypt
  /// Decrypt a text by NIP-44.
  case nip44Decrypt
  /// Seal and gift-wrap (NIP-59).
  case wrap
  /// Open a gift wrap (NIP-59).
  case unwrap
  /// Open a run of gift wraps (NIP-59).
  case open
  /// List the accounts.
  case accounts
  /// Return the account of the caller's role, and make it if it does not exist.
  case own
  /// Make a key.
  case generate
  /// Import a key.
  case `import`
  /// Decrypt an account's key with its passphrase.
  case unlock
  /// Drop an account's decrypted key.
  case lock
  /// Delete a stored key.
  case remove
  /// Store a key under another passphrase.
  case passphrase
  /// Choose the account that is meant where none is named.
  case use
  /// Lock an account, and end what is done for it.
  case leave
  /// Make or open the data key of an account and the caller's role.
  case dataKey
  /// Add an account of which only the public key is here.
  case watch

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
    case .open: SignerMethod.open.declaration
    case .accounts: SignerMethod.accounts.declaration
    case .own: SignerMethod.own.declaration
    case .generate: SignerMethod.generate.declaration
    case .import: SignerMethod.import.declaration
    case .unlock: SignerMethod.unlock.declaration
    case .lock: SignerMethod.lock.declaration
    case .remove: SignerMethod.remove.declaration
    case .passphrase: SignerMethod.passphrase.declaration
    case .use: SignerMethod.use.declaration
    case .leave: SignerMethod.leave.declaration
    case .dataKey: SignerMethod.dataKey.declaration
    case .watch: SignerMethod.watch.declaration
    }
  }

  /// The method's name.
  public var name: String { method.name }

  /// Whether it needs an account's secret key, and so waits while the account is locked; `open` is refused at once.
  public var needsKey: Bool {
    switch self {
    case .sign, .authenticate, .nip04Encrypt, .nip04Decrypt, .nip44Encrypt, .nip44Decrypt, .wrap, .unwrap, .open,
      .dataKey:
      true
    case .accounts, .own, .generate, .import, .unlock, .lock, .remove, .passphrase, .use, .leave, .watch: false
    }
  }
}

/// The caller, as the hub identifies it.
public struct SignerCaller: Hashable, Sendable {
  /// The worker's name. Clients have no reliable name: theirs is `client` and the endpoint.
  public var name: String
  /// The role.
  public var role: String

  /// A caller.
  public init(name: String, role: String) {
    self.name = name
    self.role = role
  }
}

/// The part of a request that decisions need. It does not contain the text to be signed or encrypted.
public struct SignerUse: Hashable, Sendable {
  /// The operation.
  public var method: SignerOperation
  /// The caller.
  public var caller: SignerCaller
  /// The account's name, `npub` or hexadecimal digits. Nil: the only account.
  public var account: String?
  /// The possible keys if no account is given: the recipients that a gift wrap names.
  public var candidates: [PublicKey] = []
  /// The kind of the event that is signed or sealed.
  public var kind: UInt16?
  /// For a deletion (NIP-09): the kinds of all events that it deletes; nil when the caller has not shown all of them.
  public var deletedKinds: Set<UInt16>?
  /// For decryption: the kind of the peer's event that has this content; nil when the caller has shown no event.
  public var contentKind: UInt16?
  /// The author of that event.
  public var contentAuthor: PublicKey?
  /// For encryption and decryption: the key of the other side.
  public var peer: PublicKey?
  /// Of a run of gift wraps: how many. The rate counts each of them.
  public var wrapCount = 0
  /// The relay that demands authentication.
  public var relay: String?
  /// The size of the request, which is held while it waits.
  public var byteCount: Int
  /// How long the caller waits, in milliseconds; 0: unknown.
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

/// The audit record of one use: caller, operation and outcome, without the content.
public struct AuditLine: Hashable, Sendable {
  /// The operation and its caller.
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
