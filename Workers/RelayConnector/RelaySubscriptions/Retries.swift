internal import Clocks

/// How often one interest was sent again after CLOSED on a connection, by the first word of the reason (NIP-01).
///
/// One budget covers all words, so that no mixture of them makes a loop.
struct Retries: Hashable, Sendable {
  private var total = 0
  private var byClass: [Class: Int] = [:]

  private enum Class: Hashable { case rateLimited, error, other }

  /// Counts a CLOSED.
  ///
  /// - Returns: milliseconds to wait, with a random addition of up to a half, so that interests do not return in step;
  ///   nil   when another attempt makes no sense.
  mutating func delay(
    after word: String?, _ limits: SubscriptionLimits, using generator: inout SeededGenerator
  ) -> UInt64? {
    let kind: Class
    let (base, maximum): (UInt64, Int)
    switch word {
    case "rate-limited": (kind, base, maximum) = (.rateLimited, limits.rateLimitMilliseconds, limits.rateLimitMaximum)
    case "error": (kind, base, maximum) = (.error, limits.errorMilliseconds, limits.errorMaximum)
    case "restricted", "blocked", "invalid", "mute", "unsupported", "pow", "auth-required": return nil
    default: (kind, base, maximum) = (.other, limits.otherMilliseconds, limits.otherMaximum)
    }
    let count = byClass[kind, default: 0]
    guard total < limits.retryMaximum, count < maximum else { return nil }
    total += 1
    byClass[kind] = count + 1
    let wait = kind == .rateLimited ? BackOff.window(base: base, ceiling: .max, failureCount: count) : base
    return wait + UInt64.random(in: 0...wait / 2, using: &generator)
  }
}
