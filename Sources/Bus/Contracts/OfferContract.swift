// `store.offer`: a run of events of one's own, each with an outcome of its own. For whoever has many at hand at once,
// as a relay that is sent one EVENT behind the other and owes an OK for each.
//
// `store.offer.foreign` is the same for events that clients of the local relay hand in and no account signed: these go
// first when room is made, and have a limit together (`foreign-limit`).
//
// The request, RAW: record follows record to its end.
//
//    0  u32  byteCount
//    4       byteCount bytes: an event, as it came
//
// The answer, RAW: as many records, in the same order.
//
//    0  u8   outcome: as in ``OfferOutcome/Code``
//    1  u8   3 × 0
//    4  u32  reasonByteCount
//    8  i64  seq: of what is stored, was there or is mended; else 0
//   16       reasonByteCount bytes: why it is invalid, UTF-8
//
// All numbers little-endian. Rejected: the records of `store.ingest`, of which three quarters of the header are for
// relays; a name of each outcome in JSON, which for a thousand events is more work than storing them.
//
// The answer is given when all of the run that counts as stored is committed. If the database cannot be written the
// whole run is refused (`disk-full`, `failed`), though an earlier transaction may have stored a part: offered again,
// that part is there already.

/// A run of events offered to the store.
public enum OfferRun {
  /// Bytes of a record before its event.
  public static let headerByteCount = 4
  /// Most events of one run: with the reasons, their outcomes fit the smallest frame.
  public static let countMaximum = 2_048

  /// Why a run cannot be read.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where in the run, in bytes.
    public let offset: Int
    /// What is wrong.
    public let reason: String
    /// A sentence's end.
    public var description: String { "the record at byte \(offset) \(reason)" }
  }

  /// Where the events of a run are in it.
  ///
  /// - Throws: at a record that cannot be read; nothing of the run is taken then.
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

/// What became of one event of a run.
public enum OfferOutcome: Sendable, Hashable {
  /// Stored now, under this seq.
  case stored(seq: Int64)
  /// There already.
  case duplicate(seq: Int64)
  /// There, and damaged: the copy has taken the place of what was stored.
  case mended(seq: Int64)
  /// A newer one is in its place, or one of the same second with a lower id (NIP-01).
  case superseded
  /// Deleted by its author (NIP-09).
  case deleted
  /// Its author has vanished (NIP-62).
  case vanished
  /// Over by its own `expiration` (NIP-40).
  case expired
  /// Ephemeral and new: passed on to whoever listens, and not kept.
  case ephemeral
  /// Ephemeral, and met before.
  case ephemeralAgain
  /// No event, or not what its author signed: why, as a sentence's end. The texts of one answer have
  /// ``reasonByteCountMaximum`` bytes together; beyond that a reason is empty.
  case invalid(String)

  /// The byte that stands for an outcome.
  public enum Code: UInt8, Sendable, Hashable {
    /// Stored now.
    case stored = 0
    /// There already.
    case duplicate = 1
    /// There, and mended by this copy.
    case mended = 2
    /// A newer one is in its place.
    case superseded = 3
    /// Deleted by its author.
    case deleted = 4
    /// Its author has vanished.
    case vanished = 5
    /// Its time is over.
    case expired = 6
    /// Ephemeral and new.
    case ephemeral = 7
    /// Ephemeral, and met before.
    case ephemeralAgain = 8
    /// Not a valid event.
    case invalid = 9
  }

  /// Bytes of an outcome before its reason.
  public static let headerByteCount = 16
  /// Bytes of all reasons of an answer.
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
  /// - Throws: at a record that ends before it should, or has an outcome that is not known.
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
