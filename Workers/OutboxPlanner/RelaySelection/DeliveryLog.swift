/// What relays brought, and the times for which each sent all it has of an author: from these, and from nothing else,
/// ``DeliveryBeliefs`` can be computed again. The planner asks the store for the same numbers; this is for programs
/// without a store.
public struct DeliveryLog: Sendable {
  /// Relays of one author that are remembered; what further ones bring counts for the author only.
  static let slotMaximum = 63
  /// Times that are remembered of one relay and author.
  static let drainMaximum = 16
  /// Events of one author that are remembered; at the limit the oldest half is forgotten.
  static let eventMaximum = 200_000
  /// Weeks that are looked at for an author's rate, if the window is not longer.
  static let rateWeeks: Int64 = 8

  fileprivate struct Drain: Sendable {
    var since: Int64
    var until: Int64
  }

  fileprivate struct Author: Sendable {
    var minutes: [Int64] = []
    var ids: [Int64] = []
    /// By event: which slots brought it, a bit each.
    var holders: [UInt64] = []
    var places: [Int64: Int32] = [:]
    var relays: [Int32] = []
    var drains: [[Drain]] = []

    /// The slot of a relay, made if there is room.
    mutating func slot(_ relay: Int32) -> Int? {
      if let known = relays.firstIndex(of: relay) { return known }
      guard relays.count < DeliveryLog.slotMaximum else { return nil }
      relays.append(relay)
      drains.append([])
      return relays.count - 1
    }
  }

  private var authors: [Int32: Author] = [:]

  /// Nothing has been received.
  public init() {}

  /// A relay brought an event. `minute` is when the author says that it was written.
  public mutating func received(_ id: Int64, of author: Int32, at minute: Int64, from relay: Int32) {
    authors[author, default: Author()].note(id, minute, relay)
  }

  /// A relay has sent all it has of an author between two minutes.
  public mutating func drained(_ relay: Int32, _ author: Int32, since: Int64, until: Int64) {
    guard since < until else { return }
    authors[author, default: Author()].drained(relay, since, until)
  }

  /// Puts what has been received into beliefs, in place of what they knew of deliveries and postings.
  /// `windowMinutes` is how far back events are wanted.
  public func teach(_ beliefs: inout DeliveryBeliefs, at now: Int64, windowMinutes: Int64) {
    beliefs.forgetDeliveries()
    let order = authors.keys.sorted()
    for author in order {
      for report in authors[author]?.deliveries(author) ?? [] { beliefs.learn(report) }
    }
    let overall = beliefs.overallMean(at: now)
    for author in order {
      for report in authors[author]?.postings(author, now, windowMinutes, overall, beliefs) ?? [] {
        beliefs.learn(report)
      }
    }
  }
}

extension DeliveryLog.Author {
  mutating func note(_ id: Int64, _ minute: Int64, _ relay: Int32) {
    if minutes.count >= DeliveryLog.eventMaximum { forgetOldest() }
    let place: Int
    if let known = places[id] {
      place = Int(known)
    } else {
      place = minutes.count
      places[id] = Int32(place)
      minutes.append(minute)
      ids.append(id)
      holders.append(0)
    }
    if let slot = slot(relay) { holders[place] |= 1 << UInt64(slot) }
  }

  /// What is asked again replaces what was known of the same time.
  mutating func drained(_ relay: Int32, _ since: Int64, _ until: Int64) {
    guard let slot = slot(relay) else { return }
    var kept: [DeliveryLog.Drain] = []
    for var drain in drains[slot] {
      if drain.since >= since { drain.since = max(drain.since, until) } else { drain.until = min(drain.until, since) }
      if drain.since < drain.until { kept.append(drain) }
    }
    kept.append(DeliveryLog.Drain(since: since, until: until))
    drains[slot] = Array(kept.suffix(DeliveryLog.drainMaximum))
  }

  private mutating func forgetOldest() {
    let order = minutes.indices.sorted { (minutes[$0], ids[$0]) < (minutes[$1], ids[$1]) }.suffix(minutes.count / 2)
    (minutes, ids, holders) = (order.map { minutes[$0] }, order.map { ids[$0] }, order.map { holders[$0] })
    places = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, Int32($0)) })
  }

  func deliveries(_ author: Int32) -> [DeliveryReport] {
    var reports: [DeliveryReport] = []
    for slot in relays.indices where !drains[slot].isEmpty {
      var counts = drains[slot].map { _ in (had: 0, known: 0) }
      let bit = UInt64(1) << UInt64(slot)
      for event in minutes.indices where holders[event] & ~bit != 0 {
        guard let drain = drains[slot].lastIndex(where: { $0.since <= minutes[event] && minutes[event] < $0.until })
        else { continue }
        counts[drain].known += 1
        if holders[event] & bit != 0 { counts[drain].had += 1 }
      }
      for (drain, count) in zip(drains[slot], counts) {
        reports.append(
          DeliveryReport(relay: relays[slot], author: author, minute: drain.until, had: count.had, known: count.known))
      }
    }
    return reports
  }

  /// Week by week, the events there were, and how much of them the relays asked should have brought.
  func postings(
    _ author: Int32, _ now: Int64, _ window: Int64, _ overall: Double, _ beliefs: DeliveryBeliefs
  ) -> [PostingReport] {
    let week = Int64(DeliveryBeliefs.weekMinutes)
    let weeks = Int(max(DeliveryLog.rateWeeks, window / week))
    var counts = [Int](repeating: 0, count: weeks)
    for minute in minutes where minute < now && (now - minute - 1) / week < Int64(weeks) {
      counts[Int((now - minute - 1) / week)] += 1
    }
    let shares = relays.map { relay in
      let shape = beliefs.shape(
        relay, author, mean: beliefs.mean(of: relay, overall: overall, at: now), at: now)
      return shape.0 / (shape.0 + shape.1)
    }
    return (0..<weeks).compactMap { number in
      let middle = now - Int64(number) * week - week / 2
      var missing = 1.0
      for slot in relays.indices where drains[slot].contains(where: { $0.since <= middle && middle < $0.until }) {
        missing *= 1 - shares[slot]
      }
      guard missing < 1 else { return nil }
      // A long window wants what was posted long ago as much as what was posted now: it fades more slowly.
      let age = Int64(Double(number) * Double(week) * min(1, 8 * Double(week) / Double(max(1, window))))
      return PostingReport(
        author: author, minute: now - age, events: counts[number], observedMinutes: Double(week) * (1 - missing))
    }
  }
}
