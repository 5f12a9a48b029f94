internal import Cryptography

// The windows of many keys. Strangers can make as many keys as they like, so the table is bounded.
//
// Keys are found by their SipHash under a secret key, so that no sender can make two keys collide. Two that collide by
// chance share one window, which at 64 bits does not matter. Expired windows are dropped as new ones come.
//
// A full table drops the key that has spent nothing for the longest time. If the key identifies the sender, eviction
// gains an attacker nothing: one that controls that many keys has that many windows. If the key identifies the target,
// flooding the table would reset the target's limit. There a dropped window is merged into one of 262,144 shadows,
// which the key's hash selects; the larger count of each slot remains. A key that is not in the table begins with its
// shadow. So eviction gains nothing there either. With the default limits the whole relay lets through one or two
// requests an hour for each shadow: too few to shut a newcomer out.

/// Windows by key, all under one rule.
struct WindowTable: Sendable {
  let rule: WindowRule
  /// Most keys.
  let keyMaximum: Int
  /// Whether dropped windows are merged into shadows.
  let hasShadows: Bool
  /// Shadows of 64 bytes each; they take no memory before the table has been full.
  static let shadowCount = 262_144

  private var places: [UInt64: Int32] = [:]
  private var keys: [UInt64] = []
  private var windows: [SlidingWindow] = []
  /// A list of all places, from the one used last to the one unused for longest.
  private var newer: [Int32] = []
  private var older: [Int32] = []
  private var first: Int32 = -1
  private var last: Int32 = -1
  private var free: [Int32] = []
  private var shadows: [SlidingWindow] = []
  /// The window that a new key begins with.
  private var start = SlidingWindow()

  init(rule: WindowRule, keyMaximum: Int, hasShadows: Bool) {
    precondition(keyMaximum > 0 && keyMaximum < Int(Int32.max), "a table has room, and places are numbered")
    self.rule = rule
    self.keyMaximum = keyMaximum
    self.hasShadows = hasShadows
  }

  /// Keys in it.
  var count: Int { places.count }

  /// The window of a key, without making a place for it.
  private func window(_ key: UInt64) -> SlidingWindow {
    if let place = places[key] { return windows[Int(place)] }
    return shadows.isEmpty ? start : shadows[Self.shadow(key)]
  }

  /// In how many seconds there is room; 0 for now.
  func wait(for cost: Int, _ key: UInt64, limit: Int? = nil, now: Int64) -> Int64 {
    let rule = limit.map { WindowRule(limit: min($0, self.rule.limit), seconds: self.rule.seconds) } ?? self.rule
    return window(key).wait(for: cost, rule, now: now)
  }

  func spent(_ key: UInt64, now: Int64) -> Int { window(key).spent(rule, now: now) }

  /// Spends.
  mutating func spend(_ cost: Int, _ key: UInt64, now: Int64) {
    var window = window(key)
    window.spend(cost, rule, now: now)
    put(window, key, now: now)
  }

  /// Most idle keys that one use removes: two for the one that may come, so the table shrinks as it is used.
  private static let sweepMaximum = 2

  private mutating func put(_ window: SlidingWindow, _ key: UInt64, now: Int64) {
    if let place = places[key] {
      windows[Int(place)] = window
      unlink(place)
      link(place)
      return
    }
    for _ in 0..<Self.sweepMaximum where last >= 0 && windows[Int(last)].isIdle(rule, now: now) { removeLast() }
    if places.count >= keyMaximum {
      addToShadow(windows[Int(last)], keys[Int(last)])
      removeLast()
    }
    let place: Int32
    if let reused = free.popLast() {
      place = reused
      keys[Int(place)] = key
      windows[Int(place)] = window
    } else {
      place = Int32(keys.count)
      keys.append(key)
      windows.append(window)
      newer.append(-1)
      older.append(-1)
    }
    places[key] = place
    link(place)
  }

  private static func shadow(_ key: UInt64) -> Int { Int(key % UInt64(shadowCount)) }

  private mutating func addToShadow(_ window: SlidingWindow, _ key: UInt64) {
    guard hasShadows else { return }
    if shadows.isEmpty { shadows = Array(repeating: start, count: Self.shadowCount) }
    shadows[Self.shadow(key)] = shadows[Self.shadow(key)].union(window)
  }

  // MARK: Order

  private mutating func link(_ place: Int32) {
    newer[Int(place)] = -1
    older[Int(place)] = first
    if first >= 0 { newer[Int(first)] = place }
    first = place
    if last < 0 { last = place }
  }

  private mutating func unlink(_ place: Int32) {
    let (before, after) = (newer[Int(place)], older[Int(place)])
    if before >= 0 { older[Int(before)] = after } else { first = after }
    if after >= 0 { newer[Int(after)] = before } else { last = before }
  }

  private mutating func removeLast() {
    let place = last
    unlink(place)
    places[keys[Int(place)]] = nil
    free.append(place)
  }

  // MARK: Snapshots

  /// Most keys in a snapshot; the others go into the shadows.
  static let keptMaximum = 8_192
  /// Most shadows in a snapshot, each the union of several.
  static let keptShadowMaximum = 4_096

  /// Writes what counts at `now`: the keys that spent last, and shadows.
  func write(to writer: inout SnapshotWriter, now: Int64) {
    var kept: [(UInt64, SlidingWindow)] = []
    var folded = Array(repeating: start, count: Self.keptShadowMaximum)
    func fold(_ window: SlidingWindow, _ shadow: Int) {
      folded[shadow % Self.keptShadowMaximum] = folded[shadow % Self.keptShadowMaximum].union(window)
    }
    for (index, window) in shadows.enumerated() where !window.isIdle(rule, now: now) { fold(window, index) }
    var place = first
    while place >= 0 {
      let (key, window) = (keys[Int(place)], windows[Int(place)])
      if !window.isIdle(rule, now: now) {
        if kept.count < Self.keptMaximum {
          kept.append((key, window))
        } else if hasShadows {
          fold(window, Self.shadow(key))
        }
      }
      place = older[Int(place)]
    }
    writer.write(UInt32(rule.seconds))
    writer.write(UInt32(kept.count))
    // The one that spent nothing for longest comes first, so reading puts all in their order.
    for (key, window) in kept.reversed() { writer.write(key, window) }
    // A table without shadows writes only the window that new keys begin with.
    let telling = folded.prefix(hasShadows ? folded.count : 1).enumerated().filter {
      !$0.element.isIdle(rule, now: now)
    }
    writer.write(UInt32(telling.count))
    for (index, window) in telling { writer.write(UInt64(index), window) }
  }

  /// Reads a table from a snapshot; nil if it is invalid, or of a window of another length.
  init?(
    from reader: inout SnapshotReader, rule: WindowRule, keyMaximum: Int, hasShadows: Bool, now: Int64
  ) {
    self.init(rule: rule, keyMaximum: keyMaximum, hasShadows: hasShadows)
    guard let seconds = reader.readNumber(), Int64(seconds) == rule.seconds, let keyCount = reader.readNumber(),
      keyCount <= UInt32(Self.keptMaximum)
    else { return nil }
    for _ in 0..<keyCount {
      guard let (key, window) = reader.readWindow() else { return nil }
      put(window, key, now: now)
    }
    guard let shadowCount = reader.readNumber(), shadowCount <= UInt32(Self.keptShadowMaximum) else { return nil }
    for _ in 0..<shadowCount {
      guard let (first, window) = reader.readWindow(), first < UInt64(Self.keptShadowMaximum) else { return nil }
      if !hasShadows { start = start.union(window) }
      for key in stride(from: first, to: UInt64(Self.shadowCount), by: Self.keptShadowMaximum) {
        addToShadow(window, key)
      }
    }
  }

  /// From now on every key, in the table or not, has spent at least half of its limit, or of `limit` if that is
  /// smaller.
  mutating func assumeHalfSpent(of limit: Int? = nil, now: Int64) {
    var half = SlidingWindow()
    half.spend((limit ?? rule.limit) / 2, rule, now: now)
    start = start.union(half)
    for index in windows.indices { windows[index] = windows[index].union(half) }
    for index in shadows.indices { shadows[index] = shadows[index].union(half) }
  }
}
