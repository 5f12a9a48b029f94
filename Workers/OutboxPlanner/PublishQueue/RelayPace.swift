internal import Clocks

// How fast a relay takes events, learned from what it took and what it refused as `rate-limited`.
//
// Relays count in ways of their own (a bucket that fills, a number a minute) and tell nobody. So the first refusal sets
// a pace by what was taken within the last minute; events that are taken quicken it, fast at first and slowly from then
// on, and each refusal slows it down. The pace is of the relay and not of a connection: it stays when that is cut off,
// and when nothing waits for the relay for a while. It outlives the process as long as something waits: the next event
// in line is written down with it.

/// The pace at which one relay is sent events.
struct RelayPace {
  /// Milliseconds between two events.
  private(set) var interval: Double
  /// When something was last sent at this pace, or refused.
  var usedAt: Instant
  /// The pace down to which it quickens fast: the first may be far too slow. Not further: a bucket that is full takes
  /// anything for a while, and says nothing of how it fills.
  private var fastUntil: Double
  /// Events taken since the last refusal.
  private var takenCount = 0

  /// The slowest pace: four an hour.
  static let ceilingMilliseconds: Double = 900_000
  /// A pace as quick as this is none: it is forgotten.
  static let floorMilliseconds: Double = 10
  /// The pace after a refusal by a relay that had taken nothing within the last minute.
  static let unknownMilliseconds: Double = 1_000
  /// How many times quicker than at first it becomes fast.
  static let haste: Double = 6
  /// After so many events taken without a refusal the pace quickens more: the relay takes far more than it did.
  static let patientCount = 128
  /// How long a pace is remembered that is not used; by then most relays have begun to count again.
  static let memoryMilliseconds: UInt64 = 3_600_000

  /// The pace after a first refusal.
  ///
  /// - Parameter taken: how many events the relay has taken within the last minute.
  init(taken: Int, at now: Instant) {
    interval = taken > 0 ? 60_000 / Double(taken) : Self.unknownMilliseconds
    fastUntil = interval / Self.haste
    usedAt = now
  }

  /// The pace that an earlier process had learned.
  init(learned milliseconds: UInt32, at now: Instant) {
    interval = min(max(Double(milliseconds), Self.floorMilliseconds), Self.ceilingMilliseconds)
    fastUntil = .infinity
    usedAt = now
  }

  /// The relay has refused an event for coming too fast.
  mutating func refused(at now: Instant) {
    interval = min(interval * 1.5, Self.ceilingMilliseconds)
    (fastUntil, takenCount, usedAt) = (.infinity, 0, now)
  }

  /// The relay has taken an event; false when the pace holds nothing back from now on.
  mutating func taken() -> Bool {
    takenCount += 1
    if interval <= fastUntil { fastUntil = .infinity }
    interval *= fastUntil < .infinity ? 0.84 : takenCount > Self.patientCount ? 0.94 : 0.984
    return interval > Self.floorMilliseconds
  }

  /// The wait after an event, in milliseconds.
  var milliseconds: UInt64 { UInt64(interval.rounded(.up)) }

  /// The pace in words.
  var words: String {
    let perMinute = 60_000 / interval
    let pace = perMinute >= 2 ? "\(Int(perMinute)) a minute" : "\(max(1, Int(perMinute * 60))) an hour"
    return "held back: the relay takes about \(pace)"
  }
}
