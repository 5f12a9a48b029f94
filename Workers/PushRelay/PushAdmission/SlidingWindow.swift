// How much was spent in the last minute or hour, in 36 bytes.
//
// A window has six slots and the current one. An amount counts until the end of its slot is as old as the window is
// long. So no window of that length, wherever it begins, has more than the limit; and what was spent is free again
// after a time between one window and a sixth more: after 60 to 70 seconds, or 60 to 70 minutes.
//
// Rejected: two buckets and a weighted mean (they let through almost twice the limit around a border), a leaky bucket
// (twice the limit in the first window), and a ring of all times, which is exact and costs 800 bytes for a hundred.

/// The length of a window, and its limit.
public struct WindowRule: Hashable, Sendable {
  /// Most that may be spent in a window; 0 to ``limitMaximum``. With 0 nothing is ever admitted.
  public let limit: Int
  /// Length of the window.
  public let seconds: Int64

  /// The largest limit that settings allow; far less than a slot can count.
  public static let limitMaximum = 10_000_000

  /// A rule; the length is a multiple of six seconds.
  public init(limit: Int, seconds: Int64) {
    precondition((0...Self.limitMaximum).contains(limit), "a window has room for 0 to 10,000,000")
    precondition(seconds >= SlidingWindow.divisor && seconds.isMultiple(of: SlidingWindow.divisor), "slots are seconds")
    self.limit = limit
    self.seconds = seconds
  }

  /// A limit for each minute.
  public static func perMinute(_ limit: Int) -> WindowRule { WindowRule(limit: limit, seconds: 60) }
  /// A limit for each hour.
  public static func perHour(_ limit: Int) -> WindowRule { WindowRule(limit: limit, seconds: 3_600) }

  var slotSeconds: Int64 { seconds / SlidingWindow.divisor }
  /// The longest wait until what was spent is free again.
  var waitMaximum: Int64 { seconds + slotSeconds }
}

/// What one key has spent. The rule is not stored: the caller passes the same one to each call.
public struct SlidingWindow: Hashable, Sendable {
  /// Slots of a window, without the current one.
  static let divisor: Int64 = 6
  private static let slotCount = 8

  /// The newest slot, numbered from 1970.
  private(set) var newest: UInt32 = 0
  /// What was spent in slot `n` is at place `n % 8`. Counts of slots more than six older than the newest have no
  /// meaning.
  private(set) var counts = SIMD8<UInt32>(repeating: 0)

  /// A window in which nothing was spent.
  public init() {}

  /// A window from a snapshot.
  init(newest: UInt32, counts: SIMD8<UInt32>) {
    self.newest = newest
    self.counts = counts
  }

  /// How much counts at `now`.
  public func spent(_ rule: WindowRule, now: Int64) -> Int {
    let slot = Self.slot(now, rule)
    guard slot < newest &+ UInt32(Self.slotCount - 1) else { return 0 }
    var sum = 0
    for age in 0..<UInt32(Self.divisor + 1) where newest >= age && newest - age + UInt32(Self.divisor) >= slot {
      sum += Int(counts[Int((newest - age) % UInt32(Self.slotCount))])
    }
    return sum
  }

  /// Spends, even beyond the limit; a slot counts up to 2^32 - 1.
  public mutating func spend(_ cost: Int, _ rule: WindowRule, now: Int64) {
    // Time does not go back here; see `SteadyClock`. If it did, the newest slot would be used.
    let slot = max(Self.slot(now, rule), newest)
    if slot - newest >= UInt32(Self.slotCount) {
      counts = SIMD8(repeating: 0)
    } else {
      var cleared = newest
      while cleared < slot {
        cleared += 1
        counts[Int(cleared % UInt32(Self.slotCount))] = 0
      }
    }
    newest = slot
    let place = Int(slot % UInt32(Self.slotCount))
    counts[place] = UInt32(clamping: Int(counts[place]) + max(cost, 0))
  }

  /// The seconds until there is room for `cost`, if nothing else is spent: 0 for now, and at most the window and a
  /// slot. A cost above the limit waits until nothing counts, and is admitted then. With a limit of 0 there is never
  /// room.
  public func wait(for cost: Int, _ rule: WindowRule, now: Int64) -> Int64 {
    guard rule.limit > 0 else { return rule.waitMaximum }
    var left = spent(rule, now: now)
    guard left > 0, left + cost > rule.limit else { return 0 }
    let slot = max(Self.slot(now, rule), newest)
    let oldest = slot >= UInt32(Self.divisor) ? slot - UInt32(Self.divisor) : 0
    for old in oldest...max(newest, oldest) {
      if newest >= old { left -= Int(counts[Int(old % UInt32(Self.slotCount))]) }
      // A slot stops counting when the seventh after it begins.
      guard left + cost <= rule.limit || left <= 0 else { continue }
      return max(Int64(old + UInt32(Self.divisor) + 1) * rule.slotSeconds - now, 1)
    }
    return rule.waitMaximum
  }

  /// Whether nothing counts at `now`.
  public func isIdle(_ rule: WindowRule, now: Int64) -> Bool { spent(rule, now: now) == 0 }

  /// The larger count of each slot: it limits at least as much as either window.
  func union(_ other: SlidingWindow) -> SlidingWindow {
    var (older, newer) = newest <= other.newest ? (self, other) : (other, self)
    guard newer.newest - older.newest < UInt32(Self.slotCount - 1) else { return newer }
    var slot = older.newest
    while slot < newer.newest {
      slot += 1
      older.counts[Int(slot % UInt32(Self.slotCount))] = 0
    }
    newer.counts.replace(with: older.counts, where: older.counts .> newer.counts)
    return newer
  }

  private static func slot(_ now: Int64, _ rule: WindowRule) -> UInt32 {
    UInt32(clamping: max(now, 0) / rule.slotSeconds)
  }
}
