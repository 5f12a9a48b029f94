public import Contracts
public import PublishQueue

/// What one transaction writes, in this order.
public struct LedgerBatch: Sendable {
  /// A new publication.
  public struct Acceptance: Sendable {
    /// The publication.
    public var publication: QueuedPublication
    /// The event, JSON.
    public var event: [UInt8]
    /// Whether the event store has it.
    public var isStored: Bool

    /// A new publication.
    public init(_ publication: QueuedPublication, event: [UInt8], isStored: Bool = false) {
      self.publication = publication
      self.event = event
      self.isStored = isStored
    }
  }

  /// A changed publication.
  public struct Change: Sendable {
    /// Its present form.
    public var publication: QueuedPublication
    /// The event's bytes, if they are at hand. The ledger drops them when every relay has the event, and needs them
    /// again when relays are added.
    public var event: [UInt8]?

    /// A changed publication.
    public init(_ publication: QueuedPublication, event: [UInt8]? = nil) {
      self.publication = publication
      self.event = event
    }
  }

  /// Numbers of the publications to remove.
  public var removed: [Int64] = []
  /// New publications.
  public var accepted: [Acceptance] = []
  /// Numbers of the publications whose events the event store has now.
  public var stored: [Int64] = []
  /// Changed publications.
  public var changed: [Change] = []

  /// An empty batch.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool { accepted.isEmpty && stored.isEmpty && changed.isEmpty && removed.isEmpty }
}

/// A publication as the ledger has it.
public struct LedgerRow: Sendable, Hashable {
  /// The publication.
  public var publication: QueuedPublication
  /// Whether the event store has the event. Only after that is the acceptance confirmed to the caller.
  public var isStored: Bool
}

/// What a ledger contains when it is opened.
public struct PublishLedgerContents: Sendable {
  /// All publications that have not ended, in the order of acceptance.
  public var underWay: [LedgerRow] = []
  /// The last number that was given.
  public var lastNumber: Int64 = 0
  /// How many publications each state has.
  public var counts: [Publication.State: Int] = [:]
}
