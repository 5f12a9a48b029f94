internal import Addresses
public import Contracts
internal import Cryptography
internal import RelaySelection

// The selector, with the names of what it numbers. Relays and people keep their numbers from one choice to the next,
// because what was learned about them is kept by number. When there are too many, only those of the last choice stay.

/// What was learned about a relay or a person, as a file keeps it.
public struct NamedBelief: Sendable, Hashable {
  /// What it is about, as the raw value of `DeliveryBeliefs.Row.Subject`, or ``census``.
  public var subject: Int
  /// The relay's URL; empty: none.
  public var relay: String
  /// The person, 64 hexadecimal digits; empty: none.
  public var person: String
  /// What counts for.
  public var successes: Double
  /// What counts against.
  public var failures: Double
  /// The minute since 1970 for which both hold.
  public var minute: Int64
  /// The average time until a relay's first answer, in milliseconds; 0: not measured.
  public var latency: Double

  /// The subject of a relay that the census has asked.
  public static let census = 100

  /// What was learned.
  public init(
    subject: Int, relay: String, person: String, successes: Double, failures: Double, minute: Int64, latency: Double
  ) {
    (self.subject, self.relay, self.person) = (subject, relay, person)
    (self.successes, self.failures, self.minute, self.latency) = (successes, failures, minute, latency)
  }
}

/// A week of what relays had of people, as the store counts it.
public struct CountedWeek: Sendable {
  /// Its first second since 1970.
  public var since: Int64
  /// Its last second.
  public var until: Int64
  /// What relays had, by person.
  public var people: [AuthorDelivery]

  /// A week.
  public init(since: Int64, until: Int64, people: [AuthorDelivery]) {
    (self.since, self.until, self.people) = (since, until, people)
  }
}

/// Chooses relays for people, and learns which of them are worth it.
struct LearnedRelays: Sendable {
  typealias Subject = ReadingPlan.Subject
  /// Relays, and whom each is asked for, the first chosen first.
  typealias Asks = [(relay: RelayURL, subjects: [Subject])]

  private var selector = RelaySelector(mode: .direct, seed: 0)
  private var relays: [RelayURL] = []
  private var relayNumbers: [RelayURL: Int32] = [:]
  private var subjects: [Subject] = []
  private var subjectNumbers: [Subject: Int32] = [:]
  /// When the census asked each relay, in minutes since 1970.
  private var counted: [RelayURL: Int64] = [:]
  /// The relays that the census is still to ask, the next last; nil: it is to be planned.
  private var census: Asks?
  private var candidates = RelayCandidates(relayCount: 0)
  /// When a monitor last called a relay alive (NIP-66), seconds since 1970; empty: no monitor is read.
  var monitored: [RelayURL: Int64] = [:]

  /// Relays, and people, that have numbers.
  static let numberMaximum = 131_072

  init(seed: UInt64) { selector = RelaySelector(mode: .direct, seed: seed) }

  var mode: SelectionMode {
    get { selector.mode }
    set { selector.mode = newValue }
  }

  // MARK: Choosing

  /// Chooses relays for subjects, each of which is declared to be found at some.
  mutating func choose(
    _ declared: [(subject: Subject, relays: [RelayURL])], _ budget: SelectionBudget, at wall: Int64
  ) -> (live: Asks, visits: Asks) {
    if relays.count > Self.numberMaximum || subjects.count > Self.numberMaximum { renumber(declared) }
    let numbered = declared.map { (number(of: $0.subject), $0.relays.map { number(of: $0) }) }
    candidates = RelayCandidates(relayCount: relays.count)
    for (subject, relays) in numbered { candidates.add(subject, relays) }
    if !monitored.isEmpty {
      let oldest = wall - RelayDirectory.monitoredSeconds
      candidates.alive = relays.map { (monitored[$0] ?? .min) >= oldest }
    }
    let assignment = selector.select(candidates, budget: budget, at: wall / 60)
    census = nil
    return (named(assignment.live), named(assignment.visits))
  }

  private func named(_ asks: [RelayAssignment.Ask]) -> Asks {
    asks.map { ask in (relays[Int(ask.relay)], ask.authors.map { subjects[Int($0)] }) }
  }

  private mutating func number(of relay: RelayURL) -> Int32 {
    if let known = relayNumbers[relay] { return known }
    let number = Int32(relays.count)
    relays.append(relay)
    relayNumbers[relay] = number
    return number
  }

  private mutating func number(of subject: Subject) -> Int32 {
    if let known = subjectNumbers[subject] { return known }
    let number = Int32(subjects.count)
    subjects.append(subject)
    subjectNumbers[subject] = number
    return number
  }

  private mutating func renumber(_ declared: [(subject: Subject, relays: [RelayURL])]) {
    let people = Set(declared.map(\.subject.person.description))
    let wanted = Set(declared.flatMap { $0.relays.map(\.text) })
    let kept = beliefs.filter {
      ($0.relay.isEmpty || wanted.contains($0.relay)) && ($0.person.isEmpty || people.contains($0.person))
    }
    (relays, relayNumbers, subjects, subjectNumbers) = ([], [:], [], [:])
    recall(kept)
  }

  // MARK: Learning

  /// Puts what the store has counted in place of what was known of deliveries.
  mutating func teach(_ weeks: [CountedWeek], at wall: Int64) {
    var counts: [CountedDelivery] = []
    for week in weeks {
      let seconds = Double(week.until - week.since + 1)
      for person in week.people {
        guard let key = PublicKey(person.author) else { continue }
        let relays = person.relays.compactMap { relay in
          RelayURL(canonical: relay.relay).map {
            CountedDelivery.Relay(
              relay: number(of: $0), drained: Double(relay.seconds) / seconds, known: relay.known, had: relay.had)
          }
        }
        counts.append(
          CountedDelivery(
            author: number(of: Subject(person: key, isMention: false)), minute: week.until / 60,
            minutes: (week.until - week.since + 1) / 60, events: person.events, relays: relays))
      }
    }
    selector.beliefs.teach(counts, at: wall / 60)
  }

  /// A relay was reached, or could not be.
  mutating func noteReach(of relay: RelayURL, isReached: Bool, latencyMilliseconds: Int?, at wall: Int64) {
    guard relayNumbers[relay] != nil || relays.count < Self.numberMaximum else { return }
    selector.beliefs.learn(
      ReachReport(
        relay: number(of: relay), minute: wall / 60, answered: isReached, latencyMilliseconds: latencyMilliseconds))
  }

  // MARK: Census

  /// The next relay that was never asked for four weeks of all who declare it; nil: none, or the mode does not learn.
  mutating func nextCensus() -> (relay: RelayURL, people: [PublicKey])? {
    guard mode == .learned else { return nil }
    if census == nil { census = named(RelayCensus.plan(candidates)).reversed() }
    while let ask = census?.popLast() {
      let people = ask.subjects.filter { !$0.isMention }.map(\.person)
      if counted[ask.relay] == nil, !people.isEmpty { return (ask.relay, people) }
    }
    return nil
  }

  /// The census has asked a relay.
  mutating func wasCounted(_ relay: RelayURL, at wall: Int64) { counted[relay] = wall / 60 }

  // MARK: Keeping

  /// What was learned, by names.
  var beliefs: [NamedBelief] {
    var list: [NamedBelief] = selector.beliefs.rows.compactMap { row in
      let isOfRelay = row.subject != .posting
      let isOfPerson = row.subject == .pair || row.subject == .posting
      guard !isOfRelay || row.relay < relays.count, !isOfPerson || row.author < subjects.count else { return nil }
      return NamedBelief(
        subject: row.subject.rawValue, relay: isOfRelay ? relays[Int(row.relay)].text : "",
        person: isOfPerson ? subjects[Int(row.author)].person.description : "", successes: row.successes,
        failures: row.failures, minute: row.minute, latency: row.latencyMilliseconds)
    }
    for (relay, minute) in counted {
      list.append(
        NamedBelief(
          subject: NamedBelief.census, relay: relay.text, person: "", successes: 0, failures: 0, minute: minute,
          latency: 0))
    }
    return list
  }

  /// Takes what a file has kept, in place of what was known. What no belief can be is left out.
  mutating func recall(_ kept: [NamedBelief]) {
    var rows: [DeliveryBeliefs.Row] = []
    counted = [:]
    for belief in kept {
      let relay = RelayURL(canonical: belief.relay)
      if belief.subject == NamedBelief.census {
        if let relay { counted[relay] = belief.minute }
        continue
      }
      guard let subject = DeliveryBeliefs.Row.Subject(rawValue: belief.subject) else { continue }
      let person = PublicKey(belief.person)
      if subject != .posting, relay == nil { continue }
      if subject == .pair || subject == .posting, person == nil { continue }
      rows.append(
        DeliveryBeliefs.Row(
          subject, relay: relay.map { number(of: $0) } ?? 0,
          author: person.map { number(of: Subject(person: $0, isMention: false)) } ?? 0,
          successes: belief.successes, failures: belief.failures, minute: belief.minute,
          latencyMilliseconds: belief.latency))
    }
    selector.beliefs = DeliveryBeliefs(rows: rows)
  }
}
