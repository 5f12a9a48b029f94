public import Nostr

/// Which of an account's events are to have copies, and how many they have.
public enum CopyRules {
  /// Why an event is sent nowhere by itself; nil: it is to have copies.
  ///
  /// - Parameters:
  ///   - event: an event by the account.
  ///   - isApart: whether its publisher named the relays that it went to.
  ///   - isLocal: whether it was only stored, and no relay has ever had it.
  ///   - wall: seconds since 1970.
  public static func exception(
    _ event: Event, isApart: Bool, isLocal: Bool = false, at wall: Int64
  ) -> String? {
    switch event.kind {
    case EventKind.encryptedDirectMessage: return "it is a direct message (kind 4)"
    case EventKind.vanish: return "it asks relays to forget its author (kind 62)"
    case EventKind.seal, EventKind.giftWrap, EventKind.ephemeralGiftWrap: return "it is wrapped for one recipient"
    case EventKind.deletion where EventKind.areGiftWraps(event.values(of: "k")):
      return "it deletes gift wraps, which are not at the relays that you write to"
    case let kind where draftKinds.contains(kind): return "it is a draft"
    case 20_000..<30_000: return "relays do not keep events of its kind"
    default: break
    }
    if event.isExpired(at: wall) { return "its time is over (NIP-40)" }
    if !event.values(of: "h").isEmpty { return "it belongs to a group of one relay (NIP-29)" }
    if isApart { return "its publisher named the relays for it" }
    return isLocal ? "it was stored here and not published, and no relay has ever had it" : nil
  }

  /// Drafts, and checkpoints of drafts (NIP-23, NIP-37).
  static let draftKinds: Set<UInt16> = [1_234, 30_024, 31_234]

  /// How many events have 0, 1, 2, … copies.
  ///
  /// - Parameters:
  ///   - eventCount: all events that are to have copies.
  ///   - relayCount: the relays that were compared.
  ///   - missing: how many events are missing at 1, 2, … of them.
  public static func copies(ofEvents eventCount: Int, relayCount: Int, missing: [Int: Int]) -> [Int] {
    guard relayCount > 0 else { return [] }
    var copies = Array(repeating: 0, count: relayCount + 1)
    for (count, events) in missing where (1...relayCount).contains(count) { copies[relayCount - count] += events }
    // Rows of events that are deleted meanwhile may be more than there are events, until the next round.
    copies[relayCount] = max(0, eventCount - copies.reduce(0, +))
    return copies
  }

  /// Windows of time with about `size` events each, without gaps, from the beginning up to the last event.
  public static func windows(_ times: [Int64], size: Int) -> [ClosedRange<Int64>] {
    let times = times.sorted()
    var windows: [ClosedRange<Int64>] = []
    var since: Int64 = 0
    for end in stride(from: size - 1, to: times.count - 1, by: size) where times[end] >= since {
      windows.append(since...times[end])
      since = times[end] + 1
    }
    if let last = times.last, last >= since { windows.append(since...last) }
    return windows
  }

  /// The relays that are to have copies: those that the account writes to, and of `named` as many as are lacking.
  public static func targets(_ writes: [String], _ named: [String], wanted: Int) -> [String] {
    let more = named.filter { !writes.contains($0) }.prefix(max(0, wanted - writes.count))
    return (writes + more).sorted()
  }
}

/// Says when an account's relays are compared next.
public struct CopySchedule: Sendable {
  /// How often, in seconds; 0: never by itself.
  public var scrubSeconds: Int64
  /// The first wait before relays that failed are tried again, in seconds; doubled each time.
  public static let retrySeconds: Int64 = 300
  /// The longest such wait.
  public static let retrySecondsMaximum: Int64 = 14_400

  private var failures = 0
  private var failed: [String] = []
  private var retryAt: Int64?

  /// A schedule.
  public init(scrubSeconds: Int64) { self.scrubSeconds = scrubSeconds }

  /// When the next round is due, seconds since 1970; nil: none is.
  ///
  /// - Parameters:
  ///   - endedAt: when the last one ended; nil: there was none.
  ///   - areNew: whether the account writes to other relays than then.
  ///   - wall: seconds since 1970.
  public func nextAt(endedAt: Int64?, areNew: Bool, at wall: Int64) -> Int64? {
    guard scrubSeconds > 0 else { return nil }
    // A clock that was set back makes it due.
    guard let endedAt, !areNew, endedAt <= wall else { return wall }
    return endedAt + scrubSeconds
  }

  /// The relays to try again now; empty: none are.
  public func retried(at wall: Int64) -> [String] {
    guard scrubSeconds > 0, let retryAt, retryAt <= wall || retryAt > wall + Self.retrySecondsMaximum else { return [] }
    return failed
  }

  /// A round over these relays has ended; `failed` of them could not be compared, or took nothing.
  public mutating func ended(_ relays: [String], failed: [String], at wall: Int64) {
    self.failed = self.failed.filter { !relays.contains($0) } + failed
    failures = self.failed.isEmpty ? 0 : failures + 1
    let wait = Self.retrySeconds << Int64(min(max(failures, 1) - 1, 10))
    retryAt = self.failed.isEmpty ? nil : wall + min(wait, Self.retrySecondsMaximum)
  }
}
