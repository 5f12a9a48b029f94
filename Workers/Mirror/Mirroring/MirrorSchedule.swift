public import Contracts

// What is fetched when. A machine without I/O: its caller fetches what `next` names, and tells how that ended.
//
//     adopt(interests) ─▶ due ── next, began ─▶ fetched ── ended ─▶ due again: after a day if everything came,
//                                                                   after a growing back-off if not

/// How a fetch ended.
public enum FetchEnd: Sendable, Hashable {
  /// The planner's answer.
  case ended(PlanWantResult)
  /// Its class is full: what is newer than its floor is fetched next.
  case full
}

/// Says which interest is fetched next.
public struct MirrorSchedule: Sendable {
  /// How far an interest is.
  public struct State: Sendable {
    /// The interest.
    public fileprivate(set) var interest: MirrorInterest
    /// When it is due, seconds since 1970.
    public fileprivate(set) var nextAt: Int64
    /// Whether it is being fetched.
    public fileprivate(set) var isRunning = false
    /// How the last fetch ended; nil before the first.
    public fileprivate(set) var last: PlanWantResult?
    fileprivate var failures = 0
  }

  /// Fetches at a time.
  public static let runningMaximum = 2
  /// After how many seconds what came whole is compared again.
  public static let againSeconds: Int64 = 86_400
  /// The first wait after a fetch that did not bring everything, in seconds; doubled each time.
  public static let retrySeconds: Int64 = 60
  /// The wait after a fetch that was ended because its class is full.
  public static let fullSeconds: Int64 = 5
  /// The longest such wait.
  public static let retrySecondsMaximum: Int64 = 3_600

  private var states: [String: State] = [:]
  /// What is still being fetched although it is no longer wanted.
  private var leaving: Set<String> = []
  /// The keys, the first to be fetched first.
  private var order: [String] = []

  /// Nothing is wanted.
  public init() {}

  /// Exactly these are wanted, the first first. What is known of those that stay is kept; one with other filters is
  /// due.
  public mutating func adopt(_ interests: [MirrorInterest], at wall: Int64) {
    var new: [String: State] = [:]
    for interest in interests {
      var state = states[interest.key] ?? State(interest: interest, nextAt: wall)
      if state.interest != interest {
        (state.interest, state.nextAt, state.failures) = (interest, wall, 0)
      }
      new[interest.key] = state
    }
    leaving.formUnion(states.filter { $0.value.isRunning && new[$0.key] == nil }.keys)
    for key in leaving { new[key]?.isRunning = true }
    leaving.subtract(new.keys)
    (states, order) = (new, interests.map(\.key))
  }

  /// The interest to fetch now; nil: none is due, or enough are being fetched.
  public mutating func next(at wall: Int64) -> MirrorInterest? {
    guard states.values.count(where: \.isRunning) + leaving.count < Self.runningMaximum else { return nil }
    // A clock that was set back makes everything due.
    let key = order.first { key in
      states[key].map { !$0.isRunning && ($0.nextAt <= wall || $0.nextAt > wall + Self.againSeconds) } ?? false
    }
    guard let key else { return nil }
    states[key]?.isRunning = true
    return states[key]?.interest
  }

  /// A fetch has ended; nil: it was refused, or its answer was lost.
  public mutating func ended(_ interest: MirrorInterest, _ end: FetchEnd?, at wall: Int64) {
    leaving.remove(interest.key)
    guard var state = states[interest.key] else { return }
    state.isRunning = false
    var result: PlanWantResult?
    if case .ended(let told)? = end { result = told }
    state.last = result ?? state.last
    if end == .full {
      // Soon, and not at once: others have their turn.
      state.nextAt = wall + Self.fullSeconds
    } else if let result, result.end == .complete, result.relays.contains(where: { $0.state == .stored }) {
      // Relays that did not send everything are tried again with the others; others may be down for good.
      let isWhole = result.relays.allSatisfy { $0.state == .stored || $0.state == .refused }
      state.failures = isWhole ? 0 : state.failures + 1
      state.nextAt = wall + (isWhole ? Self.againSeconds : Self.wait(after: state.failures))
    } else {
      state.failures += 1
      state.nextAt = wall + Self.wait(after: state.failures)
    }
    // What has changed meanwhile is due.
    if state.interest != interest { state.nextAt = wall }
    states[interest.key] = state
  }

  private static func wait(after failures: Int) -> Int64 {
    min(retrySeconds << Int64(min(max(failures, 1) - 1, 10)), retrySecondsMaximum)
  }

  /// When something is due next, seconds since 1970; nil: nothing is wanted, or what is is being fetched.
  public var nextAt: Int64? { states.values.filter { !$0.isRunning }.map(\.nextAt).min() }

  /// All, the first to be fetched first.
  public var all: [State] { order.compactMap { states[$0] } }
}
