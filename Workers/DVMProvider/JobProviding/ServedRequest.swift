public import Contracts
public import Cryptography
public import Nostr

/// A request that was taken up, as it is recorded.
public struct ServedRequest: Sendable, Hashable {
  /// Its place in the order in which requests were taken up, from 1.
  public var number: Int64
  /// The request event's id.
  public var id: EventID
  /// The kind of the request.
  public var kind: UInt16
  /// The author of the request.
  public var customer: PublicKey
  /// When it was taken up, seconds since 1970.
  public var takenAt: Int64
  /// When it ended, seconds since 1970.
  public var endedAt: Int64?
  /// Its state.
  public var state: ServedJob.State
  /// Why it failed.
  public var reason: String?
  /// The result event's id.
  public var result: EventID?
  /// The request event as it was published, JSON; empty once nothing is left to do.
  public var request: [UInt8]
  /// A signed event that is to be published: the result, or feedback with an error or the price.
  public var outgoing: [UInt8]?
  /// Whether the store or the planner has accepted the event that tells the customer of ``state``.
  public var isTold: Bool

  /// A request that was just taken up.
  public init(
    number: Int64, id: EventID, kind: UInt16, customer: PublicKey, takenAt: Int64, state: ServedJob.State,
    request: [UInt8]
  ) {
    self.number = number
    self.id = id
    self.kind = kind
    self.customer = customer
    self.takenAt = takenAt
    self.state = state
    self.request = request
    isTold = false
  }

  /// Whether nothing is left to do, now or later.
  public var isSettled: Bool {
    switch state {
    case .answered, .cancelled: true
    case .failed: isTold
    case .waiting, .paymentRequired, .running, .answering: false
    }
  }

  /// The request as the bus shows it.
  public var job: ServedJob {
    var job = ServedJob(
      request: id.description, kind: kind, customer: customer.description, state: state, takenAt: takenAt)
    job.reason = reason
    job.result = result?.description
    job.endedAt = endedAt
    return job
  }
}

/// A message for a customer that must outlive the process.
public enum ServingWord: Sendable, Hashable {
  /// The customer must pay first, in millisatoshi.
  case paymentRequired(Int64)
  /// The result, in clear.
  case result(String)
  /// There will be no result, and why.
  case error(String)
}

/// How the work on a request ended.
public enum ServingOutcome: Sendable, Hashable {
  /// With a result, in clear.
  case done(String)
  /// Without a result, and why.
  case failed(String)
}

/// What ``ProviderMachine`` asks its shell to do.
public enum ServingAction: Sendable, Hashable {
  /// Record the request as it is now, then call ``ProviderMachine/recorded(_:version:at:)``.
  case record(EventID)
  /// Start the work, then call ``ProviderMachine/finished(_:_:at:)``.
  case run(EventID)
  /// Stop the work at once; its outcome is not wanted.
  case stop(EventID)
  /// Encrypt and sign a message for the customer, then call ``ProviderMachine/composed(_:_:id:at:)``, or
  /// ``ProviderMachine/couldNotCompose(_:_:at:)`` if it is refused for good.
  case compose(EventID, ServingWord)
  /// There is room now for these requests, which found none before. Fetch them from the store, pass each to
  /// ``ProviderMachine/received(_:recipients:at:)``, then call ``ProviderMachine/lookedUp(isWhole:at:)``.
  case lookUp([EventID])
  /// Publish a signed event; retry until the store or the planner has accepted it, then call
  /// ``ProviderMachine/published(_:at:)``.
  case publish(EventID, [UInt8])
}
