public import Cryptography
public import PushDelivery

// Commands to the ledger. Many commands are one transaction; each of them is executed completely or not at all, and the
// command of a signed message is executed once, however often the message arrives.

/// A signed message, by which a repetition is recognized.
public struct SignedMessage: Hashable, Sendable {
  /// The key that signed it.
  public let owner: PushOwner
  /// SHA-256 of what was signed; not of the signature, since one message can have many.
  public let hash: Octets32
  /// Unix seconds, as signed.
  public let timestamp: Int64

  /// A message.
  public init(owner: PushOwner, hash: Octets32, timestamp: Int64) {
    self.owner = owner
    self.hash = hash
    self.timestamp = timestamp
  }

  /// How long it is remembered, in seconds from its timestamp: twice the window in which it is accepted.
  public static let memorySeconds: Int64 = 600

  var expiresAt: Int64 { timestamp &+ Self.memorySeconds }
}

/// One command.
public enum PushWrite: Sendable {
  /// A device, new or again. Answer: `registered`, `superseded`, `challengeFailed`, `tooManyKeys`, `stale`,
  /// `unavailable`.
  case register(RegisterCommand)
  /// The removal of a device. Answer: `unregistered`, `superseded`, `stale`, `unavailable`.
  case unregister(UnregisterCommand)
  /// A wake. Answer: `queued`, `recipientNotFound`, `limited`, `nonceReused`, `stale`, `unavailable`.
  case wake(WakeCommand)
  /// Which senders may wake an owner. Answer: `contactsKept`, `superseded`, `tooManyContacts`, `stale`, `unavailable`.
  case contacts(ContactsCommand)
  /// What an owner wants to be woken for. Answer: `rulesKept`, `superseded`, `stale`, `unavailable`.
  case rules(RulesCommand)
  /// Events of Nostr that arrived for watched owners. Answer: `noted`.
  case events(EventsCommand)
  /// What became of wakes. Answer: `done`.
  case settle([WakeSettlement])
  /// A platform no longer knows a token. Answer: `pruned`.
  case prune(PruneCommand)
  /// Removes everything of an owner. Answer: `forgotten`.
  case forget(PushOwner)
  /// Removes what has expired, at most `limit` rows of each table. `now`: Unix milliseconds. Answer: `swept`.
  case sweep(now: Int64, limit: Int)
  /// Encrypts under the newest key at most `limit` rows that are under another one. Answer: `rekeyed`.
  case rekey(limit: Int)
  /// What a platform gave this relay, to have it after a start. Nil: it is no longer valid. At most
  /// ``PushLedger/credentialByteCountMaximum`` bytes, and ``PushLedger/credentialMaximum`` names. Answer: `done`,
  /// `unavailable`.
  case saveCredential(name: String, value: [UInt8]?, savedAt: Int64)
  /// How much of the limits is spent. Clean: only closing follows. At most ``PushLedger/limitsByteCountMaximum`` bytes.
  /// Answer: `done`, `unavailable`.
  case saveLimits(snapshot: [UInt8], savedAt: Int64, isClean: Bool)
}

/// A registration.
public struct RegisterCommand: Sendable {
  /// The message that requested it.
  public var message: SignedMessage
  /// The owner's name for the device; nil: a name is derived from the token.
  public var deviceID: String?
  /// The address of the device at its platform.
  public var token: PushToken
  /// The types of wakes that it wants.
  public var capabilities: [String]
  /// An X25519 key under which messages to the device are sealed.
  public var sealingKey: Octets32?
  /// The owner's policy, a word of at most ``PushLedger/policyByteCountMaximum`` bytes; nil leaves it unchanged.
  public var policy: String?
  /// The owner's rules, at most ``PushLedger/rulesByteCountMaximum`` bytes; nil leaves them unchanged.
  public var rules: [UInt8]?
  /// The answer to a challenge from a push.
  public var challenge: String?
  /// Most devices of its owner; beyond it the one with the oldest registration is removed.
  public var deviceMaximum = PushLedger.deviceMaximum
  /// Most owners of Nostr keys that have devices that can be woken; beyond it another owner is refused.
  public var nostrKeyMaximum = PushLedger.nostrKeyMaximum
  /// Unix seconds.
  public var now: Int64
  /// When the registration expires, Unix seconds.
  public var expiresAt: Int64

  /// A registration without its optional parts.
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

/// Selects devices of an owner.
public enum DeviceChoice: Hashable, Sendable {
  /// The device with this name of its owner.
  case device(String)
  /// The device with this name of the relay.
  case relay(String)
  /// The devices that were registered without a name.
  case unnamed
}

/// A removal.
public struct UnregisterCommand: Sendable {
  /// The message that requested it.
  public var message: SignedMessage
  /// The devices to remove.
  public var choice: DeviceChoice

  /// A removal.
  public init(message: SignedMessage, choice: DeviceChoice) {
    self.message = message
    self.choice = choice
  }
}

/// A wake that was requested.
public struct WakeCommand: Sendable {
  /// The message that requested it; nil: this machine did, for an event that arrived.
  public var message: SignedMessage?
  /// The wake, with a new id: the sender receives it whatever becomes of the wake.
  public var wake: Wake
  /// SHA-256 of the request's body: the same nonce with the same body is the same wake.
  public var bodyHash: Octets32
  /// Decides. Called once, in the transaction, on the ledger's thread, unless the message was answered before; it must
  /// not block. What it has spent of limits stays spent if the transaction fails.
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

  /// Until when its nonce is remembered, Unix seconds.
  var nonceExpiresAt: Int64 {
    message?.expiresAt ?? wake.acceptedAt / 1_000 + SignedMessage.memorySeconds
  }
}

/// What is known of sender and recipient when a wake is decided.
public struct WakeStanding: Hashable, Sendable {
  /// Devices that want wakes of this type.
  public var deviceCount: Int
  /// How many of them have a proved token.
  public var verifiedCount: Int
  /// Whether the recipient has allowed or blocked the sender; nil: neither.
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

/// The decision about a wake.
public struct WakeRuling: Hashable, Sendable {
  /// The answer to the sender.
  public enum Answer: Hashable, Sendable {
    /// `queued`.
    case queued
    /// `recipient_not_found`.
    case notFound
    /// The sender must wait, because of its own limit or for another reason. Then nothing is written, and the sender
    /// may send the same message again.
    case limited(retryAfterSeconds: Int, isOwnLimit: Bool = false)
  }

  /// The answer to the sender.
  public var answer: Answer
  /// Whether it is to be delivered. With the answer `limited` it never is. With the answer `queued` a wake that is not
  /// to be delivered is put into the queue too, marked, until the next ``PushWrite/settle(_:)``.
  public var isQueued: Bool
  /// Whether the sender may learn what becomes of it.
  public var isTold: Bool
  /// If the sender may learn the end of a wake that is not delivered: whether the end looks as if a platform had
  /// accepted the wake, so that a blocked sender learns what others learn.
  public var isDisguised: Bool

  /// A ruling.
  public init(_ answer: Answer, isQueued: Bool, isTold: Bool, isDisguised: Bool = false) {
    self.answer = answer
    self.isQueued = isQueued
    self.isTold = isTold
    self.isDisguised = isDisguised
  }

  /// In a row of `status`: the sender learns nothing, the truth, or what others would learn.
  static let (untold, told, disguised): (Int64, Int64, Int64) = (0, 1, 2)

  var telling: Int64 { !isTold ? Self.untold : isDisguised ? Self.disguised : Self.told }
}

/// What an owner has decided about a sender.
public enum ContactKind: Int64, Hashable, Sendable, CaseIterable {
  /// The sender may wake the owner.
  case allowed = 1
  /// The sender may not.
  case blocked = 2
}

/// Which senders may wake an owner. Replaces the earlier contacts.
public struct ContactsCommand: Sendable {
  /// The message that requested it.
  public var message: SignedMessage
  /// At most ``PushLedger/contactMaximum``.
  public var contacts: [PushOwner: ContactKind]
  /// A word of at most ``PushLedger/policyByteCountMaximum`` bytes; nil leaves the policy unchanged.
  public var policy: String?
  /// Unix seconds until which it is kept at least, if there is a device; a registration keeps it as long as itself.
  /// Without a device it is kept for ``PushLedger/devicelessSeconds`` from when it was signed, and less if room is
  /// needed.
  public var keepUntil: Int64

  /// Contacts.
  public init(message: SignedMessage, contacts: [PushOwner: ContactKind], policy: String?, keepUntil: Int64) {
    self.message = message
    self.contacts = contacts
    self.policy = policy
    self.keepUntil = keepUntil
  }
}

/// What became of one wake at some devices, or completely.
public struct WakeSettlement: Hashable, Sendable {
  /// The wake's row.
  public var wake: Int64
  /// Rows of devices that no longer need it, whatever the result.
  public var devices: [Int64]
  /// How the wake ended; nil: it continues.
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
  /// A platform accepted it for at least one device.
  case delivered = 1
  /// No platform accepts it.
  case failed = 2
  /// It expired before a platform accepted it.
  case expired = 3
  /// Another wake of the same kind was delivered in its place.
  case coalesced = 4
  /// It had no recipient, or was not admitted: it stayed in the queue for as long as one that is delivered at once.
  case dropped = 5
}

/// A device whose token its platform no longer knows.
public struct PruneCommand: Hashable, Sendable {
  /// Its row.
  public var device: Int64
  /// The dead token; a device that now has another one stays.
  public var token: PushToken
  /// Unix seconds since when the platform calls it dead; a device that registered later stays. Nil: unknown.
  public var goneSince: Int64?

  /// A device.
  public init(device: Int64, token: PushToken, goneSince: Int64? = nil) {
    self.device = device
    self.token = token
    self.goneSince = goneSince
  }
}
