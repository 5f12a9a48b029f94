import Clocks
import Frames
import Nostr

// What a program says on descriptor 3 while it works, a line of JSON each:
//
//     {"status":"processing","message":"half of it is done"}
//     {"status":"partial","message":"the first page","content":"…"}
//
// Each becomes an event that is signed, stored and sent to relays; so there are few of them, whatever a program writes.

/// One thing that a program says while it works.
struct ProgramFeedback: Decodable, Sendable, Hashable {
  /// What may be said.
  enum Status: String, Decodable, Sendable {
    case processing, partial
  }
  var status: Status
  /// For people. It is never encrypted, so of an encrypted request it is left out.
  var message: String?
  /// A part of the result.
  var content: String?
}

/// Cuts descriptor 3 into lines, and lets few of them pass.
struct FeedbackReader: Sendable {
  /// Why a line is not passed on.
  enum DropReason: CaseIterable, Sendable, Hashable {
    case tooLong, tooFast, tooMany, unreadable

    /// In a log, after how many lines it is.
    var text: String {
      switch self {
      case .tooLong: "longer than \(FeedbackReader.lineByteCountMaximum) bytes"
      case .tooFast: "faster than one a second, after the first \(Int(FeedbackReader.burst))"
      case .tooMany: "beyond the \(FeedbackReader.countMaximum) of a job"
      case .unreadable: "no JSON object with status 'processing' or 'partial'"
      }
    }
  }
  /// How many lines were not passed on, by reason.
  private(set) var dropped: [DropReason: Int] = [:]

  private var rest: [UInt8] = []
  private var isSkipping = false
  private var passedCount = 0
  private var tokens: Double = FeedbackReader.burst
  private var last: Instant?

  /// Longest line, in bytes.
  static let lineByteCountMaximum = 64 << 10
  /// Most lines of one job that are passed on.
  static let countMaximum = 100
  /// Lines that are passed on at once, and in a second in the long run.
  private static let burst = 5.0
  private static let perSecond = 1.0

  /// More bytes have come.
  ///
  /// - Returns: what is to be passed on.
  mutating func received(_ bytes: ArraySlice<UInt8>, at now: Instant) -> [ProgramFeedback] {
    var passed: [ProgramFeedback] = []
    for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if piece.offset > 0 { passed += line(at: now).map { [$0] } ?? [] }
      guard !isSkipping else { continue }
      rest += piece.element
      if rest.count > Self.lineByteCountMaximum {
        rest = []
        isSkipping = true
      }
    }
    return passed
  }

  /// A line has come to its end.
  private mutating func line(at now: Instant) -> ProgramFeedback? {
    defer { (rest, isSkipping) = ([], false) }
    if rest.isEmpty, !isSkipping { return nil }
    // Whether it may pass is asked before it is read: a flood of nonsense costs no more than one of sense.
    if let reason = isSkipping ? .tooLong : objection(at: now) { return drop(reason) }
    do throws(Refusal) { return try JSONPayload.decode(ProgramFeedback.self, from: rest) } catch {
      // A program's own matter: the log has how many there were.
      return drop(.unreadable)
    }
  }

  private mutating func drop(_ reason: DropReason) -> ProgramFeedback? {
    dropped[reason, default: 0] += 1
    return nil
  }

  private mutating func objection(at now: Instant) -> DropReason? {
    if let last {
      let seconds = Double(now.nanoseconds - last.nanoseconds) / 1_000_000_000
      tokens = min(Self.burst, tokens + seconds * Self.perSecond)
    }
    last = now
    guard passedCount < Self.countMaximum else { return .tooMany }
    guard tokens >= 1 else { return .tooFast }
    tokens -= 1
    passedCount += 1
    return nil
  }
}
