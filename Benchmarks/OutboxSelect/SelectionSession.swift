import RelaySelection

/// What the selector keeps between lines.
struct SelectionSession {
  private var selector: RelaySelector
  private let budget: SelectionBudget
  private var log = DeliveryLog()
  /// The numbers that the other side gave, and those in use here, which are dense.
  private var relays = Numbers()
  private var authors = Numbers()
  /// When the previous answer was given.
  private var previousMinute: Int64?
  private var censusDays: Int64?

  init(mode: SelectionMode, seed: UInt64, cap: Int, visits: Int) {
    selector = RelaySelector(mode: mode, seed: seed)
    budget = SelectionBudget(live: cap, visits: visits, spares: max(cap, 10))
  }

  /// Answers a line with a line, without the line feed.
  mutating func answer(_ line: SessionLine) -> String {
    let candidates = candidates(line)
    if line.censusDays != nil {
      previousMinute = Int64(line.minute)
      guard selector.mode == .learned else { return "{\"census\": {}}" }
      return "{\"census\": \(object(RelayCensus.plan(candidates)))}"
    }
    learn(line)
    previousMinute = Int64(line.minute)
    let result = selector.select(candidates, budget: budget, at: Int64(line.minute))
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
      for (author, minute) in what.completeSince {
        log.drained(relay, authors.number(author), since: Int64(minute), until: now)
      }
    }
    guard selector.mode == .learned else { return }
    log.teach(&selector.beliefs, at: now, windowMinutes: Int64(line.windowDays) * 1_440)
  }

  private func object(_ asks: [RelayAssignment.Ask]) -> String {
    let members = asks.map { "\"\(relays.given(to: $0.relay))\": \(list($0.authors))" }
    return "{\(members.joined(separator: ", "))}"
  }

  private func list(_ all: [Int32]) -> String {
    "[\(all.map { String(authors.given(to: $0)) }.joined(separator: ", "))]"
  }
}

/// Numbers that somebody else gave, in the order of their first use.
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
