internal import Clocks

// How fast a relay accepts events, learned from the events that it accepted and those that it refused as
// `rate-limited`.
//
// Relays limit rates in different ways (a token bucket, a number a minute) and do not announce them. So the first
// refusal sets a pace from the number of events accepted in the last minute. Each accepted event quickens the pace,
// fast at first and slowly later, and each refusal slows it down. The pace belongs to the relay and not to a
// connection: it stays when the connection is lost, and when no event waits for the relay for a while. It outlives the
// process while events wait: the ledger records it with the next event in the queue.

/// The pace at which events are sent to one relay.
struct RelayPace {
  /// Milliseconds between two events.
  private(set) var interval: Double
  /// When an event was last sent at this pace, or refused.
  var usedAt: Instant
  /// The pace quickens fast until `interval` is this short, because the first pace may be far too slow. It does not do
  /// so beyond that: a relay with a full token bucket accepts any rate for a while, which does not show the refill
  /// rate.
  private var fastUntil: Double
  /// Events accepted since the last refusal.
  private var takenCount = 0

  /// The slowest pace: four events an hour.
  static let ceilingMilliseconds: Double = 900_000
  /// A pace as quick as this holds nothing back, so it is forgotten.
  static let floorMilliseconds: Double = 10
  /// The pace after a refusal by a relay that had accepted nothing in the last minute.
  static let unknownMilliseconds: Double = 1_000
  /// The factor by which a first pace quickens fast.
  static let haste: Double = 6
  /// After so many accepted events without a refusal the pace quickens more: the relay now allows a far higher rate.
  static let patientCount = 128
  /// How long an unused pace is remembered; after this time most relays have reset their counters.
  static let memoryMilliseconds: UInt64 = 3_600_000

  /// The pace after a first refusal.
  ///
  /// - Parameter taken: how many events the relay has accepted in the last minute.
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

  /// The relay has refused an event as `rate-limited`.
  mutating func refused(at now: Instant) {
    interval = min(interval * 1.5, Self.ceilingMilliseconds)
    (fastUntil, takenCount, usedAt) = (.infinity, 0, now)
  }

  /// The relay has accepted an event. Returns false when the pace no longer holds anything back.
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
