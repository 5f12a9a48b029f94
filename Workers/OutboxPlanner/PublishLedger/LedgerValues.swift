public import Contracts
public import PublishQueue

/// What is written down in one transaction, in this order.
public struct LedgerBatch: Sendable {
  /// A publication that is new.
  public struct Acceptance: Sendable {
    /// The publication.
    public var publication: QueuedPublication
    /// The event, JSON.
    public var event: [UInt8]
    /// Whether the event store has it.
    public var isStored: Bool

    /// A publication that is new.
    public init(_ publication: QueuedPublication, event: [UInt8], isStored: Bool = false) {
      self.publication = publication
      self.event = event
      self.isStored = isStored
    }
  }

  /// A publication that has changed.
  public struct Change: Sendable {
    /// As it is now.
    public var publication: QueuedPublication
    /// The event, if its bytes may have been dropped because every relay had it, and there are more relays now.
    public var event: [UInt8]?

    /// A publication that has changed.
    public init(_ publication: QueuedPublication, event: [UInt8]? = nil) {
      self.publication = publication
      self.event = event
    }
  }

  /// Numbers of those that are forgotten.
  public var removed: [Int64] = []
  /// New ones.
  public var accepted: [Acceptance] = []
  /// Numbers of those that the event store has now.
  public var stored: [Int64] = []
  /// Those that have changed.
  public var changed: [Change] = []

  /// Nothing.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool { accepted.isEmpty && stored.isEmpty && changed.isEmpty && removed.isEmpty }
}

/// A publication as it stands in the ledger.
public struct LedgerRow: Sendable, Hashable {
  /// The publication.
  public var publication: QueuedPublication
  /// Whether the event store has the event: before that nobody was told that it is accepted.
  public var isStored: Bool
}

/// What a ledger has when it is opened.
public struct PublishLedgerContents: Sendable {
  /// All that is under way, in the order of acceptance.
  public var underWay: [LedgerRow] = []
  /// The last number given.
  public var lastNumber: Int64 = 0
  /// How many there are of each state.
  public var counts: [Publication.State: Int] = [:]
}
