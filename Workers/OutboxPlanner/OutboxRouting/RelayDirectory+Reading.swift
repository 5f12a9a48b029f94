public import Addresses
public import Contracts
public import Cryptography
public import Nostr
internal import RelaySelection

// Whose relays are asked for which filters (NIP-65): what a person wrote is at the person's relays for writing, what
// others wrote to the person at those for reading.

extension RelayDirectory {
  // MARK: Who is wanted

  /// An interest wants these filters: the relays of the people in them count from the next ``selectRelays(at:)``.
  public mutating func want(_ interest: Interest) {
    guard !interest.isExclusive else { return reading.end(interest.key) }
    var subjects: Set<ReadingPlan.Subject> = []
    for filter in interest.filters { subjects.formUnion(Self.subjects(of: filter).map(\.subject)) }
    events.want(interest.filters)
    subjects.formUnion(events.authors(interest.filters).map { ReadingPlan.Subject(person: $0, isMention: false) })
    reading.want(subjects, for: interest.key)
  }

  /// An interest has ended.
  public mutating func unwant(_ key: String) { reading.end(key) }

  /// Tells ``book`` who is wanted.
  public mutating func noteWanted() {
    if let people = reading.takePeople() { book.want(people.subtracting(accounts.map(\.key))) }
  }

  /// Chooses again whose relays are asked, if anything has changed that matters for it.
  ///
  /// - Parameter wall: seconds since 1970.
  /// - Returns: the people for whom other relays are asked than before.
  public mutating func selectRelays(at wall: Int64) -> Set<PublicKey> {
    noteWanted()
    guard autopilot, reading.isDue || selectedRevision != revision else { return [] }
    (selectedRevision, selectedAt) = (revision, wall)
    let open = Set(plannedReads().choices.map(\.url))
    var plan = reading
    let changed = plan.select(at: wall) { places(of: $0, open: open, at: wall) }
    reading = plan
    return changed
  }

  /// Whether ``selectRelays(at:)`` may change something.
  public var isSelectionDue: Bool { autopilot && (reading.isDue || selectedRevision != revision) }

  /// The relays that are visited for a while, for people who are found at no relay that stays open.
  public var visits: [RelayURL] { reading.visits.keys.sorted { $0.text < $1.text } }

  /// Whether some of the people whom filters name are still to be found by a visit.
  public func awaitVisits(_ filters: [Filter]) -> Bool {
    autopilot && filters.contains { Self.subjects(of: $0).contains { reading.awaitsVisit($0.subject) } }
  }

  /// A visited relay has sent what it has, or does not.
  public mutating func visitEnded(_ url: RelayURL, at wall: Int64) { reading.visitEnded(url, at: wall) }

  /// Time has passed: the next choice looks for relays to visit again.
  public mutating func visitsMayBeDue() { if reading.needsVisits { reading.changed() } }

  /// A relay outside the groups could not be reached: it is left out for a while.
  public mutating func relayFailed(_ url: RelayURL, at wall: Int64) {
    guard !isOwn(url) else { return }
    if !reading.isDown(url, at: wall) { book.namedRelay(url, wasUseful: false, at: wall) }
    reading.failed(url, at: wall)
    reading.noteReach(of: url, isReached: false, at: wall)
  }

  /// A relay was reached.
  ///
  /// - Parameters:
  ///   - url: the relay.
  ///   - latencyMilliseconds: how long it takes to connect and to answer; nil: it is not known yet.
  ///   - wall: seconds since 1970.
  public mutating func relayReached(_ url: RelayURL, latencyMilliseconds: Int? = nil, at wall: Int64) {
    reading.reached(url)
    guard !isOwn(url) else { return }
    reading.noteReach(of: url, isReached: true, latencyMilliseconds: latencyMilliseconds, at: wall)
  }

  /// For how long a monitor's word that a relay is alive holds, in seconds.
  public static let monitoredSeconds: Int64 = 2 * 86_400
  /// Relays of which monitors are believed; what they say of others is not kept.
  private static let monitoredMaximum = 50_000

  /// A monitor has found a relay alive (NIP-66). It counts at the next choice of relays, as a prior: what was seen of
  /// the relay counts more.
  public mutating func learnMonitored(_ event: Event) {
    guard event.kind == EventKind.relayDiscovery, monitors.contains(event.pubkey),
      // `try?`: a monitor may name what is no relay.
      let name = event.values(of: "d").first, let url = try? RelayURL(name),
      reading.learned.monitored[url] != nil || reading.learned.monitored.count < Self.monitoredMaximum
    else { return }
    let before = reading.learned.monitored[url]
    reading.learned.monitored[url] = max(before ?? .min, event.createdAt)
    if before == nil { reading.changed() }
  }

  /// A relay has sent so many different forged events on its present link. The user's own relays are asked all the
  /// same.
  public mutating func relayForged(_ url: RelayURL, count: UInt64, at wall: Int64) {
    guard count > 0, !isOwn(url), !accounts.contains(where: { $0.listed.contains(url) }) else { return }
    reading.forged(url, count: count, at: wall)
  }

  // MARK: Names

  /// The people whose names (NIP-05) are to be looked up now, whom an account follows: up to 500.
  public func dueNames(at wall: Int64) -> [PublicKey] {
    autopilot ? book.dueNames(accounts.lazy.flatMap(\.follows), at: wall) : []
  }

  /// Whether the name of a person is still to be looked up: an account follows the person, and no list is known.
  public func needsName(_ person: PublicKey) -> Bool {
    autopilot && book.needsName(person) && accounts.contains { $0.follows.contains(person) }
  }

  /// The names of these people are looked up.
  public mutating func namesWereAsked(_ people: [PublicKey], at wall: Int64) {
    book.namesWereAsked(people, at: wall)
  }

  /// A person's name leads to these relays, for an hour from when its server was asked, in seconds since 1970, and only
  /// for reading.
  public mutating func named(_ person: PublicKey, _ relays: [ForeignRelayURL], at fetchedAt: Int64) {
    book.named(person, relays, until: fetchedAt + AuthorBook.nameSeconds)
    reading.changed()
  }

  /// What relays had of people in some weeks, of the times for which each has sent all it had. Of a relay that names
  /// lead to, one such person's events are of use; none, where other relays had some, is one failure, however many
  /// people it is.
  ///
  /// - Parameters:
  ///   - reports: by person and relay: events that it had, and those of them and others that other relays had.
  ///   - wall: seconds since 1970.
  public mutating func delivered(
    _ reports: [(person: PublicKey, relay: RelayURL, held: Int, known: Int)], at wall: Int64
  ) {
    var wasUseful: [RelayURL: Bool] = [:]
    for report in reports where report.held > 0 || report.known > 0 {
      guard book.namedRelays(of: report.person).contains(where: { $0.url == report.relay }) else { continue }
      wasUseful[report.relay] = wasUseful[report.relay] == true || report.held > 0
    }
    for (relay, isUseful) in wasUseful { book.namedRelay(relay, wasUseful: isUseful, at: wall) }
  }

  // MARK: Learning

  /// Whether relays are chosen by what was learned.
  public var isLearning: Bool { autopilot && reading.mode == .learned }

  /// The people whose own events are wanted, sorted.
  public var wantedAuthors: [PublicKey] { reading.authors }

  /// Puts what the store has counted in place of what was known of deliveries, and chooses again. `wall` is in seconds
  /// since 1970.
  public mutating func teach(_ weeks: [CountedWeek], at wall: Int64) {
    reading.learned.teach(weeks, at: wall)
    reading.changed()
  }

  /// The next relay that was never asked for four weeks of all who write there; nil: none.
  public mutating func nextCensus() -> (relay: RelayURL, people: [PublicKey])? {
    isLearning ? reading.learned.nextCensus() : nil
  }

  /// The census has asked a relay. `wall` is in seconds since 1970.
  public mutating func wasCounted(_ relay: RelayURL, at wall: Int64) { reading.learned.wasCounted(relay, at: wall) }

  /// What was learned, for a file.
  public var beliefs: [NamedBelief] { reading.learned.beliefs }

  /// Takes what a file has kept.
  public mutating func recall(_ beliefs: [NamedBelief]) { reading.learned.recall(beliefs) }

  /// The people whose relays decide where a filter is asked: its authors, or else those whom its tags `p` name.
  static func subjects(of filter: Filter) -> [(person: PublicKey, subject: ReadingPlan.Subject)] {
    if let authors = filter.authors {
      return authors.map { ($0, ReadingPlan.Subject(person: $0, isMention: false)) }
    }
    guard filter.kinds?.allSatisfy(EventKind.giftWraps.contains) != true, filter.ids == nil else { return [] }
    return (filter.tags[recipientTag] ?? []).compactMap { value in
      PublicKey(value.description).map { ($0, ReadingPlan.Subject(person: $0, isMention: true)) }
    }
  }

  private func places(of subject: ReadingPlan.Subject, open: Set<RelayURL>, at wall: Int64) -> ReadingPlan.Places {
    var places = ReadingPlan.Places()
    if let account = account(subject.person) {
      let list = account.relayList
      let relays = (subject.isMention ? list?.readRelays : list?.writeRelays) ?? []
      places.open = open.union(relays.prefix(Self.accountRelayMaximum).filter { !isHome($0) })
        .sorted { $0.text < $1.text }
      return places
    }
    // Of ten thousand people looked up at once most have no list that is known, and what follows copies this value.
    guard book.knowsRelays(of: subject.person) else { return places }
    func isUsable(_ url: RelayURL) -> Bool {
      open.contains(url) ? strictObjection(to: url) == nil : objection(toOthers: url) == nil
    }
    let relays =
      subject.isMention
      ? book.reads(of: subject.person, where: isUsable)
      : book.writes(of: subject.person, at: wall, where: isUsable)?.relays
    places.open = (relays ?? []).filter(open.contains)
    places.others = (relays ?? []).filter { !open.contains($0) }
    return places
  }

  /// Why a relay that only others name is not used; nil when it is used.
  func objection(toOthers url: RelayURL) -> String? {
    strictObjection(to: url) ?? (isPrivate(url) ? "a private address, and named by others" : nil)
  }

  /// Why a relay is used neither for what others write nor for what is sent to others. A relay that an account blocks
  /// (kind 10006) stays shut for that even if the account lists it for itself (kind 10002).
  func strictObjection(to url: RelayURL) -> String? {
    if isHome(url) { return OwnAddresses.reason }
    if isPeer(url) { return Self.peerReason }
    return accounts.first { $0.blocked.contains(url) }.map { "blocked by \($0.name)'s list (kind 10006)" }
  }

  /// The relays that a person who is no account of ours writes to, without those that may not be used. `wall` is in
  /// seconds since 1970.
  public func writeRelays(of person: PublicKey, at wall: Int64) -> [RelayURL] {
    book.writes(of: person, at: wall) { objection(toOthers: $0) == nil }?.relays ?? []
  }

  /// Whether a relay that only others name is at an address that they must not name.
  func isPrivate(_ url: RelayURL) -> Bool { !url.isPublic && !isOwn(url) && !allowsPrivate }

  // MARK: Explaining

  /// How the people whom filters name are covered, after ``selectRelays(at:)``; nil when they name no people, or
  /// without autopilot. Second: the relays of their lists that are not used, at most a hundred.
  public func cover(of filters: [Filter], at wall: Int64) -> (cover: Route.Cover?, skipped: [RelayChoice]) {
    let subjects = Set(filters.flatMap { Self.subjects(of: $0).map(\.subject) })
      .sorted { ($0.person, $0.isMention ? 1 : 0) < ($1.person, $1.isMention ? 1 : 0) }
    guard autopilot, !subjects.isEmpty else { return (nil, []) }
    var counts = [Int](repeating: 0, count: 5)
    var (unlisted, missing) = ([String](), [String]())
    var skipped: [RelayURL: RelayChoice] = [:]
    for subject in subjects {
      let count = Set(reading.relays(of: subject) + reading.visits(of: subject)).count
      counts[min(count, counts.count - 1)] += 1
      guard account(subject.person) == nil else { continue }
      let listed =
        subject.isMention
        ? book.reads(of: subject.person) { _ in true }
        : book.writes(of: subject.person, at: wall) { _ in true }?.relays
      if listed == nil { unlisted.append(subject.person.description) }
      if listed != nil, count == 0 { missing.append(subject.person.description) }
      for relay in listed ?? [] where skipped[relay] == nil && skipped.count < Self.skippedMaximum {
        let state =
          reading.isForging(relay, at: wall)
          ? "it has sent events that no author has signed"
          : reading.isDown(relay, at: wall) ? "it could not be reached" : nil
        let reason = objection(toOthers: relay) ?? state
        if let reason { skipped[relay] = choice(relay, reason, isForeign: true) }
      }
    }
    return (
      Route.Cover(counts: counts, unlisted: unlisted, missing: missing),
      skipped.values.sorted { $0.url.text < $1.url.text }
    )
  }

  /// Relays left out of one answer.
  private static let skippedMaximum = 100

  // MARK: Filters

  /// The filters for each relay, each of the people who are to be found there. A filter that names no person goes to
  /// all relays for reading.
  func split(_ filters: [Filter], _ reads: [RelayChoice]) -> [FilterRoute.Stop] {
    var stops: [RelayURL: FilterRoute.Stop] = [:]
    for choice in reads { stops[choice.url] = FilterRoute.Stop(choice, []) }
    func add(_ filter: Filter, at relay: RelayURL, _ why: String) {
      var stop = stops[relay] ?? FilterRoute.Stop(otherChoice(relay), [])
      if !reads.contains(where: { $0.url == relay }) { stop.choice.why = [why] }
      stop.filters.append(filter)
      stops[relay] = stop
    }
    for filter in filters {
      let wanted = autopilot ? Self.subjects(of: filter) : []
      if wanted.isEmpty { for choice in reads { add(filter, at: choice.url, "") } }
      var people: [RelayURL: [PublicKey]] = [:]
      var others: [PublicKey] = []
      var standing = Set(reads.map(\.url))
      for (person, subject) in wanted {
        let relays = reading.relays(of: subject)
        if relays.isEmpty { others.append(person) }
        standing.formUnion(relays)
        for relay in relays + reading.visits(of: subject) { people[relay, default: []].append(person) }
      }
      if autopilot, filter.authors == nil {
        for (relay, ids) in eventPlaces(filter, besides: Set(reads.map(\.url))) {
          var part = filter
          part.ids = ids
          add(part.canonical, at: relay, ids.count == 1 ? "a hint for \(ids[0].note)" : "hints for \(ids.count) events")
        }
      }
      if !others.isEmpty {
        for relay in Set(reads.map(\.url)).union(reading.largest) { people[relay, default: []] += others }
      }
      for (relay, people) in people {
        let visit = standing.contains(relay) || reading.largest.contains(relay) ? "" : "visited for "
        add(filter.with(people, isMention: filter.authors == nil), at: relay, visit + reason(people))
      }
    }
    return stops.values.filter { !$0.filters.isEmpty }.sorted { $0.choice.url.text < $1.choice.url.text }
  }

  /// Where else the events of a filter are asked for that are wanted by their ids: where those that refer to them say,
  /// and where their authors write.
  private func eventPlaces(_ filter: Filter, besides reads: Set<RelayURL>) -> [RelayURL: [EventID]] {
    var places: [RelayURL: [EventID]] = [:]
    for id in EventPlaces.ids([filter]) {
      var relays = events.hints(of: id) { !reads.contains($0) && objection(toOthers: $0) == nil }
      for author in events.authors(of: id) {
        let subject = ReadingPlan.Subject(person: author, isMention: false)
        relays += reading.relays(of: subject) + reading.visits(of: subject)
      }
      for relay in Set(relays).subtracting(reads) { places[relay, default: []].append(id) }
    }
    return places.count <= Self.placeMaximum
      ? places
      : Dictionary(
        uniqueKeysWithValues: places.sorted { ($1.value.count, $0.key.text) < ($0.value.count, $1.key.text) }
          .prefix(Self.placeMaximum).map { ($0.key, $0.value) })
  }

  /// Relays of one filter that are asked for events by their ids, beside those for reading.
  private static let placeMaximum = 16

  private func reason(_ people: [PublicKey]) -> String {
    guard people.count == 1 else { return "the lists of \(people.count) people" }
    let used = book.writes(of: people[0], at: selectedAt) { objection(toOthers: $0) == nil }
    switch used?.source {
    case .name: return "\(people[0].npub)'s name (NIP-05)"
    case .hint: return "a hint for \(people[0].npub)"
    case .list, nil: return "\(people[0].npub)'s list"
    }
  }

  /// A relay that is no relay for reading of the user's own: an account's, for what the account wrote, or others'.
  private func otherChoice(_ relay: RelayURL) -> RelayChoice {
    let account = accounts.first { $0.listed.contains(relay) }
    return choice(
      relay, "", account: account?.key, isForeign: account == nil)
  }
}

extension Filter {
  /// The same filter of these people alone.
  fileprivate func with(_ people: [PublicKey], isMention: Bool) -> Filter {
    var filter = self
    if isMention {
      filter.tags[RelayDirectory.recipientTag] = people.map { TagValue($0.description) }
    } else {
      filter.authors = people
    }
    return filter.canonical
  }
}
