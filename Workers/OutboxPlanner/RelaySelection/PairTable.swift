internal import Glibc

/// What is known about a relay and an author, in flat arrays: an open-addressed table, because a selection looks up
/// tens of thousands of pairs.
struct PairTable: Sendable {
  /// Pairs that are remembered at most; beyond, new ones are not learned.
  static let maximum = 4_000_000
  private static let empty = UInt64.max

  private(set) var count = 0
  private var keys: [UInt64] = Array(repeating: empty, count: 64)
  private var evidence: [Evidence] = Array(repeating: Evidence(), count: 64)

  static func key(_ relay: Int32, _ author: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: relay)) << 32 | UInt64(UInt32(bitPattern: author))
  }

  func find(_ relay: Int32, _ author: Int32) -> Evidence? {
    let slot = slot(Self.key(relay, author))
    return keys[slot] == Self.empty ? nil : evidence[slot]
  }

  /// Changes what is known; false: the table is full.
  mutating func update(_ relay: Int32, _ author: Int32, _ change: (inout Evidence) -> Void) -> Bool {
    let key = Self.key(relay, author)
    var slot = slot(key)
    if keys[slot] == Self.empty {
      guard count < Self.maximum else { return false }
      if (count + 1) * 10 > keys.count * 7 {
        grow()
        slot = self.slot(key)
      }
      keys[slot] = key
      count += 1
    }
    change(&evidence[slot])
    return true
  }

  /// All pairs, by relay and author.
  var all: [(relay: Int32, author: Int32, evidence: Evidence)] {
    keys.indices.filter { keys[$0] != Self.empty }.sorted { keys[$0] < keys[$1] }.map { slot in
      (
        Int32(bitPattern: UInt32(keys[slot] >> 32)), Int32(bitPattern: UInt32(truncatingIfNeeded: keys[slot])),
        evidence[slot]
      )
    }
  }

  private func slot(_ key: UInt64) -> Int {
    let mask = keys.count - 1
    var mixed = key &* 0x9E37_79B9_7F4A_7C15
    mixed ^= mixed >> 29
    var slot = Int(truncatingIfNeeded: mixed) & mask
    while keys[slot] != Self.empty && keys[slot] != key { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func grow() {
    let (oldKeys, oldEvidence) = (keys, evidence)
    keys = Array(repeating: Self.empty, count: oldKeys.count * 2)
    evidence = Array(repeating: Evidence(), count: oldKeys.count * 2)
    for (index, key) in oldKeys.enumerated() where key != Self.empty {
      let slot = slot(key)
      keys[slot] = key
      evidence[slot] = oldEvidence[index]
    }
  }
}

/// Successes and failures that fade with time.
struct Evidence: Sendable, Hashable {
  var successes: Double = 0
  var failures: Double = 0
  /// The minute for which the numbers hold.
  var minute: Int64 = 0

  var total: Double { successes + failures }

  /// What is left of it at a later minute.
  func faded(at now: Int64, halfLifeMinutes: Double) -> Evidence {
    guard now > minute, total > 0 else { return self }
    let share = exp2(-Double(now - minute) / halfLifeMinutes)
    return Evidence(successes: successes * share, failures: failures * share, minute: now)
  }

  mutating func add(_ more: Evidence, halfLifeMinutes: Double) {
    let later = max(minute, more.minute)
    let (old, new) = (
      faded(at: later, halfLifeMinutes: halfLifeMinutes), more.faded(at: later, halfLifeMinutes: halfLifeMinutes)
    )
    self = Evidence(successes: old.successes + new.successes, failures: old.failures + new.failures, minute: later)
  }
}
