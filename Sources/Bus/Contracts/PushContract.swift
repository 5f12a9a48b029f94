// The methods of role `push-relay`, `push.*`: the operator's view. Phones and senders use HTTP.

/// The answer of `push.status`. Counters start at 0 with the process, except ``accepted`` and ``Events/wakes``, which
/// continue over restarts.
public struct PushStatus: Codable, Sendable, Hashable {
  /// One platform.
  public struct Platform: Codable, Sendable, Hashable {
    /// `ios`, `android` or `webpush`.
    public var name: String
    /// `off`: not configured; `ready`; `away`: its service does not answer, or refuses, and is retried.
    public var state: String
    /// Why it is off or away; with `ready`, the service's reason for the last push that it refused.
    public var reason: String?
    /// What the operator should check because of ``reason``, as a question or an instruction; absent when there is
    /// nothing to check.
    public var advice: String?
    /// Seconds until the next attempt while it is away; absent: at the next wake.
    public var againSeconds: Int?
    /// Pushes in flight: sent and not answered yet.
    public var inFlight = 0
    /// Pushes that the service accepted.
    public var delivered: UInt64 = 0
    /// Pushes that were sent again after a failure.
    public var repeated: UInt64 = 0
    /// Pushes given up, because the service refused the token or could not read the push.
    public var failed: UInt64 = 0
    /// Pushes that the service had not accepted when their wake expired.
    public var expired: UInt64 = 0
    /// Devices removed because the service no longer knows their token.
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
    /// Keys whose events are observed.
    public var keys = 0
    /// `idle`: there are no such devices; `following`; `away`: the event store does not answer.
    public var state = "idle"
    /// Wakes since the ledger was made; those among ``PushStatus/accepted``.
    public var wakes: UInt64 = 0
    /// Events that woke a device, alone or together with other events.
    public var waking: UInt64 = 0
    /// Events that woke no device, by reason: `old`, `muted`, `off`, `own`, `unrelated`, `crowd`, `malformed`.
    public var dismissed: [String: UInt64] = [:]

    /// All counts are 0.
    public init() {}
  }
  /// The addresses at which it listens.
  public var addresses: [String] = []
  /// The platforms.
  public var platforms: [Platform] = []
  /// Registered devices.
  public var devices = 0
  /// Wakes under way.
  public var waiting = 0
  /// Wakes accepted since the ledger was made.
  public var accepted: UInt64 = 0
  /// Finished wakes, by outcome: `delivered`, `expired`, `coalesced`, `undeliverable`.
  public var ended: [String: UInt64] = [:]
  /// Refused requests, by the error's code.
  public var refused: [String: UInt64] = [:]
  /// Wakes from strangers that were dropped silently.
  public var dropped: UInt64 = 0
  /// Tokens that are encrypted under an older key, including those of expired devices until they are removed.
  public var underOlderKeys = 0
  /// Rows that no key can decrypt.
  public var unreadable = 0
  /// Wakes for events of Nostr; absent when Nostr keys cannot register for them.
  public var events: Events?
  /// Why the certificate in the files is not used, so that the one before it stays in use; absent: it is used.
  public var certificateFault: String?
  /// What is wrong with the Web Push key: it is not the key under which devices are subscribed; absent: nothing.
  public var webPushFault: String?
  /// When the counters started, seconds since 1970.
  public var countedSince: Int64 = 0

  /// All counts are 0.
  public init() {}
}

/// `push.devices`: registered devices, in the order of their first registration. Parts are ``PushDeviceRow``s, the
/// terminal answer a ``StoreCount``. No answer contains a token.
public struct PushDevices: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"owner":"npub1…","limit":20}"#

  /// Only devices of this key: z-base-32, hexadecimal or `npub`.
  public var owner: String?
  /// The maximum number of devices, from 1 to 10,000; default 100.
  public var limit: Int?

  /// A request.
  public init(owner: String? = nil, limit: Int? = nil) {
    self.owner = owner
    self.limit = limit
  }
}

/// A device, as the operator sees it.
public struct PushDeviceRow: Codable, Sendable, Hashable {
  /// The key that registered it, in the notation of its realm.
  public var owner: String
  /// The device's name at its owner.
  public var device: String
  /// The device's id at this push relay.
  public var relayID: String
  /// `ios`, `android` or `webpush`.
  public var platform: String
  /// The types of wakes that it wants; empty: all.
  public var capabilities: [String]
  /// When it registered, seconds since 1970.
  public var registeredAt: Int64
  /// When its registration expires, seconds since 1970.
  public var expiresAt: Int64
  /// Whether the owner has proven to hold the token.
  public var isVerified: Bool
  /// Whether its token can be decrypted; if not, nothing is sent to it until it registers again.
  public var isReadable: Bool
  /// Whether messages to it are sealed, so that no platform can read them; absent in answers of older relays.
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

/// `push.send`: wakes the devices of a key without any limits, as a test. Answered with a ``PushSent`` when each device
/// has received or been refused its push, at the latest after ``PushSend/waitMillisecondsMaximum``.
public struct PushSend: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"owner":"npub1…","type":"noise_connect","waitMilliseconds":8000}"#

  /// The owner of the devices: z-base-32, hexadecimal or `npub`.
  public var owner: String
  /// The wake's type.
  public var type: String
  /// How long the answer waits for the platforms, in milliseconds; absent: not at all. A value above
  /// ``waitMillisecondsMaximum`` counts as that.
  public var waitMilliseconds: Int?

  /// The longest wait.
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
  /// The number of devices to wake.
  public var devices: Int
  /// The outcome so far for each device; absent when the answer did not wait.
  public var outcomes: [Outcome]?

  /// The outcome of a wake at one device.
  public struct Outcome: Codable, Sendable, Hashable {
    /// The device's name at its owner.
    public var device: String
    /// `ios`, `android` or `webpush`.
    public var platform: String
    /// `delivered`: the platform accepted it; `refused`: it was given up; `waiting`: it is retried until it expires;
    /// `off`: its platform is not configured, and it waits for that.
    public var state: String
    /// The platform's reason for not accepting it, or why it was not sent to the platform.
    public var reason: String?
    /// What the operator should check because of that.
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

/// The answer of `push.rekey`, which reads the key ring again and encrypts all tokens under its newest key.
public struct PushRekeyed: Codable, Sendable, Hashable {
  /// Tokens that are under the newest key now and were not before.
  public var changed: Int
  /// Keys in the ring.
  public var keys: Int
  /// Rows that no key can decrypt; they stay.
  public var unreadable: Int
  /// Tokens that are still under an older key, whose line in the key ring must stay.
  public var remaining: Int

  /// An answer.
  public init(changed: Int, keys: Int, unreadable: Int, remaining: Int) {
    self.changed = changed
    self.keys = keys
    self.unreadable = unreadable
    self.remaining = remaining
  }
}
