internal import Addresses
internal import Clocks
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Nostr
internal import NostrContracts
internal import Rendering
internal import RoostClient

// What would be fetched for an account, before it is: its lists from the indexers, and how much its relays have.

extension SetupRun {
  /// How long the indexers may take, in seconds.
  private static let listSeconds = 12
  /// How long the relays may take to say how much they have, in milliseconds.
  private static let countMilliseconds: UInt64 = 10_000
  /// The most relays of a list that are asked, as the mirror does.
  private static let relayMaximum = 16

  /// Finds an account's lists, shows what its relays have, and asks once.
  ///
  /// - Returns: whether it is to be fetched.
  func survey(_ key: PublicKey, isReadOnly: Bool) async throws(Refusal) -> Bool {
    guard options.yes || isAsking else {
      leaveForUsage("whether it is to be fetched must be said, and there is no terminal to ask at: give --yes")
    }
    let known = try await knownRelays()
    let person = try await findLists(of: key, known)
    await count(places(of: person, known, isReadOnly: isReadOnly), of: key)
    return try isYes("Fetch this and keep it?")
  }

  private func knownRelays() async throws(Refusal) -> PlanRelayList {
    try await session.waiting(for: PlanMethod.relays.declaration) { () async throws(Refusal) in
      try await session.client.request(
        PlanMethod.relays, NoArguments(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    }
  }

  // MARK: Lists

  /// How far the relays are with the lists.
  @EventLoopActor
  private final class Search {
    var progress: ObserveProgress?
  }

  private func findLists(of key: PublicKey, _ known: PlanRelayList) async throws(Refusal) -> Person {
    let kinds = [EventKind.metadata, EventKind.follows, EventKind.relayList, EventKind.directMessageRelays]
    // A filter each: a relay that sends few events to a filter would leave lists out.
    var wanted = PlanWant(
      filters: kinds.map { JSONValue(of: Filter(authors: [key], kinds: [$0], limit: 1)) }, depth: .newest)
    wanted.relays = known.indexers?.isEmpty == false ? known.indexers : nil
    wanted.seconds = Self.listSeconds
    let search = Search()
    if !session.isJSON {
      await session.output.writeLines(["Looking for its profile and lists."])
      session.display.begin {
        search.progress.map { FetchText.lines($0, columns: LiveDisplay.columns) } ?? []
      }
    }
    let answer = try await session.client.stream(PlanMethod.want, wanted)
    var relays: [ObserveProgress.Relay] = []
    while let item = try await answer.next() {
      switch item {
      case .part(let progress):
        search.progress = progress
        session.display.changed()
      case .end(let end): relays = end.relays
      }
    }
    session.display.end()
    let person = try await session.client.person(key)
    let lists = SetupJSON.Lists(
      publicKey: "\(key)", name: person.profile?.bestName, follows: person.follows?.follows.count,
      relays: person.relays?.entries.count, messageRelays: person.messageRelays?.relays.count, asked: relays.count,
      answered: relays.count { $0.state == .stored })
    await tell(lists, SetupText.lists(person, relays, session.style))
    return person
  }

  // MARK: How much relays have

  /// What would be asked of which relay: as the mirror does it, the account's own events where it writes, what names it
  /// where it reads, and gift wraps only where it receives them. Without a list, the relays of the configuration.
  private func places(of person: Person, _ known: PlanRelayList, isReadOnly: Bool) -> [SetupPlace] {
    let own = Set(known.relays.filter { relay in relay.sources.contains { !$0.hasSuffix("list") } }.map(\.relay))
    var places: [SetupPlace] = []
    func add(_ relay: String, _ kind: MirrorClass) {
      guard !places.contains(where: { $0.relay == relay && $0.kind == kind }) else { return }
      // Any account can be read along with, so what only its lists name is not dialled at a private address.
      places.append(SetupPlace(relay: relay, kind: kind, isForeign: isReadOnly && !own.contains(relay)))
    }
    if let list = person.relays, !list.entries.isEmpty {
      for relay in list.writeRelays.prefix(Self.relayMaximum) { add(relay.text, .own) }
      for relay in list.readRelays.prefix(Self.relayMaximum) { add(relay.text, .named) }
    } else {
      for relay in known.relays where relay.reads {
        add(relay.relay, .own)
        add(relay.relay, .named)
      }
    }
    let inboxes = isReadOnly ? [] : person.messageRelays?.relays ?? []
    for relay in inboxes.prefix(Self.relayMaximum) { add(relay.text, .wraps) }
    return places.sorted { ($0.relay, $0.kind.rawValue) < ($1.relay, $1.kind.rawValue) }
  }

  /// Asks all relays at once, and shows each answer as it comes, and a table at the end.
  private func count(_ places: [SetupPlace], of key: PublicKey) async {
    guard !places.isEmpty else {
      session.note("No relay is known: 'roost relay add URL' adds one.", .warning)
      return
    }
    let counting = SetupCounting(session.client, key, until: Self.countMilliseconds)
    let isLive = !session.isJSON && LiveDisplay.isPossible
    if !session.isJSON {
      let count = Amount.count(Set(places.map(\.relay)).count, "relay")
      await session.output.writeLines(["Asking \(count) how much it would be."])
      session.display.begin { SetupText.live(counting.figures, of: places.count, columns: LiveDisplay.columns) }
    }
    counting.begin(places)
    var told = 0
    while let figure = await counting.next() {
      session.display.changed()
      told += 1
      if session.isJSON {
        await session.output.writeLine(JSONPayload.encode(SetupJSON.Relay(figure: figure)))
      } else if !isLive {
        await session.output.writeLines([SetupText.line(figure)])
      }
    }
    session.display.end()
    if !session.isJSON { await session.output.writeLines(SetupText.table(counting.figures, session.style)) }
  }
}

/// What one relay would be asked for.
struct SetupPlace: Hashable {
  let relay: String
  let kind: MirrorClass
  /// Whether only the account's lists name the relay, and the account is not proven to be one's own.
  let isForeign: Bool
}

/// Asks relays how much they have: by COUNT (NIP-45), else by a comparison with what is here (NIP-77), and by a few
/// events, whose sizes give the bytes. Nothing is stored. What a relay does not say in time is unknown.
@EventLoopActor
final class SetupCounting {
  /// What came, in the order of the places.
  private(set) var figures: [SetupFigure] = []

  private let client: RoostClient
  private let key: PublicKey
  private let milliseconds: UInt64
  private let end: Instant
  private var open = 0
  private var ready: [SetupFigure] = []
  private var waiter: CheckedContinuation<Void, Never>?

  /// Events that are asked for to know their size.
  private static let sampleCount = 20
  /// How much of the time a COUNT may take; the rest is for the comparison.
  private static let countShare: UInt64 = 2
  /// The kinds that the mirror fetches of what names an account, where they matter for a count.
  private static let namingKinds: [UInt16] = [
    1, 4, 6, 7, 8, 16, 20, 21, 22, 42, 1_111, 1_311, 1_984, 9_735, 9_802, 30_023,
  ]

  init(_ client: RoostClient, _ key: PublicKey, until milliseconds: UInt64) {
    (self.client, self.key, self.milliseconds) = (client, key, milliseconds)
    end = EventLoop.process.now.advanced(milliseconds: milliseconds)
  }

  func begin(_ places: [SetupPlace]) {
    open = places.count
    for place in places {
      EventLoopActor.task { [self] in
        let figure = await figure(of: place)
        open -= 1
        figures.append(figure)
        figures.sort { ($0.relay, $0.kind.rawValue) < ($1.relay, $1.kind.rawValue) }
        ready.append(figure)
        waiter?.resume()
        waiter = nil
      }
    }
  }

  /// The next figure; nil when all are here.
  func next() async -> SetupFigure? {
    while ready.isEmpty {
      guard open > 0 else { return nil }
      await withCheckedContinuation { waiter = $0 }
    }
    return ready.removeFirst()
  }

  // MARK: One relay

  private func figure(of place: SetupPlace) async -> SetupFigure {
    let filter = filter(of: place.kind)
    let sample = EventLoopActor.task { [self] in await self.sample(place, filter) }
    var figure = SetupFigure(relay: place.relay, kind: place.kind)
    let counted = await count(place, filter)
    let sampled = await sample.value
    if let sampled, sampled.events > 0 { figure.averageBytes = sampled.bytes / Int64(sampled.events) }
    switch counted {
    case .success(let counted):
      (figure.count, figure.isApproximate, figure.source) = (counted.count, counted.isApproximate, .count)
      return figure
    case .failure(let refusal): figure.reason = refusal.message
    }
    // A relay that sent fewer than were asked for has sent all.
    if let sampled, sampled.isComplete, sampled.events < Self.sampleCount {
      (figure.count, figure.source, figure.reason) = (sampled.events, .sent, nil)
      return figure
    }
    guard let sampled else { return figure }
    if let compared = await compare(place, filter) {
      (figure.count, figure.source, figure.reason) = (compared.common + compared.needed, .comparison, nil)
      figure.here = compared.common
      return figure
    }
    (figure.count, figure.isAtLeast, figure.source) = (sampled.events, true, .sent)
    figure.reason = nil
    return figure
  }

  private func filter(of kind: MirrorClass) -> Filter {
    guard kind != .own else { return Filter(authors: [key]) }
    guard let letter = TagLetter(UInt8(ascii: "p")) else { preconditionFailure("p is a letter") }
    let kinds = kind == .wraps ? [EventKind.giftWrap] : Self.namingKinds
    return Filter(kinds: kinds, tags: [letter: [TagValue(key.description)]])
  }

  /// The time that is left, in milliseconds, at least a moment.
  private var left: UInt32 {
    let now = EventLoop.process.now
    return UInt32(clamping: end > now ? max(1, end.milliseconds(since: now)) : 1)
  }

  private func count(_ place: SetupPlace, _ filter: Filter) async -> Result<RelayCounted, Refusal> {
    let wanted = RelayCount(relay: place.relay, filter: JSONValue(of: filter), isForeign: place.isForeign)
    let ttl = UInt32(clamping: milliseconds / Self.countShare)
    do throws(Refusal) {
      return .success(try await client.request(RelayMethod.count, wanted, options: .idempotent(ttlMilliseconds: ttl)))
    } catch {
      return .failure(error)
    }
  }

  /// A few events; nil if the relay does not send them.
  private func sample(
    _ place: SetupPlace, _ filter: Filter
  ) async -> (events: Int, bytes: Int64, isComplete: Bool)? {
    var filter = filter
    filter.limit = Self.sampleCount
    let wanted = RelayRequest(
      relay: place.relay, filters: [JSONValue(of: filter)], isForeign: place.isForeign)
    var (events, bytes) = (0, Int64(0))
    do throws(Refusal) {
      let answer = try await client.stream(
        RelayMethod.request, wanted,
        options: RequestOptions(ttlMilliseconds: UInt32(clamping: milliseconds / Self.countShare)))
      while let item = try await answer.next() {
        switch item {
        case .part(let event):
          events += 1
          bytes += Int64(event.bytes.count)
        case .end(let end): return (events, bytes, end.isComplete)
        }
      }
    } catch {
      // A relay that sent some and then fell silent has at least these.
    }
    return events > 0 ? (events, bytes, false) : nil
  }

  /// What a comparison counts; nil if the relay does not compare.
  private func compare(_ place: SetupPlace, _ filter: Filter) async -> ReconcileCounts? {
    var wanted = RelayReconcile(relay: place.relay, filter: JSONValue(of: filter))
    (wanted.countsOnly, wanted.isForeign) = (true, place.isForeign)
    do throws(Refusal) {
      let answer = try await client.stream(
        RelayMethod.reconcile, wanted, options: RequestOptions(ttlMilliseconds: left))
      while let item = try await answer.next() {
        if case .end(let end) = item { return end.end == .complete ? end.counts : nil }
      }
    } catch {
      // The relay has not said it in time.
    }
    return nil
  }
}
