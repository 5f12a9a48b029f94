public import Contracts
public import EventArchive
public import Nostr

/// One event of a submission, before anybody has looked at it; or a note that stands between its events.
public struct IncomingEvent: Sendable {
  /// Which record of the run it is, for reports.
  public let record: Int
  /// Where it is in the run.
  public let bytes: Range<Int>
  /// The relay it came from, as numbered by the archive.
  public let relay: Int64?
  /// When it came, seconds since 1970.
  public let receivedAt: Int64
  /// What is to be written down behind the events before it; then there are no bytes.
  public let note: ArchiveNote?

  /// An event of a run.
  public init(record: Int, bytes: Range<Int>, relay: Int64?, receivedAt: Int64) {
    self.record = record
    self.bytes = bytes
    self.relay = relay
    self.receivedAt = receivedAt
    note = nil
  }

  /// A note of a run. It is committed with the events before it, or after them.
  public init(record: Int, _ note: ArchiveNote) {
    self.record = record
    self.note = note
    (bytes, relay, receivedAt) = (0..<0, nil, 0)
  }
}

/// What became of an event at the gate.
public enum GateOutcome: Sendable, Hashable {
  /// What the archive says.
  case archived(StoreOutcome)
  /// Ephemeral: announced, and not kept; false when it was met before.
  case ephemeral(isNew: Bool)
  /// Not an event, or not signed by its author.
  case invalid(String)
}

/// What became of a submission.
public struct GateResult: Sendable, Hashable {
  /// How many of each.
  public var counts = IngestResult()
  /// What became of the last event: of the only one, if there was one.
  public var last: GateOutcome?
  /// The last event's id, if it has one.
  public var lastID: EventID?
  /// What became of each, in the order of the run; only where that was asked for.
  public private(set) var outcomes: [GateOutcome]?

  /// Nothing yet.
  public init() {}

  /// Nothing yet, and a place for each of so many outcomes.
  init(outcomeCount: Int) {
    // None is told before its event is dealt with, so what stands here meanwhile is seen by nobody.
    outcomes = Array(repeating: .ephemeral(isNew: false), count: outcomeCount)
  }

  mutating func add(_ outcome: GateOutcome, id: EventID?, record: Int, index: Int) {
    outcomes?[index] = outcome
    last = outcome
    lastID = id
    switch outcome {
    case .archived(.stored): counts.stored += 1
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
        counts.invalid.append(IngestResult.Invalid(record: record, reason: reason))
      }
    }
  }
}

/// What the gate wants done.
public enum GateAction: Sendable {
  /// Those who listen are to be told of an event. In the order of seqs; nil for an ephemeral one.
  case announce(VerifiedEvent, seq: Int64?)
  /// All events of a submission are dealt with, and what is stored of it is committed.
  case answer(UInt64, GateResult)
  /// A relay has shown what it is.
  case report(TrustReport)
  /// A stored event was damaged, and is mended by a copy that came.
  case mended(EventID, seq: Int64)
  /// Nothing that waited of a submission was stored, because the archive could not be written.
  case refuse(UInt64)
}
