internal import Clocks
internal import Contracts

// Rate limits for each role: a worker that has a bug or was taken over cannot sign without end, and passphrases can be
// guessed only a few times a minute. The limits are far above what the roles need.

/// A rate: a burst, and a long-term average per second.
public struct Rate: Hashable, Sendable {
  /// Most at once.
  public var burst: Double
  /// Per second, in the long run.
  public var perSecond: Double

  /// A rate.
  public init(burst: Double, perSecond: Double) {
    self.burst = burst
    self.perSecond = perSecond
  }

  /// Clients: the user's own programs, of which one may open an inbox of thousands of gift wraps.
  public static let client = Rate(burst: 5_000, perSecond: 1_000)
  /// Connectors: one challenge for each relay after a start, and few later.
  public static let relayConnector = Rate(burst: 300, perSecond: 10)
  /// The tracker and the providers of jobs: a few requests for each job, and as many jobs as clients submit at once.
  /// And `link-feed`, beside its runs of gift wraps: old messages one by one, and a message to each member of a
  /// session.
  public static let jobs = Rate(burst: 2_000, perSecond: 200)
  /// Gift wraps in runs, of any role, each wrap counted: an inbox that is read for the first time. One core opens
  /// about twice as many.
  public static let opening = Rate(burst: 10_000, perSecond: 5_000)
  /// All other workers.
  public static let worker = Rate(burst: 200, perSecond: 20)
  /// Making, importing, unlocking, leaving and removing keys, for all callers together: each takes memory and time, and
  /// each attempt to unlock may be a guess.
  public static let keyHandling = Rate(burst: 10, perSecond: 0.5)
}

/// Token buckets, one for each rate.
struct RateLimits {
  private struct Bucket {
    var left: Double
    var filledAt: Instant
  }
  private var buckets: [String: Bucket] = [:]
  private static let keyHandlingName = " key handling"
  /// No role's name has a space.
  private static let openingSuffix = " opening"

  /// Takes one token for a use, or one for each gift wrap of a run: all of them or none.
  ///
  /// - Returns: nil, or the milliseconds until there are as many.
  mutating func take(_ use: SignerUse, at now: Instant) -> UInt32? {
    let (name, rate) = Self.rate(of: use)
    var bucket = buckets[name] ?? Bucket(left: rate.burst, filledAt: now)
    let seconds = Double(now.milliseconds(since: bucket.filledAt)) / 1_000
    // Less than a millisecond adds nothing, and must not move `filledAt` either.
    if seconds > 0 {
      bucket.left = min(rate.burst, bucket.left + seconds * rate.perSecond)
      bucket.filledAt = now
    }
    defer { buckets[name] = bucket }
    let cost = Double(max(1, use.wrapCount))
    guard bucket.left >= cost else { return UInt32(((cost - bucket.left) / rate.perSecond * 1_000).rounded(.up)) }
    bucket.left -= cost
    return nil
  }

  private static func rate(of use: SignerUse) -> (String, Rate) {
    switch use.method {
    case .generate, .import, .unlock, .remove, .passphrase, .use, .leave: return (keyHandlingName, .keyHandling)
    case .open: return (use.caller.role + openingSuffix, .opening)
    default: break
    }
    return switch use.caller.role {
    case Role.client.name: (use.caller.role, .client)
    case Role.relayConnector.name: (use.caller.role, .relayConnector)
    case Role.dvmTracker.name, Role.dvmProvider.name, Role.linkFeed.name: (use.caller.role, .jobs)
    default: (use.caller.role, .worker)
    }
  }
}
