internal import Clocks
internal import Contracts

// How much each role may have done in a time: a worker that runs wild, or was taken over, does not sign without end,
// and somebody who guesses passphrases has few guesses a minute. The bounds are far above what the roles need.

/// How much of something may be done: so many at once, and so many a second in the long run.
public struct Rate: Hashable, Sendable {
  /// At once.
  public var burst: Double
  /// A second, in the long run.
  public var perSecond: Double

  /// A rate.
  public init(burst: Double, perSecond: Double) {
    self.burst = burst
    self.perSecond = perSecond
  }

  /// Clients: somebody's own programs, of which one may open an inbox of thousands of gift wraps.
  public static let client = Rate(burst: 5_000, perSecond: 1_000)
  /// Connectors: a challenge for each relay after a start, and few afterwards.
  public static let relayConnector = Rate(burst: 300, perSecond: 10)
  /// Those that keep jobs and do them: of each a request or two, and answers, as many as clients submit at once.
  public static let jobs = Rate(burst: 2_000, perSecond: 200)
  /// All other workers.
  public static let worker = Rate(burst: 200, perSecond: 20)
  /// Making, importing, unlocking and removing keys, whoever asks: each costs memory and time, and an unlocking may be
  /// a guess.
  public static let keyHandling = Rate(burst: 10, perSecond: 0.5)
}

/// What is left of the rates: a bucket for each, filled by time.
struct RateLimits {
  private struct Bucket {
    var left: Double
    var filledAt: Instant
  }
  private var buckets: [String: Bucket] = [:]
  private static let keyHandlingName = " key handling"

  /// Takes one of a use's bucket.
  ///
  /// - Returns: nil, or after how many milliseconds there is one.
  mutating func take(_ use: SignerUse, at now: Instant) -> UInt32? {
    let (name, rate) = Self.rate(of: use)
    var bucket = buckets[name] ?? Bucket(left: rate.burst, filledAt: now)
    let seconds = Double(now.milliseconds(since: bucket.filledAt)) / 1_000
    // Below a millisecond nothing is added, and then the time must not be used up either.
    if seconds > 0 {
      bucket.left = min(rate.burst, bucket.left + seconds * rate.perSecond)
      bucket.filledAt = now
    }
    defer { buckets[name] = bucket }
    guard bucket.left >= 1 else { return UInt32(((1 - bucket.left) / rate.perSecond * 1_000).rounded(.up)) }
    bucket.left -= 1
    return nil
  }

  private static func rate(of use: SignerUse) -> (String, Rate) {
    switch use.method {
    case .generate, .import, .unlock, .remove, .passphrase: return (keyHandlingName, .keyHandling)
    default: break
    }
    return switch use.caller.role {
    case Role.client.name: (use.caller.role, .client)
    case Role.relayConnector.name: (use.caller.role, .relayConnector)
    case Role.dvmTracker.name, Role.dvmProvider.name: (use.caller.role, .jobs)
    default: (use.caller.role, .worker)
    }
  }
}
