import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import JobTracking
import LinuxSystem
import Logging
import Nostr
import WorkerKit

// What comes: every answer, and every receipt for a zap, that the store commits, by seq, whoever brought it; and how
// far publications are.
//
// That relays are asked is another matter. For open jobs the tracker observes at the network, so that answers come to
// the store; what those observations send is not looked at.

extension Tracker {
  /// Events of one step of the machine.
  private static let stepMaximum = 500
  /// How far clocks of providers may be behind, in seconds: relays are asked for what is dated so much earlier.
  private static let skewSeconds: Int64 = 3_600
  /// How long changes of what is waited for gather before relays are asked for it.
  private static let observeMilliseconds: UInt64 = 100
  /// Most observations at the network; jobs beyond are asked for when others have ended.
  private static let observationMaximum = 64
  /// Publications asked for at once.
  private static let publicationMaximum = 1_000
  /// How often the planner is asked how far publications are, should its topic have said something that was not heard.
  private static let publicationMilliseconds: UInt64 = 10_000

  // MARK: The store

  /// Reads all answers and receipts that the store has and gets, from where the last process stopped.
  func readStore() {
    persist("the observation of answers") { [self] () async throws(Refusal) in
      let kinds = Array(EventKind.jobResults) + [EventKind.jobFeedback, EventKind.zapReceipt]
      var filter = Filter(kinds: kinds)
      // Whoever has no jobs yet waits for no old answers.
      if cursor == nil { filter.limit = 0 }
      var wanted = StoreObserve(filters: [Self.value(filter)], afterSeq: cursor)
      wanted.policy = .cacheOnly
      wanted.pages = true
      let answer = try await bus.ask(StoreMethod.observe, wanted)
      storeAnswer = answer.answer
      while let part = try await answer.nextPart() {
        if part.isRaw {
          try take(page: part.bytes)
        } else if try takeEnd(part) {
          answer.abandon(Refusal(.cancelled, "the store is another one"))
          return false
        }
      }
      return false
    }
  }

  private func take(page: [UInt8]) throws(Refusal) {
    let records: [EventPage.Record]
    do throws(EventPage.Problem) { records = try EventPage.read(page) } catch {
      throw Refusal(.badPayload, "\(error)")
    }
    var events: [Event] = []
    for (index, record) in records.enumerated() {
      // The store has verified it; a form that cannot be read is no answer to anybody.
      if let event = try? Event(json: Array(page[record.bytes])) { events.append(event) }
      let seq = record.seq ?? cursor ?? 0
      cursor = max(cursor ?? seq, seq)
      if events.count == Self.stepMaximum || index == records.count - 1 {
        let (step, seq) = (events, cursor ?? 0)
        perform { $0.received(step, cursor: seq, at: $1) }
        events = []
      }
    }
  }

  /// All that was stored has come.
  ///
  /// - Returns: whether the store is behind where it was: it is another one, and is read from its beginning.
  private func takeEnd(_ part: ObservedEvents) throws(Refusal) -> Bool {
    let seq = try JSONPayload.decode(StoredEnd.self, from: part.bytes).seq
    if let cursor, seq < cursor {
      log.warning("the event store has begun anew: all its answers are looked at", metadata: ["seq": "\(seq)"])
      self.cursor = 0
      perform { $0.storeBegan(at: $1) }
      return true
    }
    cursor = seq
    perform { $0.received([], cursor: seq, at: $1) }
    return false
  }

  // MARK: The network

  func scheduleObserving() {
    guard !observeTimer.isSet, !isDraining else { return }
    observeTimer.set(afterMilliseconds: Self.observeMilliseconds) { [unowned self] in observe() }
  }

  private func observe() {
    let change = rounds.want(Set(book.interests.prefix(Self.observationMaximum)))
    for round in change.ended { observations.removeValue(forKey: round)?.abandon(Self.unwanted) }
    for round in change.begun { keep(round) }
  }

  private static let unwanted = Refusal(.cancelled, "not waited for any more")

  private func keep(_ round: InterestRounds.Round) {
    persist("the observation at relays") { [self] () async throws(Refusal) in
      guard rounds.goesOn(round) else { return true }
      let answer = try await bus.ask(StoreMethod.observe, Self.observe(round.interest))
      guard rounds.goesOn(round) else {
        answer.abandon(Self.unwanted)
        return true
      }
      observations[round] = answer.answer
      // Nothing of it is read here: it comes to the store.
      while try await answer.nextPart() != nil {}
      return !rounds.goesOn(round)
    }
  }

  /// The wall clock was set: requests that were dated by a wrong one are answered by a right one.
  func clockSet() {
    for answer in observations.values { answer.abandon(Refusal(.cancelled, "it is asked again")) }
  }

  private static func observe(_ interest: JobTable.Interest) -> StoreObserve {
    var filter = Filter(
      authors: interest.authors.isEmpty ? nil : interest.authors, kinds: interest.kinds,
      since: max(0, min(interest.since, WallClock.seconds) - skewSeconds))
    if let letter = TagLetter("e") { filter.tags[letter] = interest.events.map { TagValue($0.description) } }
    var wanted = StoreObserve(filters: [value(filter)])
    wanted.policy = .networkOnly
    wanted.relays = interest.relays.isEmpty ? nil : interest.relays
    return wanted
  }

  // MARK: Publications

  func subscribe() {
    persist("the subscription") { [self] () async throws(Refusal) in
      try await bus.subscribe(PlanTopic.published)
      return true
    }
    persist("the subscription to accounts") { [self] () async throws(Refusal) in
      try await bus.subscribe(SignerTopic.changes)
      accounts.learn()
      return true
    }
    askPublicationsAgain()
  }

  func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { accounts.received(changes) }
      if let publication = try event.value(of: PlanTopic.published) { take(publication) }
    } catch {
      if event.name == SignerTopic.changes.name { accounts.forget() }
      log.error("\(event.name) cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  /// A topic has told something that was not heard.
  func missed(_ topic: String) {
    if topic == SignerTopic.changes.name { accounts.forget() } else { askPublications() }
  }

  private func take(_ publication: Publication) {
    guard let request = EventID(publication.id), let job = book.job(named: publication.id),
      book.requestJSON(job, request) != nil
    else { return }
    note(publication, job, request)
  }

  private func askPublicationsAgain() {
    guard !isDraining else { return }
    publicationTimer.set(afterMilliseconds: Self.publicationMilliseconds) { [unowned self] in
      askPublications()
      askPublicationsAgain()
    }
  }

  /// Asks the planner how far requests are that are on their way.
  func askPublications() {
    let ids = book.watched.prefix(Self.publicationMaximum).map(\.description)
    guard !isAskingPublications, !ids.isEmpty, !isDraining else { return }
    isAskingPublications = true
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let wanted = PlanPublications(ids: ids, limit: ids.count)
        let answer = try await bus.ask(PlanMethod.publications, wanted, ttlMilliseconds: 10_000)
        while let publication = try await answer.nextPart() { take(publication) }
      } catch { log.debug("the planner does not say how far requests are", metadata: ["why": "\(error.message)"]) }
      isAskingPublications = false
    }
  }

  func registryChanged(_ registry: Registry) {
    guard !isDraining else { return }
    accounts.registryChanged(registry)
    let planner = registry.members.first { $0.role == Role.outboxPlanner.name && $0.isReady }?.endpoint
    if let planner, planner != plannerEndpoint { askPublications() }
    plannerEndpoint = planner
  }
}
