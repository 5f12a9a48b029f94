public import Cryptography
public import PushDelivery

// What the ledger is asked to write. Many commands are one transaction; each of them is done whole or not at all, and
// what stands under a signed message is done once, however often the message comes.

/// A signed message, by which it is known when it comes again.
public struct SignedMessage: Hashable, Sendable {
  /// Who signed it.
  public let owner: PushOwner
  /// SHA-256 of what was signed; not of the signature, of which one message may have many.
  public let hash: Octets32
  /// Unix seconds, as signed.
  public let timestamp: Int64

  /// A message.
  public init(owner: PushOwner, hash: Octets32, timestamp: Int64) {
    self.owner = owner
    self.hash = hash
    self.timestamp = timestamp
  }

  /// How long it is known, in seconds from its timestamp: twice the window in which one is taken.
  public static let memorySeconds: Int64 = 600

  var expiresAt: Int64 { timestamp &+ Self.memorySeconds }
}

/// One thing to write.
public enum PushWrite: Sendable {
  /// A device, new or again. Answer: `registered`, `superseded`, `challengeFailed`, `tooManyKeys`, `stale`,
  /// `unavailable`.
  case register(RegisterCommand)
  /// A device is none any more. Answer: `unregistered`, `superseded`, `stale`, `unavailable`.
  case unregister(UnregisterCommand)
  /// Somebody is to be woken. Answer: `queued`, `recipientNotFound`, `limited`, `nonceReused`, `stale`, `unavailable`.
  case wake(WakeCommand)
  /// Whom an owner wants to hear from. Answer: `contactsKept`, `superseded`, `tooManyContacts`, `stale`, `unavailable`.
  case contacts(ContactsCommand)
  /// What an owner wants to be woken for. Answer: `rulesKept`, `superseded`, `stale`, `unavailable`.
  case rules(RulesCommand)
  /// Events of Nostr came that somebody is to be woken for. Answer: `noted`.
  case events(EventsCommand)
  /// What became of wakes. Answer: `done`.
  case settle([WakeSettlement])
  /// A platform knows a token no more. Answer: `pruned`.
  case prune(PruneCommand)
  /// Forgets what is over, at most `limit` rows of each table. `now`: Unix milliseconds. Answer: `swept`.
  case sweep(now: Int64, limit: Int)
  /// Encrypts at most `limit` rows under the newest key that are under another. Answer: `rekeyed`.
  case rekey(limit: Int)
  /// What a platform gave this relay, to have it after a start. Nil: it is worth nothing any more. At most
  /// ``PushLedger/credentialByteCountMaximum`` bytes, and ``PushLedger/credentialMaximum`` names. Answer: `done`,
  /// `unavailable`.
  case saveCredential(name: String, value: [UInt8]?, savedAt: Int64)
  /// How much of the limits is spent. Clean: nothing is done after it but closing. At most
  /// ``PushLedger/limitsByteCountMaximum`` bytes. Answer: `done`, `unavailable`.
  case saveLimits(snapshot: [UInt8], savedAt: Int64, isClean: Bool)
}

/// A registration.
public struct RegisterCommand: Sendable {
  /// What asked for it.
  public var message: SignedMessage
  /// What its owner calls the device; nil: a name follows from the token.
  public var deviceID: String?
  /// Where it is.
  public var token: PushToken
  /// What it wants to be woken for.
  public var capabilities: [String]
  /// An X25519 key to seal what it is told for.
  public var sealingKey: Octets32?
  /// The owner's policy, a word of at most ``PushLedger/policyByteCountMaximum`` bytes; nil leaves it as it is.
  public var policy: String?
  /// What the owner wants to be woken for, at most ``PushLedger/rulesByteCountMaximum`` bytes; nil leaves it.
  public var rules: [UInt8]?
  /// The answer to a challenge that came by push.
  public var challenge: String?
  /// Devices that its owner may have; the one whose registration is the oldest leaves when there are more.
  public var deviceMaximum = PushLedger.deviceMaximum
  /// Owners of Nostr keys who may have devices that can be woken; another one is refused.
  public var nostrKeyMaximum = PushLedger.nostrKeyMaximum
  /// Unix seconds.
  public var now: Int64
  /// Unix seconds from which the device is none any more.
  public var expiresAt: Int64

  /// A registration without the things that may be left out.
  public init(
    message: SignedMessage, deviceID: String?, token: PushToken, capabilities: [String], now: Int64, expiresAt: Int64
  ) {
    self.message = message
    self.deviceID = deviceID
    self.token = token
    self.capabilities = capabilities
    self.now = now
    self.expiresAt = expiresAt
  }
}

/// Which of an owner's devices are meant.
public enum DeviceChoice: Hashable, Sendable {
  /// The one that its owner calls so.
  case device(String)
  /// The one that this relay calls so.
  case relay(String)
  /// Those that were registered without a name.
  case unnamed
}

/// A removal.
public struct UnregisterCommand: Sendable {
  /// What asked for it.
  public var message: SignedMessage
  /// What is to go.
  public var choice: DeviceChoice

  /// A removal.
  public init(message: SignedMessage, choice: DeviceChoice) {
    self.message = message
    self.choice = choice
  }
}

/// A wake that somebody asks for.
public struct WakeCommand: Sendable {
  /// What asked for it; nil: this machine did, for an event that came.
  public var message: SignedMessage?
  /// The wake, with a new id: the sender hears it whatever becomes of the wake.
  public var wake: Wake
  /// SHA-256 of the request's body: the same nonce with the same body is the same wake.
  public var bodyHash: Octets32
  /// Decides. Called once, in the transaction, on the ledger's thread, unless the message was answered before; it does
  /// not wait for anything. What it has spent of limits stays spent when the transaction fails.
  public var decide: @Sendable (WakeStanding) -> WakeRuling

  /// A wake.
  public init(
    message: SignedMessage?, wake: Wake, bodyHash: Octets32, decide: @escaping @Sendable (WakeStanding) -> WakeRuling
  ) {
    self.message = message
    self.wake = wake
    self.bodyHash = bodyHash
    self.decide = decide
  }

  /// Until when its nonce is known, Unix seconds.
  var nonceExpiresAt: Int64 {
    message?.expiresAt ?? wake.acceptedAt / 1_000 + SignedMessage.memorySeconds
  }
}

/// What is known of sender and recipient when a wake is decided.
public struct WakeStanding: Hashable, Sendable {
  /// Devices that want wakes of this type.
  public var deviceCount: Int
  /// How many of them have shown that their token is theirs.
  public var verifiedCount: Int
  /// What the recipient has made of the sender; nil: nothing.
  public var contact: ContactKind?
  /// The recipient's policy; nil: none was set.
  public var policy: String?

  /// What is known.
  public init(deviceCount: Int, verifiedCount: Int, contact: ContactKind? = nil, policy: String? = nil) {
    self.deviceCount = deviceCount
    self.verifiedCount = verifiedCount
    self.contact = contact
    self.policy = policy
  }
}

/// What is to become of a wake.
public struct WakeRuling: Hashable, Sendable {
  /// What the sender hears.
  public enum Answer: Hashable, Sendable {
    /// That it is queued.
    case queued
    /// That there is nobody.
    case notFound
    /// That he is to wait, for what he has spent himself or for another reason. Then nothing is written, and he may
    /// come again with the same message.
    case limited(retryAfterSeconds: Int, isOwnLimit: Bool = false)
  }

  /// What the sender hears.
  public var answer: Answer
  /// Whether it is to be brought. To be `limited` and brought is a contradiction, and is not. What is answered `queued`
  /// and is not to be brought stands in the queue all the same, marked, until the next ``PushWrite/settle(_:)``.
  public var isQueued: Bool
  /// Whether the sender may learn what becomes of it.
  public var isTold: Bool
  /// Whether one that is told, and brought nowhere, looks in the end as if a platform had taken it: so that who is
  /// blocked learns what others learn.
  public var isDisguised: Bool

  /// A ruling.
  public init(_ answer: Answer, isQueued: Bool, isTold: Bool, isDisguised: Bool = false) {
    self.answer = answer
    self.isQueued = isQueued
    self.isTold = isTold
    self.isDisguised = isDisguised
  }

  /// Of a row of `status`: nothing is told, the truth, or what others would be told.
  static let (untold, told, disguised): (Int64, Int64, Int64) = (0, 1, 2)

  var telling: Int64 { !isTold ? Self.untold : isDisguised ? Self.disguised : Self.told }
}

/// What an owner has made of a sender.
public enum ContactKind: Int64, Hashable, Sendable, CaseIterable {
  /// May wake.
  case allowed = 1
  /// May not.
  case blocked = 2
}

/// Whom an owner wants to hear from. Replaces what was there.
public struct ContactsCommand: Sendable {
  /// What asked for it.
  public var message: SignedMessage
  /// At most ``PushLedger/contactMaximum``.
  public var contacts: [PushOwner: ContactKind]
  /// A word of at most ``PushLedger/policyByteCountMaximum`` bytes; nil leaves it as it is.
  public var policy: String?
  /// Unix seconds until which it is kept at least, where there is a device; a registration keeps it as long as itself.
  /// Without one it is kept ``PushLedger/devicelessSeconds`` from when it was signed, and less where room is needed.
  public var keepUntil: Int64

  /// Contacts.
  public init(message: SignedMessage, contacts: [PushOwner: ContactKind], policy: String?, keepUntil: Int64) {
    self.message = message
    self.contacts = contacts
    self.policy = policy
    self.keepUntil = keepUntil
  }
}

/// What became of one wake at some devices, or altogether.
public struct WakeSettlement: Hashable, Sendable {
  /// The wake's row.
  public var wake: Int64
  /// Rows of devices that it needs to be brought to no more, however that ended.
  public var devices: [Int64]
  /// How the whole ended; nil: it continues.
  public var end: WakeEnd?

  /// A settlement.
  public init(wake: Int64, devices: [Int64], end: WakeEnd? = nil) {
    self.wake = wake
    self.devices = devices
    self.end = end
  }
}

/// How a wake ended.
public enum WakeEnd: Int64, Hashable, Sendable, CaseIterable {
  /// A platform took it for one device at least.
  case delivered = 1
  /// No platform takes it.
  case failed = 2
  /// It was worth nothing any more before one did.
  case expired = 3
  /// Another of the same kind was brought in its place.
  case coalesced = 4
  /// It was nobody's, or not let through: it stood in the queue for as long as one that is brought at once.
  case dropped = 5
}

/// A device whose token its platform knows no more.
public struct PruneCommand: Hashable, Sendable {
  /// Its row.
  public var device: Int64
  /// The token that is gone; a device that has another by now stays.
  public var token: PushToken
  /// Unix seconds from which the platform says that it is gone; a device that registered later stays. Nil: unknown.
  public var goneSince: Int64?

  /// A device.
  public init(device: Int64, token: PushToken, goneSince: Int64? = nil) {
    self.device = device
    self.token = token
    self.goneSince = goneSince
  }
}
