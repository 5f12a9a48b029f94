public import Contracts
public import EventArchive
public import Nostr

/// One event of a submission, before it is checked; or a note between its events.
public struct IncomingEvent: Sendable {
  /// Which record of the run it is, for reports.
  public let record: Int
  /// Where it is in the run.
  public let bytes: Range<Int>
  /// The relay it came from, as numbered by the archive.
  public let relay: Int64?
  /// When it came, seconds since 1970.
  public let receivedAt: Int64
  /// A note to be written behind the events before it; then there are no bytes.
  public let note: ArchiveNote?
  /// The seq of a stored event that the relay has too, and did not send; then there are no bytes.
  public let seq: Int64?

  /// An event of a run.
  public init(record: Int, bytes: Range<Int>, relay: Int64?, receivedAt: Int64) {
    self.record = record
    self.bytes = bytes
    self.relay = relay
    self.receivedAt = receivedAt
    (note, seq) = (nil, nil)
  }

  /// A stored event that a relay has too, as a reconciliation has shown (NIP-77).
  public init(record: Int, stored seq: Int64, relay: Int64, foundAt: Int64) {
    self.record = record
    self.seq = seq
    self.relay = relay
    receivedAt = foundAt
    (bytes, note) = (0..<0, nil)
  }

  /// A note of a run. It is committed with the events before it, or after them.
  public init(record: Int, _ note: ArchiveNote) {
    self.record = record
    self.note = note
    (bytes, relay, receivedAt, seq) = (0..<0, nil, 0, nil)
  }
}

/// The outcome of an event at the gate.
public enum GateOutcome: Sendable, Hashable {
  /// What the archive says.
  case archived(StoreOutcome)
  /// Ephemeral: announced, and not kept; false when the gate has met it before.
  case ephemeral(isNew: Bool)
  /// Not an event, or not signed by its author.
  case invalid(String)
}

/// The outcome of a submission.
public struct GateResult: Sendable, Hashable {
  /// How many of each.
  public var counts = IngestResult()
  /// The events stored now, by the relay they came from, as numbered by the archive.
  public private(set) var storedByRelay: [Int64: Int] = [:]
  /// The outcome of the last event: of the only one, if there was one.
  public var last: GateOutcome?
  /// The last event's id, if it has one.
  public var lastID: EventID?
  /// The outcome of each event, in the order of the run; only where the caller asked for that.
  public private(set) var outcomes: [GateOutcome]?

  /// Nothing yet.
  public init() {}

  /// Nothing yet, and a place for each of so many outcomes.
  init(outcomeCount: Int) {
    // The outcomes are sent when the last event has its own, so no caller sees these.
    outcomes = Array(repeating: .ephemeral(isNew: false), count: outcomeCount)
  }

  mutating func add(_ outcome: GateOutcome, id: EventID?, _ event: IncomingEvent, index: Int) {
    outcomes?[index] = outcome
    last = outcome
    lastID = id
    switch outcome {
    case .archived(.stored):
      counts.stored += 1
      if let relay = event.relay { storedByRelay[relay, default: 0] += 1 }
    case .archived(.duplicate), .ephemeral(isNew: false): counts.duplicate += 1
    case .archived(.mended): counts.mended = (counts.mended ?? 0) + 1
    case .archived(.superseded): counts.superseded += 1
    case .archived(.deleted), .archived(.vanished): counts.deleted += 1
    case .archived(.expired): counts.expired += 1
    case .archived(.noted): break
    case .ephemeral: counts.ephemeral += 1
    case .invalid(let reason):
      counts.invalidCount += 1
      if counts.invalid.count < IngestResult.invalidMaximum {
        counts.invalid.append(IngestResult.Invalid(record: event.record, reason: reason, id: id?.description))
      }
    }
  }
}

/// What the store does for the gate.
public enum GateAction: Sendable {
  /// Sends an event to its observers. In the order of seqs; nil for an ephemeral event.
  case announce(VerifiedEvent, seq: Int64?)
  /// Sends an event that a stored one has replaced already to the observers that take those.
  case announceSuperseded(VerifiedEvent)
  /// Answers a submission: each of its events has an outcome, and those that are stored are committed.
  case answer(UInt64, GateResult)
  /// Reports what a relay has sent.
  case report(TrustReport)
  /// Reports that a stored event was damaged, and that a copy has mended it.
  case mended(EventID, seq: Int64)
  /// Refuses a submission: the archive could not be written, and nothing of it that waited was stored.
  case refuse(UInt64)
}
