import Clocks
import Frames
import Nostr

// What a program reports on descriptor 3 while it works, one JSON object a line:
//
//     {"status":"processing","message":"half of it is done"}
//     {"status":"partial","message":"the first page","content":"…"}
//
// Each becomes an event that is signed, stored and sent to relays. So only few are passed on, however many a program
// writes.

/// One report of a program that works.
struct ProgramFeedback: Decodable, Sendable, Hashable {
  /// What may be said.
  enum Status: String, Decodable, Sendable {
    case processing, partial
  }
  var status: Status
  /// For people. It is never encrypted, so it is left out if the request is encrypted.
  var message: String?
  /// A part of the result.
  var content: String?
}

/// Cuts descriptor 3 into lines, and passes few of them on.
struct FeedbackReader: Sendable {
  /// Why a line is not passed on.
  enum DropReason: CaseIterable, Sendable, Hashable {
    case tooLong, tooFast, tooMany, unreadable

    /// For the log, after the number of such lines.
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
  /// Lines that are passed on at once, and lines a second in the long run.
  private static let burst = 5.0
  private static let perSecond = 1.0

  /// Bytes have come.
  ///
  /// - Returns: the reports to be passed on.
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

  /// A line is complete.
  private mutating func line(at now: Instant) -> ProgramFeedback? {
    defer { (rest, isSkipping) = ([], false) }
    if rest.isEmpty, !isSkipping { return nil }
    // The rate is checked before the line is parsed: a flood of nonsense costs no more than a flood of valid lines.
    if let reason = isSkipping ? .tooLong : objection(at: now) { return drop(reason) }
    do throws(Refusal) { return try JSONPayload.decode(ProgramFeedback.self, from: rest) } catch {
      // What is wrong with it is the program's affair; the log gets the number of such lines.
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
