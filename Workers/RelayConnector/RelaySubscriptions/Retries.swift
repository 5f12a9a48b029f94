internal import Clocks
internal import RelaySession

/// How often one interest was sent again after CLOSED, by what the refusal is about.
///
/// One budget covers all of it, so that no mixture of reasons makes a loop.
struct Retries: Hashable, Sendable {
  private var total = 0
  private var counts: [RefusalClass: Int] = [:]

  /// Counts a CLOSED.
  ///
  /// - Returns: milliseconds to wait, with a random addition of up to a half, so that interests do not return in step;
  ///   nil when another attempt makes no sense.
  mutating func delay(
    after kind: RefusalClass, _ limits: SubscriptionLimits, using generator: inout SeededGenerator
  ) -> UInt64? {
    let (base, maximum): (UInt64, Int)
    switch kind {
    case .rate, .subscriptions: (base, maximum) = (limits.rateLimitMilliseconds, limits.rateLimitMaximum)
    case .failure: (base, maximum) = (limits.errorMilliseconds, limits.errorMaximum)
    case .unknown: (base, maximum) = (limits.otherMilliseconds, limits.otherMaximum)
    case .authentication, .restricted, .blocked, .size, .unsupported, .invalid, .mute: return nil
    }
    let count = counts[kind, default: 0]
    guard total < limits.retryMaximum, count < maximum else { return nil }
    total += 1
    counts[kind] = count + 1
    let grows = kind == .rate || kind == .subscriptions
    let wait = grows ? BackOff.window(base: base, ceiling: .max, failureCount: count) : base
    return wait + UInt64.random(in: 0...wait / 2, using: &generator)
  }
}
