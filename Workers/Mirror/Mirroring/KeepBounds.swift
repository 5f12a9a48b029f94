public import Clocks
public import Contracts

// How many bytes each class may have, and what follows from it. A machine without I/O: its caller measures, trims,
// ends fetches, and writes floors down.
//
//     open ── measured, too much ─▶ stopFetching, trim ─▶ full: only what is newer than the floor is fetched
//      ▲                                                   │
//      └── a larger bound, or half empty after a month ────┘
//
// Trimming frees a sixteenth of the bound, so that it is not done again for every event. The floor is the second after
// the last one of which events went. It only rises, and it is written down: what went is never asked for again, after a
// start neither.

/// Says when a class is full, what is removed of it, and from when on it is fetched.
public struct KeepBounds: Sendable {
  /// What is no longer here of a full class.
  public struct Floor: Sendable, Hashable {
    /// Strangers' events are here from this second on, and fetched from then on.
    public var since: Int64
    /// Events of people whom an account follows are here from this second on.
    public var sparedSince: Int64
    /// When the class became full, seconds since 1970.
    public var at: Int64
    /// Its bound at that time.
    public var byteMaximum: Int64

    /// A floor.
    public init(since: Int64, sparedSince: Int64 = 0, at: Int64, byteMaximum: Int64) {
      (self.since, self.sparedSince, self.at, self.byteMaximum) = (since, sparedSince, at, byteMaximum)
    }
  }

  /// What the caller does.
  public enum Action: Sendable, Hashable {
    /// End the fetches of the class.
    case stopFetching(KeptClass)
    /// Have the oldest removed until so many bytes are left.
    case trim(KeptClass, toByteCount: Int64)
    /// Write the floor down; nil: forget it.
    case remember(KeptClass, Floor?)
    /// Tell the log that it is full.
    case tell(KeptClass)
  }

  private struct State: Sendable {
    var byteMaximum: Int64
    /// Bytes as measured last.
    var byteCount: Int64?
    /// Bytes over the goal that may not be removed, or that other classes keep.
    var excess: Int64 = 0
    var floor: Floor?
    var isMeasuring = false
    /// When the next measuring may begin.
    var nextAt: Instant?
  }
  private var states: [KeptClass: State] = [:]

  /// A smaller bound counts as this: an event may have a megabyte, and what is freed at once is a part of the bound.
  public static let byteMinimum: Int64 = 4 << 20
  /// The shortest time between two measurements of a class.
  public static let measureMilliseconds: UInt64 = 2_000
  /// A measurement is followed by a pause so many times as long as it took: the store reads all that it counts.
  static let pauseFactor: UInt64 = 4
  /// After how many seconds a full class that is half empty is fetched from the beginning again: after events were
  /// deleted, or people are no longer followed.
  static let reopenSeconds: Int64 = 30 * 86_400

  /// Nothing has a bound.
  public init() {}

  /// These classes are kept, with so many bytes each; 0: no bound.
  ///
  /// - Returns: floors that hold no longer.
  public mutating func adopt(_ bounds: [KeptClass: Int64]) -> [Action] {
    var (new, actions): ([KeptClass: State], [Action]) = ([:], [])
    for (kept, told) in bounds where told > 0 {
      let byteMaximum = max(told, Self.byteMinimum)
      var state = states[kept] ?? State(byteMaximum: byteMaximum)
      if state.byteMaximum != byteMaximum { state.nextAt = nil }
      state.byteMaximum = byteMaximum
      new[kept] = state
    }
    for (kept, state) in states where new[kept] == nil && state.floor != nil { actions.append(.remember(kept, nil)) }
    states = new
    for kept in states.keys { actions += openIfLarger(kept) }
    return actions
  }

  /// What was written down before.
  public mutating func recalled(_ floors: [KeptClass: Floor]) -> [Action] {
    var actions: [Action] = []
    for (kept, floor) in floors {
      guard states[kept] != nil else {
        actions.append(.remember(kept, nil))
        continue
      }
      states[kept]?.floor = floor
      actions += openIfLarger(kept)
    }
    return actions
  }

  /// A class with more room than when it became full is fetched from the beginning again.
  private mutating func openIfLarger(_ kept: KeptClass) -> [Action] {
    guard let state = states[kept], let floor = state.floor, state.byteMaximum > floor.byteMaximum else { return [] }
    states[kept]?.floor = nil
    return [.remember(kept, nil)]
  }

  // MARK: Measuring

  /// Whether the bytes of a class are to be counted now.
  public func isMeasureDue(_ kept: KeptClass, at now: Instant) -> Bool {
    guard let state = states[kept], !state.isMeasuring else { return false }
    return state.nextAt.map { now >= $0 } ?? true
  }

  /// The bytes of a class are being counted.
  public mutating func measureBegan(_ kept: KeptClass) { states[kept]?.isMeasuring = true }

  /// The bytes of a class were counted; nil: they could not be.
  ///
  /// - Parameters:
  ///   - kept: the class.
  ///   - byteCount: its bytes.
  ///   - began: when the count began.
  ///   - now: when it ended.
  ///   - wall: seconds since 1970.
  public mutating func measured(
    _ kept: KeptClass, _ byteCount: Int64?, began: Instant, at now: Instant, wall: Int64
  ) -> [Action] {
    guard var state = states[kept] else { return [] }
    state.isMeasuring = false
    state.nextAt = now.advanced(
      milliseconds: max(Self.measureMilliseconds, now.milliseconds(since: began) * Self.pauseFactor))
    state.byteCount = byteCount ?? state.byteCount
    defer { states[kept] = state }
    guard let byteCount else { return [] }
    if byteCount - state.excess > state.byteMaximum {
      return [.stopFetching(kept), .trim(kept, toByteCount: Self.goal(state.byteMaximum))]
    }
    if let floor = state.floor, byteCount < state.byteMaximum / 2, abs(wall - floor.at) >= Self.reopenSeconds {
      state.floor = nil
      return [.remember(kept, nil)]
    }
    return []
  }

  /// What was over the bound was removed.
  public mutating func trimmed(_ kept: KeptClass, _ result: StoreTrimmed, wall: Int64) -> [Action] {
    guard var state = states[kept] else { return [] }
    let goal = Self.goal(state.byteMaximum)
    state.byteCount = result.bytes
    // While more is to be removed, what is left is no excess yet.
    state.excess = result.isComplete ? max(0, result.bytes - goal) : 0
    let wasFull = state.floor != nil
    // If only events from the future went, nothing older is missing.
    if max(result.since ?? 0, result.sparedSince ?? 0) > 0 {
      state.floor = Floor(
        since: max(state.floor?.since ?? 0, result.since ?? 0, result.sparedSince ?? 0),
        sparedSince: max(state.floor?.sparedSince ?? 0, result.sparedSince ?? 0), at: wall,
        byteMaximum: state.byteMaximum)
    }
    states[kept] = state
    var actions: [Action] = []
    if let floor = state.floor { actions.append(.remember(kept, floor)) }
    if !wasFull, state.floor != nil { actions.append(.tell(kept)) }
    if !result.isComplete, result.removed > 0 { actions.append(.trim(kept, toByteCount: goal)) }
    return actions
  }

  /// A sixteenth less than the bound.
  private static func goal(_ byteMaximum: Int64) -> Int64 { byteMaximum - byteMaximum / 16 }

  // MARK: Queries

  /// What is no longer here of a class; nil: it is not full.
  public func floor(of kept: KeptClass) -> Floor? { states[kept]?.floor }

  /// Whether a class has a bound.
  public func isBounded(_ kept: KeptClass) -> Bool { states[kept] != nil }

  /// The classes with a bound, in the order of `MirrorClass` and names.
  public var all: [MirrorStatus.Bound] {
    MirrorClass.allCases.flatMap { kind in
      states.filter { $0.key.kind == kind }.sorted { $0.key.description < $1.key.description }.map { kept, state in
        MirrorStatus.Bound(
          kind: kind, name: kept.name, bytes: state.byteCount, byteMaximum: state.byteMaximum,
          since: state.floor?.since)
      }
    }
  }
}
