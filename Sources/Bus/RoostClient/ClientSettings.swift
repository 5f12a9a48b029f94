public import Clocks
public import Frames

/// How a client connects, and its limits. All durations are in milliseconds.
public struct ClientSettings: Sendable {
  /// The client's name at the supervisor; at most 64 bytes.
  public var name: String
  /// The program's own version, for display.
  public var version: String?
  /// The supervisor's socket; nil = the default paths, see `BusSocket.candidates(environment:)`.
  public var socket: String?
  /// The environment with `ROOST_SOCKET` and `XDG_RUNTIME_DIR`.
  public var environment: [String: String]
  /// How long the supervisor may take to answer HELLO.
  public var greetingMilliseconds: UInt64 = 10_000
  /// How long a request or a subscription waits for a connection.
  public var patienceMilliseconds: UInt64 = 30_000
  /// How long after its time to live a request still waits for its answer. The hub's own answer `expired` arrives
  /// within this time; the deadline is for a hub that does not answer at all.
  public var answerGraceMilliseconds: UInt64 = 2_000
  /// How long the store may take for the outcome of a published event, or for a count.
  public var storeMilliseconds: UInt32 = 30_000
  /// The waits between attempts to connect.
  public var backoff = BackOff()
  /// The maximum number of requests under way; further ones are refused (`full`).
  public var requestMaximum = 1_024
  /// The maximum number of subscriptions; further ones are refused (`full`).
  public var subscriptionMaximum = 256
  /// How many times an idempotent request is repeated after lost connections before it fails.
  public var repeatMaximum = 8
  /// The trace of all requests that have no other one; nil: each has its own. As made, what the variable `ROOST_TRACE`
  /// says.
  public var trace: RequestTrace?

  /// The settings of a client with this name.
  public init(name: String, socket: String? = nil, environment: [String: String] = ProcessEnvironment.current()) {
    self.name = name
    self.socket = socket
    self.environment = environment
    trace = environment["ROOST_TRACE"].flatMap { RequestTrace($0) }
  }
}

/// Options of one request, in addition to its method and its arguments.
public struct RequestOptions: Sendable {
  /// The name of the worker; nil = any worker that serves the method.
  public var worker: String?
  /// How long the answer is useful, in milliseconds; 0 = no limit.
  public var ttlMilliseconds: UInt32
  /// Whether doing it twice is the same as doing it once. Such a request is repeated after a lost connection; any other
  /// request fails with outcome `unknown`.
  public var isIdempotent: Bool
  /// Whether the hub must never deliver it a second time after a worker's death.
  public var atMostOnce: Bool
  /// The trace under which logs of all workers show the request; nil: see ``RoostAnswer/trace``.
  public var trace: RequestTrace?

  /// Options. The defaults: any worker, no time limit, not idempotent.
  public init(
    worker: String? = nil, ttlMilliseconds: UInt32 = 0, isIdempotent: Bool = false, atMostOnce: Bool = false
  ) {
    self.worker = worker
    self.ttlMilliseconds = ttlMilliseconds
    self.isIdempotent = isIdempotent
    self.atMostOnce = atMostOnce
  }

  /// A request that may be repeated, with a time limit in milliseconds.
  public static func idempotent(ttlMilliseconds: UInt32 = 0) -> RequestOptions {
    RequestOptions(ttlMilliseconds: ttlMilliseconds, isIdempotent: true)
  }
}
