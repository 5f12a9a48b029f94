public import Contracts
public import Cryptography
public import Nostr

/// A request that was taken up: what is written down of it.
public struct ServedRequest: Sendable, Hashable {
  /// Its place in the order in which requests were taken up, from 1.
  public var number: Int64
  /// The request event's id.
  public var id: EventID
  /// The kind of the request.
  public var kind: UInt16
  /// Whose it is.
  public var customer: PublicKey
  /// When it was taken up, seconds since 1970.
  public var takenAt: Int64
  /// When it ended, seconds since 1970.
  public var endedAt: Int64?
  /// How far it is.
  public var state: ServedJob.State
  /// Why it has failed.
  public var reason: String?
  /// The result event's id.
  public var result: EventID?
  /// The request event, JSON, as it was published; empty once nothing is left to be done with it.
  public var request: [UInt8]
  /// A signed event that is to be published: a result, or the feedback that says why there is none, or what it costs.
  public var outgoing: [UInt8]?
  /// Whether the customer was told what ``state`` says: the outgoing event was taken by whoever publishes it.
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

  /// Whether nothing will ever be done with it again.
  public var isSettled: Bool {
    switch state {
    case .answered, .cancelled: true
    case .failed: isTold
    case .waiting, .paymentRequired, .running, .answering: false
    }
  }

  /// As people are shown it.
  public var job: ServedJob {
    var job = ServedJob(
      request: id.description, kind: kind, customer: customer.description, state: state, takenAt: takenAt)
    job.reason = reason
    job.result = result?.description
    job.endedAt = endedAt
    return job
  }
}

/// What a customer is to be told, and what must outlive the process.
public enum ServingWord: Sendable, Hashable {
  /// It has to be paid first, in millisatoshi.
  case paymentRequired(Int64)
  /// What was asked for, in clear.
  case result(String)
  /// There will be none, and why.
  case error(String)
}

/// How the work on a request has ended.
public enum ServingOutcome: Sendable, Hashable {
  /// With a result, in clear.
  case done(String)
  /// Without one, and why.
  case failed(String)
}

/// What ``ProviderMachine`` wants done.
public enum ServingAction: Sendable, Hashable {
  /// Write the request down as it is now, then say ``ProviderMachine/recorded(_:version:at:)``.
  case record(EventID)
  /// Begin the work, then say ``ProviderMachine/finished(_:_:at:)``.
  case run(EventID)
  /// End the work at once; what it comes to is not wanted.
  case stop(EventID)
  /// Encrypt and sign a word for the customer, then say ``ProviderMachine/composed(_:_:id:at:)``, or
  /// ``ProviderMachine/couldNotCompose(_:_:at:)`` when it is refused for good.
  case compose(EventID, ServingWord)
  /// There is room for these requests now, which were passed over before: take them from where they are kept, let each
  /// come again by ``ProviderMachine/received(_:recipients:at:)``, then say ``ProviderMachine/lookedUp(isWhole:at:)``.
  case lookUp([EventID])
  /// Publish a signed event until whoever publishes has it, then say ``ProviderMachine/published(_:at:)``.
  case publish(EventID, [UInt8])
}
