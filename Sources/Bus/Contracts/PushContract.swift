// The methods of role `push-relay`, `push.*`: the operator's view. Phones and senders come over HTTP.

/// The answer of `push.status`. Counters begin with the process, but for ``accepted`` and ``Events/wakes``, which go on
/// over restarts.
public struct PushStatus: Codable, Sendable, Hashable {
  /// One platform.
  public struct Platform: Codable, Sendable, Hashable {
    /// `ios`, `android` or `webpush`.
    public var name: String
    /// `off`: not configured; `ready`; `away`: its service does not answer, or refuses; tried again.
    public var state: String
    /// Why it is off or away; of one that is ready, what it has against the last push that it refused.
    public var reason: String?
    /// What to look at because of ``reason``, a question or an order; absent where there is nothing.
    public var advice: String?
    /// In how many seconds it is tried again when it is away; absent: with the next wake.
    public var againSeconds: Int?
    /// Pushes that were sent and not answered yet.
    public var inFlight = 0
    /// Pushes that the service took.
    public var delivered: UInt64 = 0
    /// Pushes that were sent again.
    public var repeated: UInt64 = 0
    /// Pushes given up: the service refused the token, or did not understand them.
    public var failed: UInt64 = 0
    /// Pushes that the service had not taken when the time of their wake was over.
    public var expired: UInt64 = 0
    /// Devices forgotten since the service knows their token no more.
    public var pruned: UInt64 = 0

    /// A platform.
    public init(name: String, state: String, reason: String? = nil) {
      self.name = name
      self.state = state
      self.reason = reason
    }
  }
  /// Wakes for events of Nostr.
  public struct Events: Codable, Sendable, Hashable {
    /// Devices that were registered with a Nostr key.
    public var devices = 0
    /// Keys whose events are looked at.
    public var keys = 0
    /// `idle`: there are no such devices; `following`; `away`: the event store does not answer.
    public var state = "idle"
    /// Wakes since the ledger was made; those among ``PushStatus/accepted``.
    public var wakes: UInt64 = 0
    /// Events that woke somebody, alone or with others.
    public var waking: UInt64 = 0
    /// Events that woke nobody, by why: `old`, `muted`, `off`, `own`, `unrelated`, `crowd`, `malformed`.
    public var dismissed: [String: UInt64] = [:]

    /// Nothing yet.
    public init() {}
  }
  /// Where it listens.
  public var addresses: [String] = []
  /// The platforms.
  public var platforms: [Platform] = []
  /// Devices that are registered.
  public var devices = 0
  /// Wakes that are on their way.
  public var waiting = 0
  /// Wakes that were accepted since the ledger was made.
  public var accepted: UInt64 = 0
  /// Wakes that have ended, by how: `delivered`, `expired`, `coalesced`, `undeliverable`.
  public var ended: [String: UInt64] = [:]
  /// Requests that were refused, by the error's code.
  public var refused: [String: UInt64] = [:]
  /// Wakes of strangers that were dropped in silence.
  public var dropped: UInt64 = 0
  /// Tokens that open under an older key; of devices whose time is over, too, until they are swept.
  public var underOlderKeys = 0
  /// Rows that no key opens.
  public var unreadable = 0
  /// Wakes for events of Nostr; absent where no key may register for them.
  public var events: Events?
  /// Why the certificate in the files is not taken, and the one before it stays in use; absent: it is taken.
  public var certificateFault: String?
  /// What is wrong with the key of Web Push: it is another than devices are subscribed under; absent: nothing.
  public var webPushFault: String?
  /// Since when is counted, seconds since 1970.
  public var countedSince: Int64 = 0

  /// Nothing yet.
  public init() {}
}

/// `push.devices`: devices that are registered, in the order in which they first were. Parts are ``PushDeviceRow``s,
/// the terminal answer a ``StoreCount``. Tokens are in no answer.
public struct PushDevices: MethodArguments {
  /// How it is asked.
  public static let example = #"{"owner":"npub1…","limit":20}"#

  /// Only this key's: z-base-32, hexadecimal or `npub`.
  public var owner: String?
  /// Most wanted, from 1 to 10,000; 100 unless said otherwise.
  public var limit: Int?

  /// A question.
  public init(owner: String? = nil, limit: Int? = nil) {
    self.owner = owner
    self.limit = limit
  }
}

/// A device, for the operator.
public struct PushDeviceRow: Codable, Sendable, Hashable {
  /// The key that registered it, as its realm writes keys.
  public var owner: String
  /// What its owner calls it.
  public var device: String
  /// What this relay calls it.
  public var relayID: String
  /// `ios`, `android` or `webpush`.
  public var platform: String
  /// What it wants to be woken for; empty: everything.
  public var capabilities: [String]
  /// Seconds since 1970.
  public var registeredAt: Int64
  /// Seconds since 1970.
  public var expiresAt: Int64
  /// Whether its owner has shown that the token is his.
  public var isVerified: Bool
  /// Whether its token can be opened; else nothing is sent to it until it registers again.
  public var isReadable: Bool
  /// Whether what it is sent is sealed for it, so that no platform can read it; absent in answers of older relays.
  public var isSealed: Bool?

  /// A device.
  public init(
    owner: String, device: String, relayID: String, platform: String, capabilities: [String], registeredAt: Int64,
    expiresAt: Int64, isVerified: Bool, isReadable: Bool = true, isSealed: Bool = false
  ) {
    self.owner = owner
    self.device = device
    self.relayID = relayID
    self.platform = platform
    self.capabilities = capabilities
    self.registeredAt = registeredAt
    self.expiresAt = expiresAt
    self.isVerified = isVerified
    self.isReadable = isReadable
    self.isSealed = isSealed
  }
}

/// `push.send`: wakes the devices of a key, past all limits; for trying. The answer is a ``PushSent``, once each device
/// has a push or is refused one, at the latest after ``PushSend/waitMillisecondsMaximum``.
public struct PushSend: MethodArguments {
  /// How it is asked.
  public static let example = #"{"owner":"npub1…","type":"noise_connect","waitMilliseconds":8000}"#

  /// Whose devices: z-base-32, hexadecimal or `npub`.
  public var owner: String
  /// The wake's type.
  public var type: String
  /// For how long the answer waits for what platforms say, in milliseconds; absent: not at all. More than
  /// ``waitMillisecondsMaximum`` is that.
  public var waitMilliseconds: Int?

  /// Most that is waited.
  public static let waitMillisecondsMaximum = 20_000

  /// A wake.
  public init(owner: String, type: String, waitMilliseconds: Int? = nil) {
    self.owner = owner
    self.type = type
    self.waitMilliseconds = waitMilliseconds
  }
}

/// The answer of `push.send`.
public struct PushSent: Codable, Sendable, Hashable {
  /// 32 hexadecimal digits.
  public var wake: String
  /// How many devices are to be woken.
  public var devices: Int
  /// What became of it so far, device by device; absent where that was not waited for.
  public var outcomes: [Outcome]?

  /// What became of a wake at one device.
  public struct Outcome: Codable, Sendable, Hashable {
    /// What its owner calls the device.
    public var device: String
    /// `ios`, `android` or `webpush`.
    public var platform: String
    /// `delivered`: the platform has taken it; `refused`: it is given up; `waiting`: it is tried until it expires;
    /// `off`: its platform is not configured, and it waits for that.
    public var state: String
    /// The platform's word, where it did not take it, or why it was not asked.
    public var reason: String?
    /// What to look at because of that.
    public var advice: String?

    /// An outcome.
    public init(device: String, platform: String, state: String, reason: String? = nil, advice: String? = nil) {
      self.device = device
      self.platform = platform
      self.state = state
      self.reason = reason
      self.advice = advice
    }
  }

  /// An answer.
  public init(wake: String, devices: Int, outcomes: [Outcome]? = nil) {
    self.wake = wake
    self.devices = devices
    self.outcomes = outcomes
  }
}

/// The answer of `push.rekey`, which reads the key ring again, and encrypts all tokens under its newest key.
public struct PushRekeyed: Codable, Sendable, Hashable {
  /// Tokens that are under the newest key now and were not before.
  public var changed: Int
  /// Keys in the ring.
  public var keys: Int
  /// Rows that no key opens; they stay.
  public var unreadable: Int
  /// Tokens that are under an older key still, whose lines must stay.
  public var remaining: Int

  /// An answer.
  public init(changed: Int, keys: Int, unreadable: Int, remaining: Int) {
    self.changed = changed
    self.keys = keys
    self.unreadable = unreadable
    self.remaining = remaining
  }
}
