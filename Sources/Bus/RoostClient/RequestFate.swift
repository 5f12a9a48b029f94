internal import Clocks
internal import Frames

/// What happens to a request whose connection was lost. Pure; the rule of `docs/protocol.md`, "After a lost
/// connection".
///
/// The request may have run, may be running, or may never have arrived; only the caller knows whether a repeat does
/// harm. So it is repeated only if the caller declared it idempotent, if no part of an answer was returned yet (a
/// second answer would repeat it), and while its time to live lasts.
enum RequestFate: Equatable {
  /// Repeat it under a new id, with the rest of its time to live; 0 = no limit.
  case askAgain(ttlMilliseconds: UInt32)
  /// Return this refusal to the caller.
  case fail(Refusal)

  /// The fate of a request after `loss`.
  ///
  /// - Parameters:
  ///   - hasParts: whether a part of an answer was returned.
  ///   - repeatsLeft: how many times it may still be repeated.
  ///   - deadline: the end of its time to live.
  static func afterLoss(
    _ loss: Refusal, isIdempotent: Bool, hasParts: Bool, repeatsLeft: Int, deadline: Instant?, now: Instant
  ) -> RequestFate {
    var refusal = loss
    refusal.outcome = .unknown
    guard !isIdempotent || !hasParts else {
      refusal.message += "; the answer breaks off here"
      return .fail(refusal)
    }
    guard isIdempotent else {
      refusal.message += "; whether the request was carried out is not known"
      return .fail(refusal)
    }
    guard repeatsLeft > 0 else {
      refusal.message += "; asked again as often as this client may"
      return .fail(refusal)
    }
    switch remainingTTL(until: deadline, now: now) {
    case .some(let milliseconds): return .askAgain(ttlMilliseconds: milliseconds)
    case nil:
      return .fail(
        Refusal(.expired, "the time to live ran out after the connection was lost: \(loss.message)", outcome: .unknown))
    }
  }

  /// The milliseconds left until `deadline`, at least 1; 0 when there is no deadline, nil when it has passed.
  static func remainingTTL(until deadline: Instant?, now: Instant) -> UInt32? {
    guard let deadline else { return 0 }
    guard deadline > now else { return nil }
    return UInt32(clamping: max(1, deadline.milliseconds(since: now)))
  }
}
