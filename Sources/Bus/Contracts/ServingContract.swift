// The methods of role `dvm-provider`, `dvm.*`: jobs of others that are done here (NIP-90).

/// Bounds of what is done for others, which those who look at the machine must know.
public enum ServingBounds {
  /// Bytes of the disk that programs leave free: with less a run is ended, and its customer is told an error.
  public static let freeByteCountMinimum: UInt64 = 128 << 20
}

/// The answer of `dvm.status`. Counters begin with the process, which a reload of its settings ends.
public struct ServingStatus: Codable, Sendable, Hashable {
  /// One kind of job that is served.
  public struct Service: Codable, Sendable, Hashable {
    /// The kind of its requests.
    public var kind: UInt16
    /// `count`, `search`, or the program's path.
    public var program: String
    /// What it costs, in millisatoshi.
    public var price: Int64
    /// Running now.
    public var running: Int
    /// Requests taken up.
    public var taken: UInt64
    /// Answered with a result.
    public var answered: UInt64
    /// Ended with an error.
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
  /// Who answers, 64 hexadecimal digits; absent while the signer has not said.
  public var provider: String?
  /// What is served, by kind.
  public var services: [Service] = []
  /// Whether relays are asked for requests, and answers sent to them.
  public var isOnNetwork = false
  /// Requests that wait for their turn.
  public var waiting = 0
  /// Requests with a bill that was not paid yet.
  public var unpaid = 0
  /// Since when is counted, seconds since 1970.
  public var countedSince: Int64 = 0
  /// Requests that were not taken up: of others, too large, unreadable, expired. Also those for which there was no room
  /// when they came, whether they were taken up later or not.
  public var passedOver: UInt64 = 0

  /// Nothing yet.
  public init() {}
}

/// `dvm.jobs`: requests taken up, the latest first. Parts are ``ServedJob``s, the terminal answer a ``StoreCount``.
public struct ServedJobs: MethodArguments {
  /// How it is asked.
  public static let example = #"{"limit":20}"#

  /// Most wanted, from 0.
  public var limit: Int?

  /// A question.
  public init(limit: Int? = nil) { self.limit = limit }

  /// A limit from 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// A request that was taken up.
public struct ServedJob: Codable, Sendable, Hashable {
  /// How far it is.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// It waits for its turn.
    case waiting
    /// The customer has to pay first.
    case paymentRequired = "payment-required"
    /// Its program runs.
    case running
    /// Its result is on its way.
    case answering
    /// Its result was accepted for publishing.
    case answered
    /// It has ended without one; `reason` says why.
    case failed
    /// Its customer has called it off.
    case cancelled
  }
  /// The request event's id.
  public var request: String
  /// The kind of the request.
  public var kind: UInt16
  /// Whose it is, 64 hexadecimal digits.
  public var customer: String
  /// How far it is.
  public var state: State
  /// Why it has failed.
  public var reason: String?
  /// The result event's id.
  public var result: String?
  /// When it was taken up, seconds since 1970.
  public var takenAt: Int64
  /// When it ended, seconds since 1970.
  public var endedAt: Int64?

  /// A request that was taken up.
  public init(request: String, kind: UInt16, customer: String, state: State, takenAt: Int64) {
    self.request = request
    self.kind = kind
    self.customer = customer
    self.state = state
    self.takenAt = takenAt
  }
}
