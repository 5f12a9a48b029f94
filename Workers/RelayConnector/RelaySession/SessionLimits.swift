public import Clocks

/// What one relay's session may hold, and how often it may dial. Beyond a limit, work fails with `full` and
/// `not-started`.
public struct SessionLimits: Sendable, Hashable {
  /// Requests that wait for the connection or for a free subscription; live ones are counted apart. Beyond it the
  /// newest of the lowest class is dropped for one of a higher class, see ``RequestClass``. How many are open at a
  /// time, ``RelayPolicy`` says.
  public var waitingRequestMaximum = 20
  /// How long a request waits for a free subscription.
  public var queueMilliseconds: UInt64 = 30_000
  /// How long a relay may take to answer a message of a reconciliation (NIP-77).
  public var reconciliationMilliseconds: UInt64 = 15_000
  /// How long after the last refusal that lowered a bound a new connection begins without what was learned.
  public var learnedMilliseconds: UInt64 = 3_600_000
  /// After `rate-limited`, how long until REQs are sent twice as often again.
  public var rateMemoryMilliseconds: UInt64 = 60_000
  /// Publishes waiting or sent, together.
  public var publishMaximum = 512
  /// Bytes of events that wait to be sent.
  public var waitingEventByteCountMaximum = 4 << 20
  /// Events sent and not answered yet.
  public var sentEventMaximum = 64
  /// Bytes of events sent and not answered yet. One larger event may be sent alone.
  public var sentEventByteCountMaximum = 1 << 20
  /// Events of one connection that were sent, given up before their answers, and are remembered for refusals without an
  /// id. Beyond it no such refusal can be assigned on that connection.
  public var abandonedEventMaximum = 64
  /// Unreadable messages on one connection before the session closes it.
  public var garbageMaximum = 100

  /// Messages for no request under way, since one last ended, before the session closes the connection. A relay that
  /// obeys CLOSE has fewer messages on their way when CLOSE reaches it.
  public var unclaimedMaximum = 10_000
  /// Bytes of such messages.
  public var unclaimedByteCountMaximum = 64 << 20

  /// How long each step of an authentication may take (NIP-42): the relay's challenge, the signature, the OK.
  public var authenticationMilliseconds: UInt64 = 5_000
  /// How long the session waits for the relay's challenge before it sends a probe, for a protected event.
  public var challengeMilliseconds: UInt64 = 1_000
  /// Authentications on one connection; those for different challenges count separately.
  public var authenticationMaximum = 16

  /// NOTICE messages, and as many AUTH messages, that are reported within ``remarkWindowMilliseconds``. The others are
  /// counted.
  public var remarkMaximum = 10
  /// The window in which they are counted.
  public var remarkWindowMilliseconds: UInt64 = 60_000
  /// How many of the last NOTICE messages are reported with work that fails.
  public var keptNoticeMaximum = 3
  /// The most characters kept of one NOTICE.
  public var keptNoticeLengthMaximum = 200

  /// The first window of the back-off, in milliseconds; each failure doubles it.
  public var retryBaseMilliseconds: UInt64 = 1_000
  /// The first wait after the relay cut the connection within ``refusalMemoryMilliseconds`` of a refusal, or after the
  /// session cut it because of what the relay sent. Each failure doubles it. Waiting work does not bring the next
  /// attempt forward.
  public var cutRetryBaseMilliseconds: UInt64 = 2_000
  /// How long a refusal counts as a possible reason for a cut.
  public var refusalMemoryMilliseconds: UInt64 = 60_000
  /// The largest window of the back-off. After a failed name look-up the window has this size at once.
  public var retryCeilingMilliseconds: UInt64 = 300_000
  /// The least time between two attempts, even when work is waiting. Each failure doubles it, up to
  /// ``demandCeilingMilliseconds``.
  public var attemptSpacingMilliseconds: UInt64 = 250
  /// The longest time for which earlier failures keep waiting work from an attempt.
  public var demandCeilingMilliseconds: UInt64 = 15_000
  /// How long new work waits for the next attempt. If it must wait longer, it fails with the last attempt's failure.
  public var demandPatienceMilliseconds: UInt64 = 1_000
  /// How long a connection must have been open before earlier failures are forgotten.
  public var stableMilliseconds: UInt64 = 60_000
  /// After a suspend of the machine, how long the relay may take to answer a ping.
  public var checkMilliseconds: UInt64 = 10_000
  /// How long after a suspend the end of a connection is taken for a consequence of it.
  public var suspendMemoryMilliseconds: UInt64 = 15_000
  /// The longest `Retry-After` that is believed.
  public var retryAfterMaximumMilliseconds: UInt64 = 3_600_000

  /// The limits above.
  public init() {}
}

/// What a session has counted since it was made. Numbers only grow, except the latency.
public struct SessionCounters: Sendable, Hashable {
  /// Messages of any kind.
  public internal(set) var messages: UInt64 = 0
  /// Bytes of these messages.
  public internal(set) var messageBytes: UInt64 = 0
  /// Events delivered.
  public internal(set) var events: UInt64 = 0
  /// Bytes of these events.
  public internal(set) var eventBytes: UInt64 = 0
  /// Messages for subscriptions that had ended: they crossed with our CLOSE.
  public internal(set) var lateMessages: UInt64 = 0
  /// Messages for subscriptions that were never opened.
  public internal(set) var strayMessages: UInt64 = 0
  /// Messages that were not understood, and messages of other protocols.
  public internal(set) var garbage: UInt64 = 0
  /// NOTICE messages.
  public internal(set) var notices: UInt64 = 0
  /// Requests ended by CLOSED, events not accepted, and AUTH not accepted.
  public internal(set) var refusals: UInt64 = 0
  /// ``refusals`` by what they are about.
  public internal(set) var refusalsByClass: [RefusalClass: UInt64] = [:]
  /// Events that were accepted.
  public internal(set) var accepted: UInt64 = 0
  /// Authentications that have ended (NIP-42).
  public internal(set) var authentications: UInt64 = 0
  /// Those of them that failed.
  public internal(set) var authenticationFailures: UInt64 = 0
  /// Attempts to connect.
  public internal(set) var attempts: UInt64 = 0
  /// Attempts that failed.
  public internal(set) var connectFailures: UInt64 = 0
  /// Attempts that failed since the last connection.
  public internal(set) var connectFailuresInRow: UInt64 = 0
  /// Connections that were opened.
  public internal(set) var connections: UInt64 = 0
  /// Connections that ended without a request of this side, or that the session cut because of what the relay sent.
  public internal(set) var disconnections: UInt64 = 0
  /// Milliseconds from the last answered REQ to its EOSE, or EVENT to its OK; nil before the first.
  public internal(set) var lastLatencyMilliseconds: UInt64?
  /// Milliseconds from dialling to an open connection.
  public internal(set) var connectLatency = MovingAverage()
  /// Milliseconds from REQ to EOSE.
  public internal(set) var storedLatency = MovingAverage()
  /// All of these, and those from EVENT to OK.
  public internal(set) var latencies = SessionLatencies()

  /// Zeroes.
  public init() {}
}

/// How long a relay took: each measurement since the session was made.
public struct SessionLatencies: Sendable, Hashable {
  /// From dialling to an open connection.
  public internal(set) var connect = LatencyHistogram()
  /// From REQ to EOSE.
  public internal(set) var stored = LatencyHistogram()
  /// From EVENT to OK.
  public internal(set) var accepted = LatencyHistogram()

  /// Nothing was measured.
  public init() {}

  /// Adds what another session has measured.
  public mutating func add(_ other: SessionLatencies) {
    connect.add(other.connect)
    stored.add(other.stored)
    accepted.add(other.accepted)
  }
}
