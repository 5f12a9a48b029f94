public import Frames

// The methods of role `signer`, `signer.*`.
//
// No secret key and no passphrase stands in any of these payloads: what a person types travels as a ``SealedSecret``,
// which only the signer's process opens, so that the hub, its mailboxes and its dead letters carry nothing worth
// stealing. Texts to be encrypted and texts that were decrypted do stand in them. `AccessEntry.isSecret` therefore
// holds for all of them.
//
// `account` is a name, an `npub` or 64 hexadecimal digits; it may be left out while there is one account, and no key
// that is refused: with that one mended or gone, the only account would be another. Accounts of workers
// (``Role/withAccount``) do not count there.
//
// `signer.own` takes no arguments and is answered with the ``SignerAccount`` of the caller's role, which is made if it
// is not there. Asking again is the same as once.

/// A secret on its way to the signer: encrypted by NIP-44 from a key made for this one message to the key that this
/// process of the signer made at its start (``SignerAccounts/sealingKey``). A signer that was started anew cannot open
/// it: it refuses with `sealed-for-another`, and the caller asks for the new key.
public struct SealedSecret: Codable, Sendable, Hashable {
  /// The public key of the sender's for this message, 64 hexadecimal digits.
  public var key: String
  /// The NIP-44 payload.
  public var payload: String

  /// A secret that was sealed.
  public init(key: String, payload: String) {
    self.key = key
    self.payload = payload
  }
}

/// `signer.sign`: an event to be signed.
public struct SignerSign: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"account":"alice","event":{"kind":1,"content":"hello"},"allowSecrets":false,"#
    + #""deleted":[{"id":"…","kind":5302,"sig":"…"}]}"#

  /// Who signs.
  public var account: String?
  /// `kind`, and where they matter `content`, `tags`, `created_at` (else now) and `pubkey` (then it must be the
  /// account's). Any other member is refused, and so are tags `p`, `e`, `a`, `q` that refer to nothing.
  public var event: JSONValue
  /// Whether `nsec1…` or `ncryptsec1…` may stand in it; false unless said.
  public var allowSecrets: Bool?
  /// Of a deletion (NIP-09) by a worker that may delete some kinds only: the events that its `e` tags name, whole and
  /// signed, so that their kinds are known; ``deletedMaximum`` at most. Others need not show them.
  public var deleted: [JSONValue]?

  /// Most events of ``deleted``.
  public static let deletedMaximum = 16

  /// An event to be signed.
  public init(account: String? = nil, event: JSONValue, allowSecrets: Bool? = nil, deleted: [JSONValue]? = nil) {
    self.account = account
    self.event = event
    self.allowSecrets = allowSecrets
    self.deleted = deleted
  }

  /// Too many events are shown.
  public var objection: String? {
    guard let count = deleted?.count, count > Self.deletedMaximum else { return nil }
    return "'deleted' has \(count) events; at most \(Self.deletedMaximum) are looked at"
  }
}

/// The answer of `signer.sign` and `signer.authenticate`.
public struct SignerSigned: Codable, Sendable {
  /// The event with id and signature.
  public var event: RawJSON

  /// A signed event.
  public init(event: RawJSON) { self.event = event }
}

/// `signer.authenticate`: the answer to a relay's challenge (NIP-42). The signer makes the event itself.
public struct SignerAuthenticate: MethodArguments {
  /// How it is asked.
  public static let example = #"{"account":"alice","relay":"wss://relay.example.com","challenge":"…"}"#

  /// Who shows himself.
  public var account: String?
  /// The relay, in its canonical spelling.
  public var relay: String
  /// What the relay sent, 1 … 512 bytes.
  public var challenge: String

  /// A challenge to be answered.
  public init(account: String? = nil, relay: String, challenge: String) {
    self.account = account
    self.relay = relay
    self.challenge = challenge
  }
}

/// `signer.nip04.encrypt`, `signer.nip04.decrypt`, `signer.nip44.encrypt`, `signer.nip44.decrypt`.
public struct SignerCipher: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"account":"alice","peer":"npub1…","text":"hello","event":{"id":"…","kind":6302,"content":"…","sig":"…"}}"#

  /// Whose key.
  public var account: String?
  /// The other's public key: 64 hexadecimal digits or `npub`.
  public var peer: String
  /// What is to be encrypted or decrypted. Most bytes: what fits into a frame and what the NIP allows.
  public var text: String?
  /// In place of ``text``, for decrypting: the peer's event whose content it is, whole and signed. A worker that may
  /// read some kinds only shows so that it is one of them.
  public var event: JSONValue?

  /// A text to be encrypted or decrypted.
  public init(account: String? = nil, peer: String, text: String) {
    self.account = account
    self.peer = peer
    self.text = text
  }

  /// The content of a peer's event, to be decrypted.
  public init(account: String? = nil, peer: String, contentOf event: JSONValue) {
    self.account = account
    self.peer = peer
    self.event = event
  }

  /// Nothing is there to be encrypted or decrypted.
  public var objection: String? { text == nil && event == nil ? "'text' is missing" : nil }
}

/// The answer of the four: the other form of the text.
public struct SignerText: Codable, Sendable {
  /// The text.
  public var text: String

  /// A text.
  public init(text: String) { self.text = text }
}

/// `signer.wrap`: something said under a seal, for one recipient (NIP-59). Who speaks to several asks once for each,
/// with the same `created_at`, so that the rumor's id is the same for all.
public struct SignerWrap: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"account":"alice","recipient":"npub1…","rumor":{"kind":14,"content":"hello"},"#
    + #""relayHint":"wss://relay.example.com","expiration":1800000000,"isEphemeral":false,"allowSecrets":false}"#

  /// Who speaks.
  public var account: String?
  /// Who is to read it: 64 hexadecimal digits or `npub`.
  public var recipient: String
  /// An event as for `signer.sign`; it is not signed.
  public var rumor: JSONValue
  /// A relay of the recipient's for the `p` tag.
  public var relayHint: String?
  /// When relays may drop it, in seconds since 1970 (NIP-40).
  public var expiration: Int64?
  /// Whether relays are not to store it (kind 21059).
  public var isEphemeral: Bool?
  /// Whether `nsec1…` or `ncryptsec1…` may stand in it; false unless said.
  public var allowSecrets: Bool?

  /// A rumor to be wrapped.
  public init(
    account: String? = nil, recipient: String, rumor: JSONValue, relayHint: String? = nil, expiration: Int64? = nil,
    isEphemeral: Bool? = nil, allowSecrets: Bool? = nil
  ) {
    self.account = account
    self.recipient = recipient
    self.rumor = rumor
    self.relayHint = relayHint
    self.expiration = expiration
    self.isEphemeral = isEphemeral
    self.allowSecrets = allowSecrets
  }
}

/// The answer of `signer.wrap`.
public struct SignerWrapped: Codable, Sendable {
  /// The gift wrap, to be sent to the recipient's relays.
  public var wrap: RawJSON
  /// The rumor with its id, to be kept by the sender.
  public var rumor: RawJSON

  /// A rumor in its gift wrap.
  public init(wrap: RawJSON, rumor: RawJSON) {
    self.wrap = wrap
    self.rumor = rumor
  }
}

/// `signer.unwrap`: a gift wrap to be opened, with all checks of NIP-59.
public struct SignerUnwrap: MethodArguments {
  /// How it is asked.
  public static let example = #"{"account":"alice","wrap":{"id":"…","pubkey":"…","kind":1059,"content":"…","sig":"…"}}"#

  /// For whom it is; else the account that a `p` tag of it names.
  public var account: String?
  /// The gift wrap.
  public var wrap: RawJSON

  /// A gift wrap to be opened.
  public init(account: String? = nil, wrap: RawJSON) {
    self.account = account
    self.wrap = wrap
  }
}

/// The answer of `signer.unwrap`.
public struct SignerUnwrapped: Codable, Sendable {
  /// The account it was for, 64 hexadecimal digits.
  public var recipient: String
  /// Who speaks, proven by the seal's signature.
  public var author: String
  /// What was said, with its id and without signature.
  public var rumor: RawJSON
  /// What is unusual about it, in sentences' ends.
  public var warnings: [String]

  /// What an opened gift wrap held.
  public init(recipient: String, author: String, rumor: RawJSON, warnings: [String]) {
    self.recipient = recipient
    self.author = author
    self.rumor = rumor
    self.warnings = warnings
  }
}

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
    /// In a credential of the service manager's: not stored, and not to be removed here.
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
  /// When the key came here, in seconds since 1970.
  public var createdAt: Int64

  /// Whether it is a worker's own, and not a person's: such a one is never meant where no account is named.
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

/// A key that is there and not used. As long as there is one, no account is taken for the only one.
public struct SignerRefusedKey: Codable, Sendable, Hashable {
  /// The account that it would be.
  public var account: String
  /// `a key file alice.key`, `a credential roost.key.alice`.
  public var place: String
  /// Why, as a sentence's end.
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
  /// The one that would be the account of this name.
  public func first(named name: String) -> SignerRefusedKey? { first { $0.account == name } }
}

/// The answer of `signer.accounts` and `signer.lock`.
public struct SignerAccounts: Codable, Sendable {
  /// By name.
  public var accounts: [SignerAccount]
  /// Key files that were refused, in sentences that say what to do.
  public var problems: [String]
  /// Those of them that would be accounts, and are none.
  public var refused: [SignerRefusedKey]
  /// For ``SealedSecret``: the public key of this process of the signer, 64 hexadecimal digits.
  public var sealingKey: String
  /// Whether keys are locked into memory, so that they never stand on a swap partition.
  public var isMemoryLocked: Bool
  /// Requests that wait for an account to be unlocked.
  public var waiting: Int

  /// What the signer has.
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

/// An event of the topic `signer.changes`: all accounts, whenever one has come, gone, or been locked or unlocked. It
/// may be missed; `signer.accounts` tells the same.
public struct SignerChanges: Codable, Sendable {
  /// By name.
  public var accounts: [SignerAccount]

  /// The accounts as they are now.
  public init(accounts: [SignerAccount]) { self.accounts = accounts }
}

/// `signer.generate`: a new key. Answered by its ``SignerAccount``. To be asked at most once: doing it twice is two
/// keys.
public struct SignerGenerate: MethodArguments {
  /// How it is asked.
  public static let example = #"{"name":"alice","passphrase":{"key":"…","payload":"…"}}"#

  /// The account's name.
  public var name: String
  /// Encrypts the stored key; without one it is stored as it is.
  public var passphrase: SealedSecret?

  /// A key to be made.
  public init(name: String, passphrase: SealedSecret? = nil) {
    self.name = name
    self.passphrase = passphrase
  }
}

/// `signer.import`: a key that was made elsewhere. Answered by its ``SignerAccount``. Importing the same key under the
/// same name twice is the same as once.
public struct SignerImport: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"name":"alice","secret":{"key":"…","payload":"…"},"passphrase":{"key":"…","#
    + #""payload":"…"}}"#

  /// The account's name.
  public var name: String
  /// `nsec1…`, `ncryptsec1…` or 64 hexadecimal digits.
  public var secret: SealedSecret
  /// Of an `ncryptsec` the passphrase that opens it, and which it keeps; else the one to store the key under, if any.
  public var passphrase: SealedSecret?

  /// A key to be taken over.
  public init(name: String, secret: SealedSecret, passphrase: SealedSecret? = nil) {
    self.name = name
    self.secret = secret
    self.passphrase = passphrase
  }
}

/// `signer.unlock`. Answered by the ``SignerAccount``.
public struct SignerUnlock: MethodArguments {
  /// How it is asked.
  public static let example = #"{"account":"alice","passphrase":{"key":"…","payload":"…"}}"#

  /// The account; may be left out while one is locked.
  public var account: String?
  /// Its passphrase.
  public var passphrase: SealedSecret

  /// An account to be unlocked.
  public init(account: String? = nil, passphrase: SealedSecret) {
    self.account = account
    self.passphrase = passphrase
  }
}

/// `signer.lock`: forgets the keys until their passphrases are given again. Answered by ``SignerAccounts``.
public struct SignerLock: MethodArguments {
  /// How it is asked.
  public static let example = #"{"account":"alice"}"#

  /// The account; all encrypted ones if left out.
  public var account: String?

  /// An account to be locked.
  public init(account: String? = nil) { self.account = account }
}

/// `signer.passphrase`: stores a key under another passphrase. Answered by its ``SignerAccount``. To be asked at most
/// once.
public struct SignerPassphrase: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"account":"alice","present":{"key":"…","payload":"…"},"new":{"key":"…","payload":"…"}}"#

  /// The account; may be left out while there is one.
  public var account: String?
  /// The passphrase it is under, also while it is unlocked; absent for a key that is stored as it is.
  public var present: SealedSecret?
  /// The passphrase it is to be under; absent: it is stored as it is.
  public var new: SealedSecret?

  /// A passphrase to be changed.
  public init(account: String? = nil, present: SealedSecret?, new: SealedSecret?) {
    self.account = account
    self.present = present
    self.new = new
  }
}

/// `signer.remove`: deletes a stored key for good. Answered by the ``SignerAccount`` that was.
public struct SignerRemove: MethodArguments {
  /// How it is asked.
  public static let example = #"{"name":"alice","publicKey":"3bf0…, 64 hexadecimal digits"}"#

  /// The account's name.
  public var name: String
  /// Its public key, so that nobody removes another key than the one he means.
  public var publicKey: String

  /// A key to be deleted.
  public init(name: String, publicKey: String) {
    self.name = name
    self.publicKey = publicKey
  }
}

extension RefusalCode {
  /// The account is locked, and its passphrase did not come in time.
  public static let locked: RefusalCode = "locked"
  /// No such account.
  public static let noSuchAccount: RefusalCode = "no-such-account"
  /// The caller's role may not have this signed.
  public static let forbidden: RefusalCode = "forbidden"
  /// The caller's role has used up what it may have done at a time; `retryAfterMilliseconds` says when there is more.
  public static let rateLimited: RefusalCode = "rate-limited"
  /// The passphrase does not open the key.
  public static let wrongPassphrase: RefusalCode = "wrong-passphrase"
  /// A sealed secret was meant for an earlier process of the signer.
  public static let sealedForAnother: RefusalCode = "sealed-for-another"
}
