// The methods of role `dvm-provider`, `dvm.*`: jobs of customers that are done on this machine (NIP-90).

/// Bounds of the work for customers, which other parts of Roost must know.
public enum ServingBounds {
  /// Bytes of the disk that programs must leave free. With less, the run ends and its customer receives an error.
  public static let freeByteCountMinimum: UInt64 = 128 << 20
}

/// The answer of `dvm.status`. Counters start at 0 with the process, which ends when its settings are reloaded.
public struct ServingStatus: Codable, Sendable, Hashable {
  /// A kind of job that it serves.
  public struct Service: Codable, Sendable, Hashable {
    /// The kind of its requests.
    public var kind: UInt16
    /// `count`, `search`, or the program's path.
    public var program: String
    /// The price, in millisatoshi.
    public var price: Int64
    /// Jobs running now.
    public var running: Int
    /// Requests accepted.
    public var taken: UInt64
    /// Requests answered with a result.
    public var answered: UInt64
    /// Requests that ended with an error.
    public var failed: UInt64

    /// A service.
    public init(kind: UInt16, program: String, price: Int64 = 0) {
      self.kind = kind
      self.program = program
      self.price = price
      running = 0
      taken = 0
      answered = 0
      failed = 0
    }
  }
  /// The public key that answers, 64 hexadecimal digits; absent until the signer has reported it.
  public var provider: String?
  /// What is served, by kind.
  public var services: [Service] = []
  /// Whether relays are queried for requests, and answers sent to them.
  public var isOnNetwork = false
  /// Requests that wait in the queue.
  public var waiting = 0
  /// Requests with a bill that is not paid yet.
  public var unpaid = 0
  /// When the counters started, seconds since 1970.
  public var countedSince: Int64 = 0
  /// Requests that were not accepted: addressed to another provider, too large, unreadable, expired. Also requests for
  /// which there was no room when they arrived, even if they were accepted later.
  public var passedOver: UInt64 = 0

  /// All counts are 0.
  public init() {}
}

/// `dvm.jobs`: accepted requests, the latest first. Parts are ``ServedJob``s, the terminal answer a ``StoreCount``.
public struct ServedJobs: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"limit":20}"#

  /// The maximum number of requests, from 0.
  public var limit: Int?

  /// A request.
  public init(limit: Int? = nil) { self.limit = limit }

  /// The limit is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// An accepted request.
public struct ServedJob: Codable, Sendable, Hashable {
  /// How far the work is.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// It waits in the queue.
    case waiting
    /// The customer has to pay first.
    case paymentRequired = "payment-required"
    /// Its program runs.
    case running
    /// Its result is on its way.
    case answering
    /// The planner has accepted its result for publishing.
    case answered
    /// It ended without a result; `reason` says why.
    case failed
    /// Its customer cancelled it.
    case cancelled
  }
  /// The request event's id.
  public var request: String
  /// The kind of the request.
  public var kind: UInt16
  /// The customer's public key, 64 hexadecimal digits.
  public var customer: String
  /// Its state.
  public var state: State
  /// Why it failed.
  public var reason: String?
  /// The result event's id.
  public var result: String?
  /// When it was accepted, seconds since 1970.
  public var takenAt: Int64
  /// When it ended, seconds since 1970.
  public var endedAt: Int64?

  /// An accepted request.
  public init(request: String, kind: UInt16, customer: String, state: State, takenAt: Int64) {
    self.request = request
    self.kind = kind
    self.customer = customer
    self.state = state
    self.takenAt = takenAt
  }
}
