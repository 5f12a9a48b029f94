import RelaySelection

/// What a contender chose for a session.
struct Plan: Sendable {
  var live: [RelayAssignment.Ask] = []
  var spares: [RelayAssignment.Ask] = []
  var visits: [RelayAssignment.Ask] = []
}

/// How relays are asked.
struct Conditions: Sendable {
  var windowMinutes: Int32
  var isPaging = true
  /// Relays that a client cannot reach now and then.
  var hasOutages = true
  /// The most events that each relay returns for a REQ; nil: each has a limit of its own.
  var resultMaximum: Int?
  static let batch = 50
}

/// What a session brought.
struct Score: Sendable {
  var recall = 0.0
  /// The same of all that this and earlier sessions brought.
  var cumulative = 0.0
  var median = 0.0
  var zero = 0.0
  var ofOracle = 0.0
  var wastedDials = 0.0
  var duplicates = 0.0
  /// The share of what the session brings that is there after 2, 5 and 10 s.
  var complete = [0.0, 0.0, 0.0]
}

/// A client of one contender: plays its plans against the world, and remembers what came from where.
struct Client {
  let world: World
  private(set) var conditions: Conditions
  /// By event: the slots that brought it in this session.
  private(set) var received: [UInt32]
  /// By event: whether any session brought it.
  private var isStored: [Bool]
  /// By relay: whether it answered in this session; nil: not dialled.
  private(set) var answered: [Int32: Bool] = [:]
  /// By relay: the authors asked for, if it answered.
  private(set) var asked: [(ask: RelayAssignment.Ask, isVisit: Bool, startMilliseconds: Double)] = []
  private var end: Int32 = 0

  init(_ world: World, _ conditions: Conditions) {
    self.world = world
    self.conditions = conditions
    received = Array(repeating: 0, count: world.minutes.count)
    isStored = Array(repeating: false, count: world.minutes.count)
  }

  /// Forgets everything, for the next contender.
  mutating func restart() {
    forget()
    for place in isStored.indices { isStored[place] = false }
  }

  static let dialTimeoutMilliseconds = 5_000.0

  func isReachable(_ relay: Int32, in session: Int) -> Bool {
    let truth = world.relays[Int(relay)]
    guard truth.isReadable else { return false }
    return !conditions.hasOutages || truth.isUp[session]
  }

  /// The minute at which a session ends.
  static func end(of session: Int) -> Int32 { Int32(session + 1) * World.week }

  // MARK: A session

  mutating func play(_ plan: Plan, in session: Int) {
    end = Self.end(of: session)
    forget()
    var spares = plan.spares.makeIterator()
    for ask in plan.live {
      var (current, start): (RelayAssignment.Ask?, Double) = (ask, 0)
      while let trying = current {
        if dial(trying.relay, session) {
          asked.append((trying, false, start))
          break
        }
        start += Self.dialTimeoutMilliseconds
        current = spares.next()
      }
    }
    for ask in plan.visits where answered[ask.relay] == nil && dial(ask.relay, session) {
      asked.append((ask, true, 0))
    }
    for (ask, _, _) in asked { fetch(ask, back: conditions.windowMinutes) }
    for place in received.indices where received[place] != 0 { isStored[place] = true }
  }

  /// Asks relays once, some days back, before the first session.
  mutating func playCensus(_ asks: [RelayAssignment.Ask], days: Int32) {
    end = 0
    forget()
    for ask in asks where dial(ask.relay, 0) {
      asked.append((ask, true, 0))
      fetch(ask, back: days * 1_440)
    }
  }

  private mutating func forget() {
    answered = [:]
    asked = []
    for place in received.indices { received[place] = 0 }
  }

  private mutating func dial(_ relay: Int32, _ session: Int) -> Bool {
    let isReached = isReachable(relay, in: session)
    answered[relay] = isReached
    return isReached
  }

  private func slot(_ author: Int, _ relay: Int32) -> UInt32? {
    guard let slot = world.authors[author].relays.firstIndex(of: relay) else { return nil }
    return 1 << UInt32(slot)
  }

  private func reach(_ relay: Int32, _ back: Int32) -> Int32 {
    let retention = world.relays[Int(relay)].retention
    return end - min(back, retention == .max ? back : retention)
  }

  private mutating func fetch(_ ask: RelayAssignment.Ask, back: Int32) {
    let from = reach(ask.relay, back)
    guard !conditions.isPaging else {
      for author in ask.authors {
        guard let bit = slot(Int(author), ask.relay) else { continue }
        for place in world.events(of: Int(author), from: from, to: end) { received[place] |= world.masks[place] & bit }
      }
      return
    }
    let world = world
    fetchWithoutPaging(ask, from) { author in
      world.authors[Int(author)].relays.firstIndex(of: ask.relay).map { 1 << UInt32($0) }
    }
  }

  /// One REQ for 50 authors, newest first, cut by the relay.
  private mutating func fetchWithoutPaging(_ ask: RelayAssignment.Ask, _ from: Int32, _ bitOf: (Int32) -> UInt32?) {
    let maximum = conditions.resultMaximum ?? world.relays[Int(ask.relay)].resultMaximum
    for start in stride(from: 0, to: ask.authors.count, by: Conditions.batch) {
      var found: [(minute: Int32, place: Int, bit: UInt32)] = []
      for author in ask.authors[start..<min(start + Conditions.batch, ask.authors.count)] {
        guard let bit = bitOf(author) else { continue }
        var count = 0
        for place in world.events(of: Int(author), from: from, to: end).reversed() where world.masks[place] & bit != 0 {
          found.append((world.minutes[place], place, bit))
          count += 1
          if count >= maximum { break }
        }
      }
      if found.count > maximum { found.sort { ($0.minute, $0.place) > ($1.minute, $1.place) } }
      for event in found.prefix(maximum) { received[event.place] |= event.bit }
    }
  }

  /// The measured aggregator returned 620 to 774 events for the three REQs of 148 authors, in any window.
  static let aggregatorMaximum = 230

  /// What the aggregator has, which every client can ask for every author.
  mutating func playAggregator(in session: Int) {
    end = Self.end(of: session)
    forget()
    let all = RelayAssignment.Ask(relay: 0, authors: (0..<world.authors.count).map { Int32($0) })
    conditions.resultMaximum = Self.aggregatorMaximum
    fetchWithoutPaging(all, end - conditions.windowMinutes) { _ in World.aggregatorBit }
  }

  // MARK: Measures

  /// The slots of an author whose relays can be read at all, whether or not they answer now.
  func readable(_ author: Int) -> UInt32 {
    var mask: UInt32 = 0
    for (slot, relay) in world.authors[author].relays.enumerated() where world.relays[Int(relay)].isReadable {
      mask |= 1 << UInt32(slot)
    }
    return mask
  }

  /// Calls `body` with each event of the window that some relay still has.
  func forEachHeld(back: Int32, in session: Int, _ body: (_ author: Int, _ place: Int, _ holders: UInt32) -> Void) {
    let end = Self.end(of: session)
    for author in world.authors.indices {
      let mask = readable(author)
      guard mask != 0 else { continue }
      let limits = world.authors[author].relays.map { relay -> Int32 in
        let retention = world.relays[Int(relay)].retention
        return retention == .max ? .min : end - retention
      }
      for place in world.events(of: author, from: end - back, to: end) {
        var holders = world.masks[place] & mask
        if holders == 0 { continue }
        var rest = holders
        while rest != 0 {
          let slot = rest.trailingZeroBitCount
          rest &= rest - 1
          if world.minutes[place] < limits[slot] { holders &= ~(1 << UInt32(slot)) }
        }
        if holders != 0 { body(author, place, holders) }
      }
    }
  }

  func score(in session: Int) -> Score {
    var held = [Int](repeating: 0, count: world.authors.count)
    var found = held
    var (copies, events, stored) = (0, 0, 0)
    forEachHeld(back: conditions.windowMinutes, in: session) { author, place, _ in
      held[author] += 1
      let count = received[place].nonzeroBitCount
      if count > 0 { found[author] += 1 }
      copies += count
      events += count > 0 ? 1 : 0
      if isStored[place] { stored += 1 }
    }
    var score = Score()
    score.recall = Double(found.reduce(0, +)) / Double(max(1, held.reduce(0, +)))
    score.cumulative = Double(stored) / Double(max(1, held.reduce(0, +)))
    let shares = held.indices.filter { held[$0] > 0 }.map { Double(found[$0]) / Double(held[$0]) }.sorted()
    score.median = shares.isEmpty ? 0 : shares[shares.count / 2]
    score.zero = Double(shares.count { $0 == 0 }) / Double(max(1, shares.count))
    score.duplicates = copies == 0 ? 0 : Double(copies - events) / Double(copies)
    score.wastedDials = Double(answered.values.count { !$0 })
    if conditions.windowMinutes == World.week { score.complete = completeness(in: session) }
    return score
  }

  /// When each open relay has sent all, batches of 50 authors in flight together, and when the first copy of each
  /// event is there.
  private func completeness(in session: Int) -> [Double] {
    var times = world.authors.map { $0.relays.map { _ in Double.infinity } }
    for (ask, isVisit, start) in asked where !isVisit {
      let relay = world.relays[Int(ask.relay)]
      let inFlight = max(1, min(relay.subscriptions - 2, 8))
      let batches = (ask.authors.count + Conditions.batch - 1) / Conditions.batch
      var events = 0
      for author in ask.authors {
        guard let bit = slot(Int(author), ask.relay) else { continue }
        for place in world.events(of: Int(author), from: end - World.week, to: end) where received[place] & bit != 0 {
          events += 1
        }
      }
      let pages = relay.resultMaximum == .max ? 0 : events / relay.resultMaximum
      let turns = (batches + pages + inFlight - 1) / inFlight
      let time = start + relay.connectMilliseconds + Double(turns) * relay.queryMilliseconds
      for author in ask.authors {
        guard let slot = world.authors[Int(author)].relays.firstIndex(of: ask.relay) else { continue }
        times[Int(author)][slot] = time
      }
    }
    var (all, counts) = (0, [0, 0, 0])
    forEachHeld(back: World.week, in: session) { author, place, _ in
      var rest = received[place]
      guard rest != 0 else { return }
      all += 1
      var first = Double.infinity
      while rest != 0 {
        first = min(first, times[author][rest.trailingZeroBitCount])
        rest &= rest - 1
      }
      for (number, limit) in [2_000.0, 5_000, 10_000].enumerated() where first <= limit { counts[number] += 1 }
    }
    return counts.map { Double($0) / Double(max(1, all)) }
  }
}
