internal import Addresses
internal import Cryptography
internal import RelaySelection

// Which of other people's relays are asked for whom. A value without I/O: its caller says who is wanted and where each
// of them can be found. It chooses within the budget of decision 8: of the twenty relays outside the groups that may be
// open at once, feeds hold ``relayMaximum``.
//
// Relays that are open anyway (configured, added, an account's own) cost nothing: each is asked for all who name it.
// A person who names no chosen relay is asked for at those, and at the five relays that most people name. Besides,
// the relays of these people are visited one after the other, ``visitMaximum`` at a time: until each has sent what it
// has, and again after a quarter of an hour. Coverage sees to it that a later visit asks only for what is new. With
// `selection = "learned"` the relays to visit are drawn from what was learned; these people's come after them.

/// Who is asked for where.
struct ReadingPlan: Sendable {
  /// A person whose events, or whose mentions, are wanted.
  struct Subject: Hashable, Sendable {
    let person: PublicKey
    /// Whether what others wrote to the person is wanted; false: what the person wrote.
    let isMention: Bool
  }

  /// Where a subject can be found.
  struct Places: Sendable {
    /// Relays that are open anyway.
    var open: [RelayURL] = []
    /// Others' relays, which the choice is among.
    var others: [RelayURL] = []
  }

  /// Relays outside the groups that stay open for feeds.
  static let relayMaximum = 12
  /// Relays that are visited at a time.
  static let visitMaximum = 2
  /// Relays to visit that are drawn from what was learned.
  static let drawnMaximum = 20
  /// How long a visit lasts at most, in seconds.
  static let visitSeconds: Int64 = 120
  /// After how many seconds a relay is visited again.
  static let visitAgainSeconds: Int64 = 900
  /// Relays that are asked for people who can be found nowhere else.
  static let largestCount = 5
  /// How long a relay that could not be reached is left out at first, in seconds; doubled each time.
  static let downSeconds: Int64 = 600
  /// The longest time that it is left out.
  static let downSecondsMaximum: Int64 = 14_400
  /// From so many forged events on a relay of others is left out.
  static let forgedMaximum: UInt64 = 3
  /// How long a relay is left out that sends forgeries, in seconds.
  static let forgedSeconds: Int64 = 86_400
  /// Relays whose failures are remembered; at the limit those that count no longer are forgotten.
  private static let downMaximum = 4_096

  private var wants: [String: Set<Subject>] = [:]
  private var counts: [Subject: Int] = [:]
  private var places: [Subject: [RelayURL]] = [:]
  /// The chosen relays of others, by how many subjects each is asked for, the most first.
  private(set) var chosen: [RelayURL] = []
  /// The visited relays, and since when, in seconds since 1970.
  private(set) var visits: [RelayURL: Int64] = [:]
  /// When visits of relays ended.
  private var visited: [RelayURL: Int64] = [:]
  /// Who is asked for at which visited relay.
  private var visiting: [Subject: [RelayURL]] = [:]
  /// Those who can be found only by visits, and have a relay that was not visited within a quarter of an hour.
  private var unvisited: Set<Subject> = []
  /// Whether some people can be found only by visits.
  private(set) var needsVisits = false
  private var down: [RelayURL: (until: Int64, seconds: Int64)] = [:]
  /// Relays that sent what no author has signed: until when they are left out, seconds since 1970, and how much it was.
  private var forging: [RelayURL: (until: Int64, count: UInt64)] = [:]
  /// Whether the wanted people, or their relays, have changed since the last ``select(at:_:)``.
  private(set) var isDue = false
  /// Whether other people are wanted than when ``takePeople()`` was called last.
  private var havePeopleChanged = false
  /// Chooses, and keeps what was learned.
  var learned = LearnedRelays(seed: 0)
  var mode: SelectionMode {
    get { learned.mode }
    set { learned.mode = newValue }
  }
  /// What was last seen of relays, and when, for ``noteReach(of:isReached:latencyMilliseconds:at:)``.
  private var reaches: [RelayURL: (isReached: Bool, at: Int64)] = [:]

  // MARK: Who is wanted

  /// An interest wants these subjects.
  mutating func want(_ subjects: Set<Subject>, for key: String) {
    guard wants[key] != subjects else { return }
    end(key)
    guard !subjects.isEmpty else { return }
    wants[key] = subjects
    for subject in subjects { counts[subject, default: 0] += 1 }
    (isDue, havePeopleChanged) = (true, true)
  }

  /// An interest has ended.
  mutating func end(_ key: String) {
    for subject in wants.removeValue(forKey: key) ?? [] {
      let left = (counts[subject] ?? 1) - 1
      counts[subject] = left > 0 ? left : nil
      (isDue, havePeopleChanged) = (true, true)
    }
  }

  /// Some people have become accounts of ours, or are no longer: ``takePeople()`` returns all again.
  mutating func accountsChanged() { havePeopleChanged = true }

  /// The relays of a person have changed.
  mutating func changed() { isDue = true }

  /// All whose relays are wanted; nil: the same as at the last call.
  mutating func takePeople() -> Set<PublicKey>? {
    guard havePeopleChanged else { return nil }
    havePeopleChanged = false
    return Set(counts.keys.lazy.map(\.person))
  }

  // MARK: Reach

  /// A relay could not be reached.
  mutating func failed(_ relay: RelayURL, at wall: Int64) {
    if let known = down[relay], wall < known.until { return }
    if down.count >= Self.downMaximum { down = down.filter { wall < $0.value.until } }
    guard down.count < Self.downMaximum else { return }
    let seconds = min((down[relay]?.seconds ?? Self.downSeconds / 2) * 2, Self.downSecondsMaximum)
    down[relay] = (wall + seconds, seconds)
    isDue = isDue || chosen.contains(relay)
  }

  /// A relay was reached.
  mutating func reached(_ relay: RelayURL) {
    guard down.removeValue(forKey: relay) != nil else { return }
    isDue = true
  }

  /// A relay has sent so many different events on its present link that no author has signed. From
  /// ``forgedMaximum`` more than at the last time on it is left out for a day.
  mutating func forged(_ relay: RelayURL, count: UInt64, at wall: Int64) {
    if let known = forging[relay] {
      // A new link counts from 0 again.
      if count < known.count { forging[relay]?.count = 0 }
    } else {
      if forging.count >= Self.downMaximum { forging = forging.filter { wall < $0.value.until } }
      guard forging.count < Self.downMaximum else { return }
    }
    guard count - (forging[relay]?.count ?? 0) >= Self.forgedMaximum, !isForging(relay, at: wall) else { return }
    forging[relay] = (wall + Self.forgedSeconds, count)
    isDue = true
  }

  /// Whether a relay is left out for its forgeries.
  func isForging(_ relay: RelayURL, at wall: Int64) -> Bool { forging[relay].map { wall < $0.until } ?? false }

  /// Whether a relay is left out because it could not be reached.
  func isDown(_ relay: RelayURL, at wall: Int64) -> Bool { down[relay].map { wall < $0.until } ?? false }

  /// A relay was reached, or could not be: counted at each change, and once an hour.
  mutating func noteReach(of relay: RelayURL, isReached: Bool, latencyMilliseconds: Int? = nil, at wall: Int64) {
    guard mode == .learned else { return }
    if let known = reaches[relay], known.isReached == isReached, (0..<3_600).contains(wall - known.at) { return }
    if reaches.count >= Self.downMaximum { reaches = reaches.filter { (0..<3_600).contains(wall - $0.value.at) } }
    guard reaches.count < Self.downMaximum else { return }
    reaches[relay] = (isReached, wall)
    learned.noteReach(of: relay, isReached: isReached, latencyMilliseconds: latencyMilliseconds, at: wall)
  }

  /// The people whose own events are wanted.
  var authors: [PublicKey] { counts.keys.lazy.filter { !$0.isMention }.map(\.person).sorted() }

  // MARK: Visits

  /// A visited relay has sent what it has, or does not.
  mutating func visitEnded(_ relay: RelayURL, at wall: Int64) {
    guard visits.removeValue(forKey: relay) != nil else { return }
    visited[relay] = wall
    isDue = true
  }

  /// Chooses the relays to visit.
  ///
  /// - Parameters:
  ///   - wanted: the relays that may be visited, the first first, and for whom each.
  ///   - declaring: everyone who declares a relay; a visit under way is for them.
  private mutating func visit(_ wanted: LearnedRelays.Asks, _ declaring: [RelayURL: [Subject]], at wall: Int64) {
    let subjects = Dictionary(wanted.map { ($0.relay, $0.subjects) }) { first, _ in first }
    needsVisits = !wanted.isEmpty
    visited = visited.filter { wall - $0.value < Self.visitAgainSeconds && $0.value <= wall }
    for (relay, since) in visits {
      // What is drawn changes with each choice: that does not end a visit.
      let isWanted = mode == .learned ? declaring[relay] != nil && !chosen.contains(relay) : subjects[relay] != nil
      guard !isWanted || wall - since >= Self.visitSeconds || since > wall else { continue }
      visits[relay] = nil
      visited[relay] = wall
    }
    for (relay, _) in wanted where visits[relay] == nil && visited[relay] == nil {
      guard visits.count < Self.visitMaximum else { break }
      visits[relay] = wall
    }
    visiting = [:]
    for relay in visits.keys.sorted(by: { $0.text < $1.text }) {
      for subject in subjects[relay] ?? declaring[relay] ?? [] { visiting[subject, default: []].append(relay) }
    }
  }

  /// Whether a relay of the subject is still to be visited, or is being visited.
  func awaitsVisit(_ subject: Subject) -> Bool { unvisited.contains(subject) }

  /// Where a subject is asked for at present, besides ``relays(of:)``.
  func visits(of subject: Subject) -> [RelayURL] { visiting[subject] ?? [] }

  // MARK: Choosing

  /// Chooses the relays.
  ///
  /// - Returns: the people for whom other relays are asked than before.
  mutating func select(at wall: Int64, _ find: (Subject) -> Places) -> Set<PublicKey> {
    isDue = false
    let subjects = counts.keys.sorted { ($0.person, $0.isMention ? 1 : 0) < ($1.person, $1.isMention ? 1 : 0) }
    var new: [Subject: [RelayURL]] = [:]
    var declared: [(subject: Subject, relays: [RelayURL])] = []
    for subject in subjects {
      let found = find(subject)
      new[subject] = found.open
      declared.append((subject, found.others.filter { !isDown($0, at: wall) && !isForging($0, at: wall) }))
    }
    let budget = SelectionBudget(live: Self.relayMaximum, visits: Self.drawnMaximum)
    let choice = learned.choose(declared, budget, at: wall)
    for (relay, subjects) in choice.live {
      for subject in subjects { new[subject, default: []].append(relay) }
    }
    let before = largest
    chosen = choice.live.enumerated()
      .sorted { ($1.element.subjects.count, $0.offset) < ($0.element.subjects.count, $1.offset) }
      .map(\.element.relay)
    var declaring: [RelayURL: [Subject]] = [:]
    var unserved: [RelayURL: [Subject]] = [:]
    for (subject, relays) in declared {
      let isServed = new[subject]?.isEmpty == false
      for relay in relays {
        declaring[relay, default: []].append(subject)
        if !isServed { unserved[relay, default: []].append(subject) }
      }
    }
    let drawn = Set(choice.visits.map(\.relay))
    let others = unserved.filter { !drawn.contains($0.key) }
      .sorted { ($1.value.count, $0.key.text) < ($0.value.count, $1.key.text) }.map {
        (relay: $0.key, subjects: $0.value)
      }
    let visitingBefore = visiting
    visit(choice.visits + others, declaring, at: wall)
    unvisited = []
    for (relay, subjects) in unserved where visited[relay] == nil { unvisited.formUnion(subjects) }
    var changed: Set<PublicKey> = []
    for subject in Set(visitingBefore.keys).union(visiting.keys)
    where visitingBefore[subject] != visiting[subject] {
      changed.insert(subject.person)
    }
    for (subject, relays) in new where places[subject] != relays || (relays.isEmpty && largest != before) {
      changed.insert(subject.person)
    }
    places = new
    return changed
  }

  /// Where a subject is asked for: chosen relays, and those that are open anyway and that name it; empty: nowhere but
  /// at the relays of ``largest``.
  func relays(of subject: Subject) -> [RelayURL] { places[subject] ?? [] }

  /// Where people are asked for who can be found nowhere else.
  var largest: [RelayURL] { Array(chosen.prefix(Self.largestCount)) }
}
