public import Clocks
internal import DequeModule

/// Bounds how often the servers of names (NIP-05) are asked, and keeps what they answered. A machine without I/O.
public struct NameLookUps<Answer: Sendable>: Sendable {
  /// Most look-ups within ``windowMilliseconds``.
  public static var lookUpMaximum: Int { 30 }
  /// The time in which look-ups are counted.
  public static var windowMilliseconds: UInt64 { 60_000 }
  /// How long an answer is kept: shorter than the hour for which its relays count.
  public static var keptMilliseconds: UInt64 { 1_800_000 }
  /// Answers that are kept; at the limit the oldest goes.
  public static var keptMaximum: Int { 1_024 }

  private var begun: Deque<Instant> = []
  private var kept: [String: (answer: Answer, at: Instant)] = [:]
  private var order: Deque<(name: String, at: Instant)> = []

  /// Nothing is kept.
  public init() {}

  /// Other servers are asked from now on: nothing that was answered counts.
  public mutating func forgetAnswers() { (kept, order) = ([:], []) }

  /// What a server has answered for a name lately.
  public func answer(for name: String, at now: Instant) -> Answer? {
    kept[name].flatMap { now.milliseconds(since: $0.at) < Self.keptMilliseconds ? $0.answer : nil }
  }

  /// A server is asked, unless too many were.
  ///
  /// - Returns: nil, or the milliseconds until one may be asked again.
  public mutating func begin(at now: Instant) -> UInt64? {
    while let first = begun.first, now.milliseconds(since: first) >= Self.windowMilliseconds { begun.removeFirst() }
    if let first = begun.first, begun.count >= Self.lookUpMaximum {
      return Self.windowMilliseconds - now.milliseconds(since: first)
    }
    begun.append(now)
    return nil
  }

  /// A server has answered.
  public mutating func answered(_ name: String, _ answer: Answer, at now: Instant) {
    kept[name] = (answer, now)
    order.append((name, now))
    while order.count > Self.keptMaximum, let oldest = order.popFirst() {
      // An answer that came again is a later entry too.
      if kept[oldest.name]?.at == oldest.at { kept[oldest.name] = nil }
    }
  }
}
