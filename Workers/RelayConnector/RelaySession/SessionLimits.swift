/// What one relay's session may hold and how often it may try. Beyond a bound, work fails with `full` and
/// `not-started`.
public struct SessionLimits: Sendable, Hashable {
  /// Requests that wait for the connection or for a free subscription.
  public var waitingRequestMaximum = 64
  /// Subscriptions open at a time; relays commonly allow 20.
  public var openSubscriptionMaximum = 20
  /// Publishes waiting or sent, together.
  public var publishMaximum = 512
  /// Bytes of events that wait to be sent.
  public var waitingEventByteCountMaximum = 4 << 20
  /// Events sent and not answered yet.
  public var sentEventMaximum = 64
  /// Bytes of events sent and not answered yet; one larger event goes alone.
  public var sentEventByteCountMaximum = 1 << 20
  /// Events on one connection that were sent and given up before they were answered, and are remembered for refusals
  /// without an id; beyond it no such refusal is understood on that connection.
  public var abandonedEventMaximum = 64
  /// Messages on one connection that are not understood, before it is closed.
  public var garbageMaximum = 100

  /// Messages for no request that is under way, since one has ended, before the connection is closed. What a relay has
  /// on the way when CLOSE reaches it is less, unless it does not heed CLOSE at all.
  public var unclaimedMaximum = 10_000
  /// Bytes of such messages.
  public var unclaimedByteCountMaximum = 64 << 20

  /// How long each step of showing oneself may take (NIP-42): the relay's challenge, the signature, the OK.
  public var authenticationMilliseconds: UInt64 = 5_000
  /// How long a relay may take to send its challenge by itself, before a protected event has it asked for one.
  public var challengeMilliseconds: UInt64 = 1_000
  /// Accounts that may show themselves on one connection, each challenge counted.
  public var authenticationMaximum = 16

  /// NOTICE messages, and as many AUTH messages, that are reported within ``remarkWindowMilliseconds``; others are
  /// counted.
  public var remarkMaximum = 10
  /// The time in which those are counted.
  public var remarkWindowMilliseconds: UInt64 = 60_000
  /// The last so many NOTICE messages are told to those whose work comes to nothing.
  public var keptNoticeMaximum = 3
  /// Most characters that are kept of one.
  public var keptNoticeLengthMaximum = 200

  /// First window of the back-off, in milliseconds; each failure doubles it.
  public var retryBaseMilliseconds: UInt64 = 1_000
  /// First wait after a connection that the relay cut when it had refused something within
  /// ``refusalMemoryMilliseconds``, or that was cut for what it sent; each failure doubles it. Waiting work does not
  /// bring the next attempt forward.
  public var cutRetryBaseMilliseconds: UInt64 = 2_000
  /// How long a refusal counts as what a cut may be for.
  public var refusalMemoryMilliseconds: UInt64 = 60_000
  /// Largest window of the back-off; after a failed name look-up it is the window at once.
  public var retryCeilingMilliseconds: UInt64 = 300_000
  /// Least time between two attempts, also when work is waiting; each failure doubles that, too, up to
  /// ``demandCeilingMilliseconds``.
  public var attemptSpacingMilliseconds: UInt64 = 250
  /// Longest that waiting work is held back from an attempt by earlier failures.
  public var demandCeilingMilliseconds: UInt64 = 15_000
  /// How long new work waits for that. Beyond it the failure of the last attempt is answer enough.
  public var demandPatienceMilliseconds: UInt64 = 1_000
  /// How long a connection must have stood for earlier failures to be forgotten.
  public var stableMilliseconds: UInt64 = 60_000
  /// Longest `Retry-After` that is believed.
  public var retryAfterMaximumMilliseconds: UInt64 = 3_600_000

  /// The limits above.
  public init() {}
}

/// What a session has seen since it was made. Numbers only grow, except the latency.
public struct SessionCounters: Sendable, Hashable {
  /// Messages of any kind, and their bytes.
  public internal(set) var messages: UInt64 = 0
  /// Bytes of those messages.
  public internal(set) var messageBytes: UInt64 = 0
  /// Events delivered.
  public internal(set) var events: UInt64 = 0
  /// Bytes of those events.
  public internal(set) var eventBytes: UInt64 = 0
  /// Events and answers for subscriptions that had ended: they crossed with our CLOSE.
  public internal(set) var lateMessages: UInt64 = 0
  /// Events and answers for what was never asked.
  public internal(set) var strayMessages: UInt64 = 0
  /// Messages not understood, and messages of other protocols.
  public internal(set) var garbage: UInt64 = 0
  /// NOTICE messages.
  public internal(set) var notices: UInt64 = 0
  /// Requests ended by CLOSED, and events not accepted.
  public internal(set) var refusals: UInt64 = 0
  /// Events that were accepted.
  public internal(set) var accepted: UInt64 = 0
  /// Attempts to connect.
  public internal(set) var attempts: UInt64 = 0
  /// Attempts that failed.
  public internal(set) var connectFailures: UInt64 = 0
  /// Connections that stood.
  public internal(set) var connections: UInt64 = 0
  /// Connections that ended by themselves.
  public internal(set) var disconnections: UInt64 = 0
  /// Milliseconds from the last answered REQ to its EOSE, or EVENT to its OK; nil before the first.
  public internal(set) var lastLatencyMilliseconds: UInt64?

  /// Zeroes.
  public init() {}
}
