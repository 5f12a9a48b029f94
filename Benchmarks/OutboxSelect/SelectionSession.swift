import RelaySelection

/// What the selector keeps between lines.
struct SelectionSession {
  private var selector: RelaySelector
  private let budget: SelectionBudget
  private var log = DeliveryLog()
  /// The numbers that the other side gave, and those in use here, which are dense.
  private var relays = Numbers()
  private var authors = Numbers()
  /// The relays that the previous answer visits: open for a while only.
  private var visited: Set<Int32> = []
  /// How far back the previous answer asks relays that are visited.
  private var visitedMinutes: Int64 = 0

  init(mode: SelectionMode, seed: UInt64, cap: Int, visits: Int) {
    selector = RelaySelector(mode: mode, seed: seed)
    budget = SelectionBudget(live: cap, visits: visits, spares: max(cap, 10))
  }

  /// Answers a line with a line, without the line feed.
  mutating func answer(_ line: SessionLine) -> String {
    let candidates = candidates(line)
    if let days = line.censusDays {
      guard selector.mode == .learned else { return "{\"census\": {}}" }
      let census = RelayCensus.plan(candidates)
      (visited, visitedMinutes) = (Set(census.map(\.relay)), Int64(days) * 1_440)
      return "{\"census\": \(object(census))}"
    }
    learn(line)
    let result = selector.select(candidates, budget: budget, at: Int64(line.minute))
    (visited, visitedMinutes) = (Set(result.visits.map(\.relay)), Int64(line.windowDays) * 1_440)
    let spares = result.spares.map { "[\"\(relays.given(to: $0.relay))\", \(list($0.authors))]" }
    return """
      {"live": \(object(result.live)), "spares": [\(spares.joined(separator: ", "))], \
      "visits": \(object(result.visits))}
      """
  }

  private mutating func candidates(_ line: SessionLine) -> RelayCandidates {
    let known = line.relays.map { (number: relays.number($0.id), isListed: $0.isListed) }
    let lists = line.follows.sorted().map { author in
      (author: authors.number(author), relays: (line.lists[author] ?? []).map { relays.number($0) })
    }
    var candidates = RelayCandidates(relayCount: relays.count)
    if known.contains(where: { $0.isListed != nil }) {
      var alive = [Bool](repeating: false, count: relays.count)
      for (number, isListed) in known where isListed ?? false { alive[Int(number)] = true }
      candidates.alive = alive
    }
    var last: Int32?
    for (author, list) in lists where author != last {
      candidates.add(author, list)
      last = author
    }
    return candidates
  }

  private mutating func learn(_ line: SessionLine) {
    let now = Int64(line.minute)
    guard !line.received.isEmpty else { return }
    for (given, what) in line.received {
      let relay = relays.number(given)
      selector.beliefs.learn(ReachReport(relay: relay, minute: now, answered: what.isReached))
      guard what.isReached else { continue }
      for event in stride(from: 0, to: what.events.count, by: 3) {
        let author = authors.number(what.events[event])
        log.received(Int64(what.events[event + 2]), of: author, at: Int64(what.events[event + 1]), from: relay)
      }
      let end = drainEnd(relay, what, now)
      for (author, minute) in what.completeSince {
        log.drained(relay, authors.number(author), since: Int64(minute), until: end)
      }
    }
    guard selector.mode == .learned else { return }
    log.teach(&selector.beliefs, at: now, windowMinutes: Int64(line.windowDays) * 1_440)
  }

  /// Until when a relay has sent all: an open one until now, one that was visited until then. When that was is not
  /// said, but it is not before the newest event that the relay sent, nor before the end of the window that it was
  /// asked for.
  private func drainEnd(_ relay: Int32, _ what: SessionLine.Received, _ now: Int64) -> Int64 {
    guard visited.contains(relay) else { return now }
    let newest = stride(from: 1, to: what.events.count, by: 3).map { Int64(what.events[$0]) + 1 }.max() ?? .min
    let asked = what.completeSince.map { Int64($0.minute) + visitedMinutes }.min() ?? .min
    return min(now, max(newest, asked))
  }

  private func object(_ asks: [RelayAssignment.Ask]) -> String {
    let members = asks.map { "\"\(relays.given(to: $0.relay))\": \(list($0.authors))" }
    return "{\(members.joined(separator: ", "))}"
  }

  private func list(_ all: [Int32]) -> String {
    "[\(all.map { String(authors.given(to: $0)) }.joined(separator: ", "))]"
  }
}

/// Numbers of the caller, in the order of their first use.
struct Numbers {
  private var numbers: [Int: Int32] = [:]
  private var given: [Int] = []

  var count: Int { given.count }

  mutating func number(_ given: Int) -> Int32 {
    if let known = numbers[given] { return known }
    let number = Int32(self.given.count)
    numbers[given] = number
    self.given.append(given)
    return number
  }

  func given(to number: Int32) -> Int { given[Int(number)] }
}
