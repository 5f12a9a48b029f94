import Addresses
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import OutboxRouting

// What the publish queue needs to know: the relays of each event, and the worker that dials a relay.

/// Why an event is not sent.
enum PublishObstacle: Error {
  /// No relay can take it, now or later.
  case nowhere(NoRoute)
  /// The relays are not known yet, because a worker that knows them does not answer. A sentence without a full stop.
  case unknown(String)
}

extension Planner {
  /// How long relays may take to send the list of relays where a person receives private messages.
  private static let findMilliseconds: UInt64 = 8_000

  /// The relays for an event, or why there are no relays for it. May take a while: missing lists are looked for first.
  ///
  /// - Parameters:
  ///   - named: the caller's choice: only these relays are used.
  ///   - foreign: further relays, which others name.
  ///   - agreed: relays for a gift wrap whose recipient has no list of relays for it.
  func publishRoute(
    _ event: Event, named: [RelayURL]?, foreign: [ForeignRelayURL], agreed: [RelayURL] = []
  ) async -> Result<[RelayChoice], PublishObstacle> {
    await settled()
    await recognise(event.pubkey)
    let unknown = directory.unknown(of: event.pubkey)
    // A caller that names relays needs no plan.
    if named == nil, let unknown { return .failure(.unknown(unknown)) }
    if named == nil { await readLists(of: directory.addressees(of: event.unsigned)) }
    var route = directory.route(event, named: named, foreign: foreign)
    if case .failure(let problem) = route, let person = problem.missingList {
      let isAnswered = await findMessageRelays(of: person)
      route = directory.route(event, named: named, foreign: foreign)
      if case .failure(let problem) = route, problem.missingList != nil, !agreed.isEmpty {
        return directory.agreedRoute(to: person, agreed).mapError { .nowhere($0) }
      }
      if case .failure(let problem) = route, problem.missingList != nil, !isAnswered {
        return .failure(.unknown("\(problem.description) that is stored here, and no relay could be asked for it"))
      }
    }
    return route.mapError { problem in unknown.map { .unknown($0) } ?? .nowhere(problem) }
  }

  /// Reads these people's lists from the store, if that has not been done. An event does not wait long for it: relays
  /// that are found later are added.
  func readLists(of people: [PublicKey]) async {
    guard !directory.unlisted(people).isEmpty else { return }
    directory.book.read(people)
    guard !directory.book.areRead(people) else { return }
    authors.read()
    let deadline = now.advanced(milliseconds: Self.readListsMilliseconds)
    await hasChanged.wait(until: deadline) { !directory.book.areRead(people) || isDraining }
  }

  /// How long an event waits for the store's lists of the people whom it names.
  private static let readListsMilliseconds: UInt64 = 100

  /// Requests the lists of the people whom an event names and whose relays are not known.
  ///
  /// - Returns: whether there were such people: the event's route may be another one now.
  func findInboxes(of event: Event) async -> Bool {
    let people = directory.addressees(of: event.unsigned)
    let unlisted = directory.unlisted(people)
    guard !unlisted.isEmpty, !isDraining else { return false }
    await readLists(of: unlisted)
    let due = directory.book.due(directory.unlisted(unlisted), at: WallClock.seconds)
    guard !due.isEmpty else { return true }
    directory.book.wereAsked(due, at: WallClock.seconds)
    await findPublished(of: due, kinds: AuthorListReader.kinds, named: lookUpRelays) {
      [self] in directory.unlisted(due).isEmpty
    }
    return true
  }

  /// The relays that are asked for other people's lists: indexers, and those used for reading.
  var lookUpRelays: [RelayURL] {
    directory.indexers + directory.reads().map(\.url).filter { !directory.indexers.contains($0) }
  }

  /// Requests what people have published of these kinds from relays, and waits until it is known, or the relays have
  /// sent all they have.
  ///
  /// - Parameter foreign: further relays, which others name.
  /// - Returns: the progress of each relay.
  @discardableResult
  func findPublished(
    of people: [PublicKey], kinds: [UInt16], named: [RelayURL], foreign: [RelayURL] = [],
    until isKnown: @escaping @EventLoopActor () -> Bool
  ) async -> [ObserveProgress.Relay] {
    listWishCount += 1
    let wish = Interest(
      own: "find:\(listWishCount)", [Filter(authors: people, kinds: kinds)], named: named, foreign: foreign,
      isExclusive: true, isLive: false)
    return await ask(wish, until: isKnown)
  }

  /// Does something at a relay when it has sent what a person has published there of a kind; what comes there meanwhile
  /// is read too.
  ///
  /// A relay that was asked and has not answered is not waited for again for some time: other events wait behind lists.
  func reading(_ kind: UInt16, of person: PublicKey, at relay: RelayURL, _ body: () async -> Void) async {
    if let until = unreadUntil[relay], now < until { return await body() }
    unreadUntil = unreadUntil.filter { now < $0.value }
    listWishCount += 1
    let wish = Interest(
      own: "list:\(listWishCount)", [Filter(authors: [person], kinds: [kind])], named: [relay], isExclusive: true)
    let asked = await ask(wish, whileAsked: body)
    if asked.contains(where: { $0.state == .asked }) {
      unreadUntil[relay] = now.advanced(milliseconds: Self.unreadMilliseconds)
    }
  }

  /// How long a relay that did not say which lists it has is not waited for.
  private static let unreadMilliseconds: UInt64 = 600_000

  /// Waits until all sources have answered, or their time is over.
  func settled() async {
    await hasChanged.wait(until: earlyEnd) { !isEarly || isDraining }
  }

  /// Looks for a person's list of relays for direct messages: in the store, then at indexers and the relays that are
  /// used for reading, then at the relays that the person writes to.
  ///
  /// - Returns: whether the result is final: the list was found, or a relay has sent all that it has, or no relay could
  ///   have been used.
  private func findMessageRelays(of person: PublicKey) async -> Bool {
    do throws(Refusal) {
      try await lookUpMessageRelays(of: person)
      func isKnown() -> Bool { directory.directMessageRelays(of: person) != nil }
      guard !isKnown() else { return true }
      let asked = await findPublished(of: [person], kinds: AuthorListReader.kinds, named: lookUpRelays, until: isKnown)
      var isAnswered = asked.isEmpty ? silentRelays.isEmpty : asked.contains { $0.state == .stored }
      try await lookUpMessageRelays(of: person)
      let elsewhere = directory.writeRelays(of: person, at: WallClock.seconds)
      guard !isKnown(), !elsewhere.isEmpty else { return isAnswered }
      let kinds = [EventKind.directMessageRelays]
      let answers = await findPublished(of: [person], kinds: kinds, named: [], foreign: elsewhere, until: isKnown)
      isAnswered = isAnswered || answers.contains { $0.state == .stored }
      try await lookUpMessageRelays(of: person)
      return isAnswered
    } catch {
      log.notice("a list of relays could not be looked for", metadata: ["of": "\(person)", "why": "\(error.message)"])
      return false
    }
  }

  /// The name of one of our accounts.
  func accountName(_ key: PublicKey) -> String? { directory.account(key)?.name }

  /// Requests the newest version of an account's list from relays: those used for reading, those that the account
  /// writes to, and `named`.
  ///
  /// - Returns: nothing when most relays that the account writes to have sent what they have (for an account without
  ///   such relays: most of all relays), when no relay can be used, or when the author is no account of a person; else
  ///   the URLs of the relays that have not answered.
  func findList(_ filter: Filter, by author: PublicKey, named: [RelayURL]) async -> [String] {
    guard directory.personalAccounts.contains(where: { $0.key == author }) else { return [] }
    let writes = directory.writes(by: author).map(\.url)
    let relays = (named + writes).prefix(PlanPublish.relayMaximum)
    listWishCount += 1
    let asked = await ask(Interest(own: "list:\(listWishCount)", [filter], named: Array(relays), isLive: false))
    if asked.isEmpty { return silentRelays }
    // If a relay that the author does not write to has no list, that proves nothing.
    let places = Set(writes.map(\.text))
    let relevant = asked.filter { places.isEmpty || places.contains($0.relay) }
    let silent = relevant.filter { $0.state != .stored }.map(\.relay)
    let answered = relevant.count - silent.count
    // It is unknown which relay would have the list, so most of them must have answered.
    return answered * 2 > max(places.count, relevant.count) ? [] : (silent.isEmpty ? places.sorted() : silent)
  }

  /// Relays whose connectors have not reported.
  private var silentRelays: [String] { directory.silentConnectors.flatMap(\.relays) }

  /// Requests something from relays once, and waits until they have sent it, for a limited time.
  ///
  /// - Returns: the relays that were used, and the progress of each.
  private func ask(
    _ wish: Interest, until isKnown: @escaping @EventLoopActor () -> Bool = { false },
    whileAsked body: () async -> Void = {}
  ) async -> [ObserveProgress.Relay] {
    begin(wish)
    update()
    let deadline = now.advanced(milliseconds: Self.findMilliseconds)
    await hasChanged.wait(until: deadline) { [self] in
      wishes.progress(of: wish.key)?.isComplete != false || isKnown() || isDraining
    }
    await body()
    let relays = wishes.progress(of: wish.key)?.relays ?? []
    end(wish.key)
    update()
    return relays
  }

  // MARK: Dialling

  /// The worker that dials a relay, or why no worker does; after a failure the caller waits for
  /// `PublishService.connectorsChanged`.
  func dialler(of relay: RelayURL) -> Result<String, NoRoute> {
    directory.connector(of: relay).map { .success($0) }
      ?? .failure(NoRoute(directory.reasonForNobody(at: relay)))
  }
}
