public import Frames

// The methods of role `signer`, `signer.*`.
//
// None of these payloads contains a secret key or a passphrase. What a person types travels as a ``SealedSecret``,
// which only the signer's process can open, so that the hub, its mailboxes and its dead letters hold nothing worth
// stealing. But they do contain texts to encrypt and decrypted texts. Therefore `AccessEntry.isSecret` is true for all
// of them.
//
// `account` is a name, an `npub` or 64 hexadecimal digits. Where it is left out, the account is meant that `signer.use`
// has named, or else the only one that is not left, while there is no refused key: once a refused key is repaired or
// removed, the only account could be a different one. Accounts of workers (``Role/withAccount``) do not count here.
//
// `signer.own` takes no arguments and is answered with the ``SignerAccount`` of the caller's role, which the signer
// makes if it does not exist. A repeated call makes no second account.

/// A secret on its way to the signer: encrypted by NIP-44 from a key made for this one message to the key that this
/// process of the signer made at its start (``SignerAccounts/sealingKey``). A restarted signer cannot open it: it
/// refuses with `sealed-for-another`, and the caller requests the new key.
public struct SealedSecret: Codable, Sendable, Hashable {
  /// The sender's public key for this message, 64 hexadecimal digits.
  public var key: String
  /// The NIP-44 payload.
  public var payload: String

  /// A sealed secret.
  public init(key: String, payload: String) {
    self.key = key
    self.payload = payload
  }
}

/// `signer.sign`: an event to sign.
public struct SignerSign: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","event":{"kind":1,"content":"hello"},"allowSecrets":false,"#
    + #""deleted":[{"id":"…","kind":5302,"sig":"…"}]}"#

  /// The account that signs.
  public var account: String?
  /// `kind`, and optionally `content`, `tags`, `created_at` (default: now) and `pubkey` (it must be the account's). Any
  /// other member is refused, and so are tags `p`, `e`, `a`, `q` without a valid reference.
  public var event: RawJSON
  /// Whether it may contain `nsec1…` or `ncryptsec1…`; default: false.
  public var allowSecrets: Bool?
  /// For a deletion (NIP-09) by a worker that may delete only some kinds: the events that its `e` tags name, whole and
  /// signed, so that the signer knows their kinds; at most ``deletedMaximum``. Other callers need not send them.
  public var deleted: [JSONValue]?

  /// The maximum number of events in ``deleted``.
  public static let deletedMaximum = 16

  /// An event to sign.
  public init(account: String? = nil, event: RawJSON, allowSecrets: Bool? = nil, deleted: [JSONValue]? = nil) {
    self.account = account
    self.event = event
    self.allowSecrets = allowSecrets
    self.deleted = deleted
  }

  /// Too many events in `deleted`.
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

/// `signer.authenticate`: signs the answer to a relay's challenge (NIP-42). The signer makes the event itself.
public struct SignerAuthenticate: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice","relay":"wss://relay.example.com","challenge":"…"}"#

  /// The account that authenticates.
  public var account: String?
  /// The relay, in its canonical spelling.
  public var relay: String
  /// The challenge that the relay sent, 1 … 512 bytes.
  public var challenge: String

  /// A challenge to answer.
  public init(account: String? = nil, relay: String, challenge: String) {
    self.account = account
    self.relay = relay
    self.challenge = challenge
  }
}

/// `signer.nip04.encrypt`, `signer.nip04.decrypt`, `signer.nip44.encrypt`, `signer.nip44.decrypt`.
public struct SignerCipher: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","peer":"npub1…","text":"hello","event":{"id":"…","kind":6302,"content":"…","sig":"…"}}"#

  /// The account whose key is used.
  public var account: String?
  /// The public key of the other side: 64 hexadecimal digits or `npub`.
  public var peer: String
  /// The text to encrypt or decrypt. The frame and the NIP limit its length.
  public var text: String?
  /// For decrypting, instead of ``text``: the peer's event that has the text as its content, whole and signed. A worker
  /// that may read only some kinds proves the kind with it.
  public var event: JSONValue?

  /// A text to encrypt or decrypt.
  public init(account: String? = nil, peer: String, text: String) {
    self.account = account
    self.peer = peer
    self.text = text
  }

  /// The content of a peer's event, to decrypt.
  public init(account: String? = nil, peer: String, contentOf event: JSONValue) {
    self.account = account
    self.peer = peer
    self.event = event
  }

  /// Neither a text nor an event is given.
  public var objection: String? { text == nil && event == nil ? "'text' is missing" : nil }
}

/// The answer of these four methods: the other form of the text.
public struct SignerText: Codable, Sendable {
  /// The text.
  public var text: String

  /// A text.
  public init(text: String) { self.text = text }
}

/// `signer.wrap`: seals a rumor and wraps it for one recipient (NIP-59). For several recipients the caller calls it
/// once for each, with the same `created_at`, so that the rumor's id is the same for all.
public struct SignerWrap: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","recipient":"npub1…","rumor":{"kind":14,"content":"hello"},"#
    + #""relayHint":"wss://relay.example.com","expiration":1800000000,"isEphemeral":false,"allowSecrets":false}"#

  /// The account that is the author.
  public var account: String?
  /// The recipient: 64 hexadecimal digits or `npub`.
  public var recipient: String
  /// An event as for `signer.sign`; it is not signed.
  public var rumor: JSONValue
  /// A relay of the recipient, for the `p` tag.
  public var relayHint: String?
  /// When relays may drop it, in seconds since 1970 (NIP-40).
  public var expiration: Int64?
  /// Whether relays are not to store it (kind 21059).
  public var isEphemeral: Bool?
  /// Whether it may contain `nsec1…` or `ncryptsec1…`; default: false.
  public var allowSecrets: Bool?

  /// A rumor to wrap.
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
  /// The gift wrap, to send to the recipient's relays.
  public var wrap: RawJSON
  /// The rumor with its id, for the sender to keep.
  public var rumor: RawJSON

  /// A rumor in its gift wrap.
  public init(wrap: RawJSON, rumor: RawJSON) {
    self.wrap = wrap
    self.rumor = rumor
  }
}

/// `signer.unwrap`: opens a gift wrap, with all checks of NIP-59.
public struct SignerUnwrap: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice","wrap":{"id":"…","pubkey":"…","kind":1059,"content":"…","sig":"…"}}"#

  /// The recipient's account; default: the account that one of its `p` tags names.
  public var account: String?
  /// The gift wrap.
  public var wrap: RawJSON

  /// A gift wrap to open.
  public init(account: String? = nil, wrap: RawJSON) {
    self.account = account
    self.wrap = wrap
  }
}

/// The answer of `signer.unwrap`.
public struct SignerUnwrapped: Codable, Sendable {
  /// The recipient's account, 64 hexadecimal digits.
  public var recipient: String
  /// The author, proven by the seal's signature.
  public var author: String
  /// The rumor, with its id and without a signature.
  public var rumor: RawJSON
  /// What is unusual about it, each as the end of a sentence.
  public var warnings: [String]

  /// What an opened gift wrap held.
  public init(recipient: String, author: String, rumor: RawJSON, warnings: [String]) {
    self.recipient = recipient
    self.author = author
    self.rumor = rumor
    self.warnings = warnings
  }
}

/// `signer.generate`: makes a new key. Answered with its ``SignerAccount``. Callers send it at most once, because a
/// repeated call makes a second key.
public struct SignerGenerate: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"name":"alice","passphrase":{"key":"…","payload":"…"}}"#

  /// The account's name.
  public var name: String
  /// Encrypts the stored key; without one it is stored unencrypted.
  public var passphrase: SealedSecret?

  /// A key to make.
  public init(name: String, passphrase: SealedSecret? = nil) {
    self.name = name
    self.passphrase = passphrase
  }
}

/// `signer.watch`: adds an account of which only the public key is here, to read along. Answered with its
/// ``SignerAccount``. A repeated call with the same key and name changes nothing, also after `signer.import` has
/// brought the secret key.
public struct SignerWatch: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"name":"alice","publicKey":"3bf0…, 64 hexadecimal digits"}"#

  /// The account's name.
  public var name: String
  /// Its public key, 64 hexadecimal digits or `npub`.
  public var publicKey: String

  /// An account to read along with.
  public init(name: String, publicKey: String) {
    self.name = name
    self.publicKey = publicKey
  }
}

/// `signer.import`: imports a key that was made elsewhere. Answered with its ``SignerAccount``. A repeated import of
/// the same key under the same name changes nothing. An account of which only the public key was here gets its secret
/// key.
public struct SignerImport: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"name":"alice","secret":{"key":"…","payload":"…"},"passphrase":{"key":"…","#
    + #""payload":"…"},"isLeft":false}"#

  /// The account's name.
  public var name: String
  /// `nsec1…`, `ncryptsec1…` or 64 hexadecimal digits.
  public var secret: SealedSecret
  /// For an `ncryptsec`, the passphrase that opens it and stays its passphrase; otherwise the passphrase to store the
  /// key under, if any.
  public var passphrase: SealedSecret?
  /// Whether a new account is left at first (`signer.leave`): nothing is asked of relays for it until `signer.unlock`.
  /// An account that is here already stays as it is. Absent: no.
  public var isLeft: Bool?

  /// A key to import.
  public init(name: String, secret: SealedSecret, passphrase: SealedSecret? = nil, isLeft: Bool? = nil) {
    self.name = name
    self.secret = secret
    self.passphrase = passphrase
    self.isLeft = isLeft
  }
}

/// `signer.unlock`. Answered with the ``SignerAccount``, which is no longer left.
public struct SignerUnlock: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice","passphrase":{"key":"…","payload":"…"}}"#

  /// The account; may be left out while exactly one is locked.
  public var account: String?
  /// Its passphrase; absent for an account that is left and whose key is stored unencrypted.
  public var passphrase: SealedSecret?

  /// An account to unlock.
  public init(account: String? = nil, passphrase: SealedSecret? = nil) {
    self.account = account
    self.passphrase = passphrase
  }
}

/// `signer.lock`: forgets the keys until their passphrases are given again. Answered with ``SignerAccounts``.
public struct SignerLock: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice"}"#

  /// The account; all encrypted ones when absent.
  public var account: String?

  /// An account to lock.
  public init(account: String? = nil) { self.account = account }
}

/// `signer.passphrase`: stores a key under another passphrase. Answered with its ``SignerAccount``. Callers send it at
/// most once.
public struct SignerPassphrase: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","present":{"key":"…","payload":"…"},"new":{"key":"…","payload":"…"}}"#

  /// The account; may be left out while there is exactly one.
  public var account: String?
  /// Its present passphrase, also while it is unlocked; absent for a key that is stored unencrypted.
  public var present: SealedSecret?
  /// The new passphrase; absent: the key is stored unencrypted.
  public var new: SealedSecret?

  /// A passphrase to change.
  public init(account: String? = nil, present: SealedSecret?, new: SealedSecret?) {
    self.account = account
    self.present = present
    self.new = new
  }
}

/// `signer.remove`: deletes a stored key permanently. Answered with the deleted ``SignerAccount``.
public struct SignerRemove: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"name":"alice","publicKey":"3bf0…, 64 hexadecimal digits"}"#

  /// The account's name.
  public var name: String
  /// Its public key, so that the caller does not remove a different key than it intends.
  public var publicKey: String

  /// A key to delete.
  public init(name: String, publicKey: String) {
    self.name = name
    self.publicKey = publicKey
  }
}

/// `signer.use`: from now on this account is meant where none is named. Answered with its ``SignerAccount``. A left
/// account is no longer left; its key stays locked if it has a passphrase.
public struct SignerChoose: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice"}"#

  /// The account.
  public var account: String

  /// An account to use.
  public init(account: String) { self.account = account }
}

/// `signer.leave`: locks an account, also one whose key is stored unencrypted, and ends what is asked of relays for it.
/// Everything is kept. It stays left over restarts, until `signer.unlock` or `signer.use`. Answered with its
/// ``SignerAccount``.
public struct SignerLeave: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice","isForgetting":true}"#

  /// The account.
  public var account: String
  /// Whether `people.forget` follows: role `people` may then remove the key. An account that is already left for that
  /// stays so without it.
  public var isForgetting: Bool?

  /// An account to leave.
  public init(account: String, isForgetting: Bool? = nil) {
    self.account = account
    self.isForgetting = isForgetting
  }
}

/// `signer.data-key`: 32 random bytes for an account and the caller's role, under which that role seals what it stores
/// for the account. The role keeps them only as a text, encrypted by NIP-44 from the account to itself: without the
/// account's key they cannot be had.
public struct SignerDataKeyRequest: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice","sealingKey":"…, 64 hexadecimal digits","text":"…"}"#

  /// The account, which must be unlocked.
  public var account: String?
  /// A public key that the caller has made for this one answer: the data key is sealed for it.
  public var sealingKey: String
  /// The text of an earlier answer; absent: a new key is made.
  public var text: String?

  /// A data key to make or to open.
  public init(account: String? = nil, sealingKey: String, text: String? = nil) {
    self.account = account
    self.sealingKey = sealingKey
    self.text = text
  }
}

/// The answer of `signer.data-key`.
public struct SignerDataKey: Codable, Sendable {
  /// The account's public key, 64 hexadecimal digits.
  public var account: String
  /// The 32 bytes, sealed for the caller.
  public var key: SealedSecret
  /// What the caller stores.
  public var text: String

  /// A data key.
  public init(account: String, key: SealedSecret, text: String) {
    self.account = account
    self.key = key
    self.text = text
  }
}

extension RefusalCode {
  /// The account is locked, and its passphrase did not come in time.
  public static let locked: RefusalCode = "locked"
  /// No such account.
  public static let noSuchAccount: RefusalCode = "no-such-account"
  /// The caller's role may not have this signed.
  public static let forbidden: RefusalCode = "forbidden"
  /// The caller's role has used up its requests for this time; `retryAfterMilliseconds` says when it may send more.
  public static let rateLimited: RefusalCode = "rate-limited"
  /// The passphrase does not open the key.
  public static let wrongPassphrase: RefusalCode = "wrong-passphrase"
  /// A sealed secret was sealed for an earlier process of the signer.
  public static let sealedForAnother: RefusalCode = "sealed-for-another"
}
