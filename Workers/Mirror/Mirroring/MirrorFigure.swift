public import Contracts
internal import Frames
public import Nostr

/// How complete what is here is at one relay, by the store's coverage.
public enum MirrorFigure {
  /// The time up to which intervals may lack the newest: live events come by other ways.
  static let recentSeconds: Int64 = 86_400 * 3

  /// The last span for which a relay has sent everything: back to when, and when it was compared.
  ///
  /// - Parameters:
  ///   - intervals: in ascending order, without overlap.
  ///   - wall: seconds since 1970.
  /// - Returns: nil if nothing is covered, or if what is covered ends more than three days ago.
  public static func complete(
    _ intervals: [CoveredFilter.Interval], at wall: Int64
  ) -> (since: Int64, comparedAt: Int64)? {
    guard let last = intervals.last, last.until >= wall - recentSeconds else { return nil }
    var (since, comparedAt) = (last.since, last.checkedAt)
    for interval in intervals.dropLast().reversed() {
      guard interval.until + 1 >= since else { break }
      (since, comparedAt) = (interval.since, min(comparedAt, interval.checkedAt))
    }
    return (max(0, since), comparedAt)
  }

  /// What is covered of all kinds of a filter, of parts by kind at one relay; nil if some kind has no coverage.
  public static func together(_ parts: [CoveredFilter], of filters: [Filter]) -> CoveredFilter? {
    guard var whole = parts.first else { return nil }
    let kinds = parts.flatMap { part -> [JSONValue] in
      if case .array(let kinds)? = part.part?["kinds"] { kinds } else { [] }
    }
    guard Set(kinds).count == filters.reduce(0, { $0 + ($1.kinds?.count ?? 0) }) else { return nil }
    for part in parts.dropFirst() { whole.intervals = common(whole.intervals, part.intervals) }
    whole.part = nil
    return whole
  }

  /// The times that are in both.
  private static func common(
    _ left: [CoveredFilter.Interval], _ right: [CoveredFilter.Interval]
  ) -> [CoveredFilter.Interval] {
    left.flatMap { one in
      right.compactMap { other in
        let (since, until) = (max(one.since, other.since), min(one.until, other.until))
        guard since <= until else { return nil }
        return CoveredFilter.Interval(
          since: since, until: until, checkedAt: min(one.checkedAt, other.checkedAt))
      }
    }
  }

  /// The relays of an interest: those with coverage, and those that were asked the last time.
  public static func relays(
    _ covered: [CoveredFilter], _ last: PlanWantResult?, at wall: Int64
  ) -> [MirrorStatus.Relay] {
    var relays: [String: MirrorStatus.Relay] = [:]
    for part in covered {
      guard let span = complete(part.intervals, at: wall) else { continue }
      relays[part.relay] = MirrorStatus.Relay(relay: part.relay, since: span.since, comparedAt: span.comparedAt)
    }
    for asked in last?.relays ?? [] {
      var relay = relays[asked.relay] ?? MirrorStatus.Relay(relay: asked.relay)
      relay.state = asked.state
      relay.reason = asked.state == .stored ? nil : asked.reason
      if asked.state == .stored, relay.since == nil {
        relay.reason = "what it sends does not prove that it is everything"
      }
      relays[asked.relay] = relay
    }
    return relays.values.sorted { $0.relay < $1.relay }
  }
}
