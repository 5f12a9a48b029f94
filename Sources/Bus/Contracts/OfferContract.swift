// `store.offer`: a run of events, each with an outcome of its own. For callers that have many events at once, such as a
// relay that receives one EVENT after the other and owes an OK for each.
//
// `store.offer.foreign` is the same for events that clients of the local relay sent and no account signed. The store
// removes these first when it needs room, and they have a common limit (`foreign-limit`).
//
// The request, RAW: records follow each other to its end.
//
//    0  u32  byteCount
//    4       byteCount bytes: an event, as it arrived
//
// The answer, RAW: as many records, in the same order.
//
//    0  u8   outcome: as in ``OfferOutcome/Code``
//    1  u8   3 × 0
//    4  u32  reasonByteCount
//    8  i64  seq: of an event that is stored, duplicate or mended; else 0
//   16       reasonByteCount bytes: why it is invalid, UTF-8
//
// All numbers are little-endian. Rejected: the records of `store.ingest`, because three quarters of their header are
// for relays; and JSON with a name for each outcome, which for a thousand events costs more than storing them.
//
// The store answers when all events of the run that count as stored are committed. If the database cannot be written,
// the store refuses the whole run (`disk-full`, `failed`), although an earlier transaction may have stored a part of
// it. When the caller offers the run again, the store reports that part as duplicates.

/// A run of events offered to the store.
public enum OfferRun {
  /// The size of a record's header, in bytes.
  public static let headerByteCount = 4
  /// The maximum number of events of one run: their outcomes, with the reasons, fit into the smallest frame.
  public static let countMaximum = 2_048

  /// Why a run cannot be read.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset in the run, in bytes.
    public let offset: Int
    /// What is wrong.
    public let reason: String
    /// The end of a sentence.
    public var description: String { "the record at byte \(offset) \(reason)" }
  }

  /// The range of each event in a run.
  ///
  /// - Throws: at a record that cannot be read; then nothing of the run is stored.
  public static func read(_ run: [UInt8]) throws(Problem) -> [Range<Int>] {
    var events: [Range<Int>] = []
    var offset = 0
    while offset < run.count {
      let body = offset + headerByteCount
      guard body <= run.count else { throw Problem(offset: offset, reason: "ends in its header") }
      let count = Int(LittleEndian.number(run, offset, 4))
      guard count <= run.count - body else {
        throw Problem(offset: offset, reason: "says it has \(count) bytes, and the run has \(run.count - body) more")
      }
      guard events.count < countMaximum else {
        throw Problem(offset: offset, reason: "is one too many: a run has \(countMaximum) events at most")
      }
      events.append(body..<body + count)
      offset = body + count
    }
    return events
  }

  /// Adds an event to a run.
  public static func append(_ event: some Collection<UInt8>, to run: inout [UInt8]) {
    LittleEndian.append(UInt64(event.count), 4, to: &run)
    run.append(contentsOf: event)
  }
}

/// The outcome of one event of a run.
public enum OfferOutcome: Sendable, Hashable {
  /// Stored now, under this seq.
  case stored(seq: Int64)
  /// Already stored.
  case duplicate(seq: Int64)
  /// It was stored but damaged; this copy has replaced the damaged one.
  case mended(seq: Int64)
  /// A newer event has replaced it, or one of the same second with a lower id (NIP-01).
  case superseded
  /// Deleted by its author (NIP-09).
  case deleted
  /// Its author has requested to vanish (NIP-62).
  case vanished
  /// Its own `expiration` has passed (NIP-40).
  case expired
  /// Ephemeral and new: passed on to observers, and not stored.
  case ephemeral
  /// Ephemeral, and received before.
  case ephemeralAgain
  /// Not an event, or not what its author signed: the reason, as the end of a sentence. The reasons of one answer have
  /// at most ``reasonByteCountMaximum`` bytes together; the reasons after that are empty.
  case invalid(String)

  /// The byte of an outcome.
  public enum Code: UInt8, Sendable, Hashable {
    /// Stored now.
    case stored = 0
    /// Already stored.
    case duplicate = 1
    /// It was damaged, and this copy has replaced it.
    case mended = 2
    /// A newer event has replaced it.
    case superseded = 3
    /// Deleted by its author.
    case deleted = 4
    /// Its author has requested to vanish.
    case vanished = 5
    /// Its expiration has passed.
    case expired = 6
    /// Ephemeral and new.
    case ephemeral = 7
    /// Ephemeral, and received before.
    case ephemeralAgain = 8
    /// Not a valid event.
    case invalid = 9
  }

  /// The size of a record's header, in bytes.
  public static let headerByteCount = 16
  /// The maximum size of all reasons of an answer, in bytes.
  public static let reasonByteCountMaximum = 24 << 10

  /// The answer for these outcomes, in their order.
  public static func bytes(of outcomes: [OfferOutcome]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(outcomes.count * headerByteCount)
    var room = reasonByteCountMaximum
    for outcome in outcomes {
      let (code, seq, reason) = outcome.parts
      let text = reason.utf8.count <= room ? reason : ""
      room -= text.utf8.count
      LittleEndian.append(UInt64(code.rawValue), 4, to: &bytes)
      LittleEndian.append(UInt64(text.utf8.count), 4, to: &bytes)
      LittleEndian.append(UInt64(bitPattern: seq), 8, to: &bytes)
      bytes.append(contentsOf: text.utf8)
    }
    return bytes
  }

  /// Reads an answer.
  ///
  /// - Throws: at a record that is truncated or has an unknown outcome.
  public static func read(_ answer: [UInt8]) throws(OfferRun.Problem) -> [OfferOutcome] {
    var outcomes: [OfferOutcome] = []
    var offset = 0
    while offset < answer.count {
      let body = offset + headerByteCount
      guard body <= answer.count else { throw OfferRun.Problem(offset: offset, reason: "ends in its header") }
      let count = Int(LittleEndian.number(answer, offset + 4, 4))
      guard count <= answer.count - body else { throw OfferRun.Problem(offset: offset, reason: "ends in its reason") }
      guard let code = UInt8(exactly: LittleEndian.number(answer, offset, 4)).flatMap({ Code(rawValue: $0) }) else {
        throw OfferRun.Problem(offset: offset, reason: "has no known outcome")
      }
      let seq = Int64(bitPattern: LittleEndian.number(answer, offset + 8, 8))
      outcomes.append(
        OfferOutcome(code, seq: seq, reason: String(decoding: answer[body..<body + count], as: UTF8.self)))
      offset = body + count
    }
    return outcomes
  }

  private init(_ code: Code, seq: Int64, reason: String) {
    switch code {
    case .stored: self = .stored(seq: seq)
    case .duplicate: self = .duplicate(seq: seq)
    case .mended: self = .mended(seq: seq)
    case .superseded: self = .superseded
    case .deleted: self = .deleted
    case .vanished: self = .vanished
    case .expired: self = .expired
    case .ephemeral: self = .ephemeral
    case .ephemeralAgain: self = .ephemeralAgain
    case .invalid: self = .invalid(reason)
    }
  }

  private var parts: (code: Code, seq: Int64, reason: String) {
    switch self {
    case .stored(let seq): (.stored, seq, "")
    case .duplicate(let seq): (.duplicate, seq, "")
    case .mended(let seq): (.mended, seq, "")
    case .superseded: (.superseded, 0, "")
    case .deleted: (.deleted, 0, "")
    case .vanished: (.vanished, 0, "")
    case .expired: (.expired, 0, "")
    case .ephemeral: (.ephemeral, 0, "")
    case .ephemeralAgain: (.ephemeralAgain, 0, "")
    case .invalid(let reason): (.invalid, 0, reason)
    }
  }
}
