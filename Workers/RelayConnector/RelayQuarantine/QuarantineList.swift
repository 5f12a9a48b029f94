public import Clocks

// Which relays' bytes kill a connector, and for how long they are in quarantine.
//
// A connector that dies is started again and dials the same relays again. If one of them sends bytes that our parsers,
// or the libraries below them, cannot survive, the whole group is down for as long as that relay answers. So each death
// while a relay's bytes are in flight is a strike against that relay. One may be bad luck, because a kill -9 often
// finds some relay's bytes in flight; three within an hour are not.
//
// Times of strikes are wall-clock seconds, because later processes read them, perhaps after a reboot. A strike from the
// future, after a clock was set back, counts as one of now.

/// How many strikes bring a quarantine, and for how long.
public struct QuarantineLimits: Sendable, Hashable {
  /// Strikes within ``windowSeconds`` that put a relay into quarantine. At most ``InFlightTable/strikeMaximum``.
  public var strikeMaximum = 3
  /// How long a strike counts.
  public var windowSeconds: Int64 = 3_600
  /// How long after its last strike a relay stays in quarantine.
  public var quarantineSeconds: Int64 = 3_600
  /// How long a relay's messages must have done no harm before one strike is forgotten.
  public var forgivenessMilliseconds: UInt64 = 600_000

  /// The limits above.
  public init() {}
}

/// The strikes of all relays, by URL: a value without I/O.
public struct QuarantineList: Sendable {
  /// Why and how long a relay is in quarantine.
  public struct Quarantine: Hashable, Sendable {
    /// How often the connector died while the relay's bytes were in flight.
    public let strikeCount: Int
    /// How many seconds it still lasts.
    public let secondsLeft: Int64
  }

  private let limits: QuarantineLimits
  private var times: [String: [Int64]]
  /// Since when a relay with strikes has done no harm.
  private var goodSince: [String: Instant] = [:]

  /// A list with the strikes that were kept, in order of time for each relay.
  public init(limits: QuarantineLimits = QuarantineLimits(), strikes: [String: [Int64]] = [:]) {
    self.limits = limits
    times = strikes.filter { !$0.value.isEmpty }
  }

  /// When a relay's strikes happened, to be kept; empty if it has none.
  public func strikes(of relay: String) -> [Int64] { times[relay] ?? [] }
  /// Relays that have strikes.
  public var relays: [String] { times.keys.sorted() }

  /// A process died while this relay's bytes were in flight.
  public mutating func struck(_ relay: String, at seconds: Int64) {
    expire(at: seconds)
    times[relay] = (strikes(of: relay) + [seconds]).suffix(limits.strikeMaximum)
    goodSince[relay] = nil
  }

  /// Forgets old strikes. A strike from the future counts as one of now.
  public mutating func expire(at seconds: Int64) {
    for (relay, strikes) in times {
      let kept = strikes.map { min($0, seconds) }.filter { seconds - $0 < limits.windowSeconds }
      // A relay in quarantine keeps its strikes until the quarantine ends, even if that is after the window.
      if quarantine(of: relay, at: seconds) == nil { times[relay] = kept.isEmpty ? nil : kept }
    }
  }

  /// The quarantine of a relay; nil when it is not in quarantine.
  public func quarantine(of relay: String, at seconds: Int64) -> Quarantine? {
    let strikes = strikes(of: relay).map { min($0, seconds) }.suffix(limits.strikeMaximum)
    guard strikes.count == limits.strikeMaximum, let first = strikes.first, let last = strikes.last else { return nil }
    let secondsLeft = limits.quarantineSeconds - (seconds - last)
    guard last - first < limits.windowSeconds, secondsLeft > 0 else { return nil }
    return Quarantine(strikeCount: strikes.count, secondsLeft: secondsLeft)
  }

  /// The connector has processed a message of a relay, and survived.
  ///
  /// - Returns: whether a strike was forgotten because of it.
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

  /// An operator wants the relay tried again now.
  public mutating func forgive(_ relay: String) {
    times[relay] = nil
    goodSince[relay] = nil
  }
}
