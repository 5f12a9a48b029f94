// When another Roost of the same owner is compared with this one. A machine without I/O.
//
//     due ── began ─▶ compared ── ended ─▶ due again: after a minute, for the last days only; every ten minutes whole;
//                                          after a growing back-off if it was not brought to its end

/// Says when a peer is compared next, and how much of it.
public struct PeerSchedule: Hashable, Sendable {
  /// After how many seconds the last days of a peer that is the same are compared again.
  public static let againSeconds: Int64 = 60
  /// After how many seconds all of it is.
  public static let wholeSeconds: Int64 = 600
  /// How far back the last days go, in seconds: gift wraps are dated back by up to two days.
  public static let recentSeconds: Int64 = 3 * 86_400
  /// The first wait after a comparison that was not brought to its end, in seconds; doubled each time, up to
  /// ``wholeSeconds``: a house that returns is the same again within that time.
  public static let retrySeconds: Int64 = 30
  /// After so many seconds all publications are exchanged, and not only those that have changed: the other's ledger may
  /// be an older one.
  public static let publicationSeconds: Int64 = 86_400

  /// The windows of time in which all is compared, the newest first: a day, a month, a year, and everything before.
  ///
  /// - Parameters:
  ///   - since: the first second to compare; nil: from the beginning.
  ///   - wall: seconds since 1970. What is dated up to two days ahead is compared too.
  public static func windows(since: Int64?, at wall: Int64) -> [ClosedRange<Int64>] {
    var windows: [ClosedRange<Int64>] = []
    var last = wall + aheadSeconds
    for age: Int64 in [1, 30, 365] {
      let first = max(0, since ?? 0, wall - age * 86_400)
      guard first <= last else { break }
      windows.append(first...last)
      last = first - 1
    }
    if last >= since ?? 0, last >= 0 { windows.append((since ?? 0)...last) }
    return windows
  }
  private static let aheadSeconds: Int64 = 2 * 86_400

  /// When it is due, seconds since 1970.
  public private(set) var nextAt: Int64
  /// Whether it is being compared.
  public private(set) var isRunning = false
  private var failures = 0
  /// When all of it was last compared, and was the same afterwards.
  private var wholeAt: Int64?
  private var begunAt: Int64?

  /// A peer that was not compared yet: it is due.
  public init(at wall: Int64) { nextAt = wall }

  /// Whether a comparison begins now. A clock that was set back makes it due.
  public func isDue(at wall: Int64) -> Bool {
    !isRunning && (nextAt <= wall || nextAt > wall + Self.wholeSeconds)
  }

  /// A comparison begins.
  ///
  /// - Parameters:
  ///   - wall: seconds since 1970.
  ///   - isAsked: whether a caller waits for it: then all is compared.
  /// - Returns: since when events are compared, seconds since 1970; nil: all.
  public mutating func began(at wall: Int64, isAsked: Bool) -> Int64? {
    isRunning = true
    let isRecent = wholeAt.map { !isAsked && $0 <= wall && wall - $0 < Self.wholeSeconds } ?? false
    begunAt = isRecent ? nil : wall
    return isRecent ? max(0, wall - Self.recentSeconds) : nil
  }

  /// A comparison has ended. `isSame` says whether both are the same in everything that was compared.
  public mutating func ended(isSame: Bool, at wall: Int64) {
    isRunning = false
    failures = isSame ? 0 : failures + 1
    if isSame { wholeAt = begunAt ?? wholeAt } else { wholeAt = nil }
    let retry = Self.retrySeconds << Int64(min(max(failures, 1) - 1, 10))
    nextAt = wall + (isSame ? Self.againSeconds : min(retry, Self.wholeSeconds))
  }
}
