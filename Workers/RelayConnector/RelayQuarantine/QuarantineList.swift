public import Clocks

// Whose bytes kill, and for how long nobody takes any of them.
//
// A connector that dies is started again, and dials the same relays again. If one of them sends what our parsers, or
// the libraries under them, cannot bear, the whole group is down for as long as that relay answers. So each death with
// a relay's bytes in hand is a strike against it. Once is bad luck, since a kill -9 often enough finds somebody's bytes
// in hand; three times in an hour is not.
//
// Times of strikes are wall-clock seconds, since they are read by later processes, after a reboot perhaps. A strike
// from the future, where a clock was set back, counts as one of now.

/// How many strikes are too many.
public struct QuarantineLimits: Sendable, Hashable {
  /// Strikes within ``windowSeconds`` that bring a relay into quarantine. At most ``InFlightTable/strikeMaximum``.
  public var strikeMaximum = 3
  /// How long a strike counts.
  public var windowSeconds: Int64 = 3_600
  /// How long after its last strike a relay is left alone.
  public var quarantineSeconds: Int64 = 3_600
  /// How long a relay's messages must have done no harm for one strike to be forgotten.
  public var forgivenessMilliseconds: UInt64 = 600_000

  /// The limits above.
  public init() {}
}

/// The strikes of all relays, by URL: a value without I/O.
public struct QuarantineList: Sendable {
  /// Why a relay is left alone.
  public struct Quarantine: Hashable, Sendable {
    /// How often its bytes were in hand at a death.
    public let strikeCount: Int
    /// How long it lasts from now on, in seconds.
    public let secondsLeft: Int64
  }

  private let limits: QuarantineLimits
  private var times: [String: [Int64]]
  /// Since when a relay with strikes has done no harm.
  private var goodSince: [String: Instant] = [:]

  /// A book with the strikes that were kept, each list in their order.
  public init(limits: QuarantineLimits = QuarantineLimits(), strikes: [String: [Int64]] = [:]) {
    self.limits = limits
    times = strikes.filter { !$0.value.isEmpty }
  }

  /// When a relay's strikes were, for keeping; empty for one that has none.
  public func strikes(of relay: String) -> [Int64] { times[relay] ?? [] }
  /// Relays that have strikes.
  public var relays: [String] { times.keys.sorted() }

  /// A process has died with this relay's bytes in hand.
  public mutating func struck(_ relay: String, at seconds: Int64) {
    expire(at: seconds)
    times[relay] = (strikes(of: relay) + [seconds]).suffix(limits.strikeMaximum)
    goodSince[relay] = nil
  }

  /// Forgets strikes that count no more. What lies in the future is taken for now.
  public mutating func expire(at seconds: Int64) {
    for (relay, strikes) in times {
      let kept = strikes.map { min($0, seconds) }.filter { seconds - $0 < limits.windowSeconds }
      // Whoever is in quarantine keeps its strikes until it is over, also where that is longer.
      if quarantine(of: relay, at: seconds) == nil { times[relay] = kept.isEmpty ? nil : kept }
    }
  }

  /// Why a relay is to be left alone; nil when it is not.
  public func quarantine(of relay: String, at seconds: Int64) -> Quarantine? {
    let strikes = strikes(of: relay).map { min($0, seconds) }.suffix(limits.strikeMaximum)
    guard strikes.count == limits.strikeMaximum, let first = strikes.first, let last = strikes.last else { return nil }
    let secondsLeft = limits.quarantineSeconds - (seconds - last)
    guard last - first < limits.windowSeconds, secondsLeft > 0 else { return nil }
    return Quarantine(strikeCount: strikes.count, secondsLeft: secondsLeft)
  }

  /// A message of a relay was handled, and we are still here.
  ///
  /// - Returns: whether a strike was forgotten for it.
  public mutating func handled(_ relay: String, at now: Instant) -> Bool {
    guard let strikes = times[relay] else { return false }
    guard let since = goodSince[relay] else {
      goodSince[relay] = now
      return false
    }
    guard now.milliseconds(since: since) >= limits.forgivenessMilliseconds else { return false }
    goodSince[relay] = now
    times[relay] = strikes.count > 1 ? Array(strikes.dropFirst()) : nil
    return true
  }

  /// Somebody wants the relay tried nevertheless.
  public mutating func forgive(_ relay: String) {
    times[relay] = nil
    goodSince[relay] = nil
  }
}
