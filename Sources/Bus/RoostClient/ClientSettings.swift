public import Clocks

/// How a client connects, and its bounds. All durations are in milliseconds.
public struct ClientSettings: Sendable {
  /// What the supervisor shows the client as; at most 64 bytes.
  public var name: String
  /// The program's own version, for display.
  public var version: String?
  /// The supervisor's socket; nil = the usual places, see `BusSocket.candidates(environment:)`.
  public var socket: String?
  /// Where `ROOST_SOCKET` and `XDG_RUNTIME_DIR` are looked up.
  public var environment: [String: String]
  /// How long the supervisor may take to answer HELLO.
  public var greetingMilliseconds: UInt64 = 10_000
  /// How long a request or a subscription waits for a connection while there is none.
  public var patienceMilliseconds: UInt64 = 30_000
  /// How long after a request's time to live its answer is still awaited. The hub's own answer `expired` comes within
  /// it; this deadline is for a hub that does not answer at all.
  public var answerGraceMilliseconds: UInt64 = 2_000
  /// How long the store may take to say what became of an event that is published, or to count.
  public var storeMilliseconds: UInt32 = 30_000
  /// The waits between attempts to connect.
  public var backoff = BackOff()
  /// Most requests under way at once; one more is refused (`full`).
  public var requestMaximum = 1_024
  /// Most subscriptions; one more is refused (`full`).
  public var subscriptionMaximum = 256
  /// How often an idempotent request is asked again after lost connections before it fails.
  public var repeatMaximum = 8

  /// The settings of a client with this name.
  public init(name: String, socket: String? = nil, environment: [String: String] = ProcessEnvironment.current()) {
    self.name = name
    self.socket = socket
    self.environment = environment
  }
}

/// What a caller wants of one request beside its method and its arguments.
public struct RequestOptions: Sendable {
  /// The worker to ask, by name; nil = any that serves the method.
  public var worker: String?
  /// How long the answer is of use, in milliseconds; 0 = no limit.
  public var ttlMilliseconds: UInt32
  /// Whether doing it twice is the same as doing it once. Such a request is asked again after a lost connection; any
  /// other fails with outcome `unknown`.
  public var isIdempotent: Bool
  /// Whether the hub must never deliver it a second time after a worker's death.
  public var atMostOnce: Bool

  /// A request to any worker, without a limit of time, not idempotent, unless said otherwise.
  public init(
    worker: String? = nil, ttlMilliseconds: UInt32 = 0, isIdempotent: Bool = false, atMostOnce: Bool = false
  ) {
    self.worker = worker
    self.ttlMilliseconds = ttlMilliseconds
    self.isIdempotent = isIdempotent
    self.atMostOnce = atMostOnce
  }

  /// A request that may be asked again, within so many milliseconds.
  public static func idempotent(ttlMilliseconds: UInt32 = 0) -> RequestOptions {
    RequestOptions(ttlMilliseconds: ttlMilliseconds, isIdempotent: true)
  }
}
