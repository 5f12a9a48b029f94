import Bus
import Contracts
import CopyLedger
import Cryptography
import Frames
import LinuxSystem
import Logging
import Mirroring
import Nostr
import NostrContracts
import Storage
import WorkerKit

/// What a round needs to know of an event that is to have copies.
struct CopiedEvent {
  let createdAt: Int64
  let isDeletion: Bool
}

// What is to have copies, and what a relay lacks of it.

extension CopyKeeper {
  /// The most publications that are asked for those whose relays were named.
  private static let publicationMaximum = 10_000
  /// Events that a relay without NIP-77 is asked for at once.
  private static let idCount = 100
  /// Events that a relay is asked for of those that it says it lacks.
  private static let sampleCount = 20
  /// Events that are compared at once with a relay that compares only some of its events.
  private static let windowCount = 250

  /// Writes down whose relays were named: the planner forgets that.
  ///
  /// - Parameter ids: only of these events.
  /// - Returns: those that are known to be published, or to have been.
  func learnApart(_ ids: [EventID]? = nil) async throws(Refusal) -> Set<EventID> {
    var wanted = PlanPublications(limit: Self.publicationMaximum)
    wanted.ids = ids?.map { "\($0)" }
    let answer = try await worker.bus.ask(PlanMethod.publications, wanted)
    var (apart, published) = ([EventID](), Set<EventID>())
    while let publication = try await answer.nextPart() {
      guard let id = EventID(publication.id) else { continue }
      if publication.state != .cancelled { published.insert(id) }
      if publication.targets.contains(where: { $0.why == PublicationTarget.namedReason }) { apart.append(id) }
    }
    if !apart.isEmpty {
      try await writing { [apart] () throws(StorageFault) in try await ledger.setApart(apart) }
    }
    return published
  }

  /// An account's events that were only stored here, or at other Roosts of the same owner: no relay has ever sent them.
  private func unseen(_ account: MirrorAccount) async throws(Refusal) -> Set<EventID> {
    let peers = settings.peers.compactMap(PeerPath.url)
    let answer = try await worker.bus.ask(
      StoreMethod.unseen, StoreUnseen(author: "\(account.key)", besides: peers.isEmpty ? nil : peers))
    var unseen: Set<EventID> = []
    while let part = try await answer.nextPart() { unseen.formUnion(part.ids) }
    return unseen
  }

  /// All events of an account that are to have copies.
  ///
  /// - Parameter learn: learns which are not, after the events were read: one that came with them is known then.
  ///   Returns those that were published.
  func ownEvents(
    _ account: MirrorAccount, _ learn: () async throws(Refusal) -> Set<EventID>
  ) async throws(Refusal) -> [EventID: CopiedEvent] {
    let wanted = StoreQuery(filters: [JSONValue(of: Filter(authors: [account.key]))])
    let answer = try await worker.bus.ask(StoreMethod.query, wanted)
    var own: [EventID: CopiedEvent] = [:]
    while let part = try await answer.nextPart() {
      // `try?`: the store has verified it; an event that cannot be read is not copied.
      guard let event = try? Event(json: part.bytes),
        CopyRules.exception(event, isApart: false, at: WallClock.seconds) == nil
      else { continue }
      own[event.id] = CopiedEvent(createdAt: event.createdAt, isDeletion: event.kind == EventKind.deletion)
    }
    let published = try await learn()
    for id in try await unseen(account) where !published.contains(id) { own[id] = nil }
    for id in try await reading({ () throws(StorageFault) in try await ledger.apart() }) { own[id] = nil }
    return own
  }

  /// The events that a relay lacks: by NIP-77, else by asking for their ids.
  ///
  /// Some relays compare no more events than they send to one filter, and say that they lack the rest. So some of what
  /// a relay says it lacks is asked for; if any of it comes, it is compared again in windows of few events.
  func absent(
    _ account: MirrorAccount, _ relay: String, _ own: [EventID: CopiedEvent]
  ) async throws(Refusal) -> [EventID] {
    guard let all = try await reconciled(account, relay, own) else {
      return try await absentByID(relay, Array(own.keys))
    }
    if try await isTrue(all, relay, own) { return all }
    log.info("a relay compares only some of its events; it is compared in windows", metadata: ["relay": "\(relay)"])
    var absent: [EventID] = []
    for window in CopyRules.windows(own.values.map(\.createdAt), size: Self.windowCount) {
      guard let some = try await reconciled(account, relay, own, in: window) else {
        return try await absentByID(relay, all)
      }
      absent += some
    }
    return try await isTrue(absent, relay, own) ? absent : try await absentByID(relay, all)
  }

  /// What a relay lacks by its answers to NIP-77, in a window of time; nil: it does not reconcile.
  private func reconciled(
    _ account: MirrorAccount, _ relay: String, _ own: [EventID: CopiedEvent], in window: ClosedRange<Int64>? = nil
  ) async throws(Refusal) -> [EventID]? {
    let filter = JSONValue(of: Filter(authors: [account.key]))
    let wanted = RelayReconcile(
      relay: relay, filter: filter, since: window?.lowerBound, until: window?.upperBound, account: "\(account.key)")
    let answer = try await worker.bus.ask(RelayMethod.compare, wanted)
    var absent: [EventID] = []
    while let item = try await answer.next() {
      switch item {
      case .part(let part): absent += part.ids.filter { own[$0] != nil }
      case .end(let result):
        if result.end == .complete { return absent }
        log.info("not reconciled", metadata: ["relay": "\(relay)", "why": "\(result.reason ?? "")"])
      }
    }
    return nil
  }

  /// Whether a relay sends none of some events that it says it lacks.
  private func isTrue(
    _ absent: [EventID], _ relay: String, _ own: [EventID: CopiedEvent]
  ) async throws(Refusal) -> Bool {
    guard !absent.isEmpty else { return true }
    let inOrder = absent.sorted { (own[$0]?.createdAt ?? 0, $0) < (own[$1]?.createdAt ?? 0, $1) }
    let sample = stride(from: 0, to: inOrder.count, by: max(1, inOrder.count / Self.sampleCount)).map { inOrder[$0] }
    return try await held(relay, sample).isEmpty
  }

  /// A relay may send fewer events than it has, so what is missing is asked for again until nothing of it comes.
  private func absentByID(_ relay: String, _ ids: [EventID]) async throws(Refusal) -> [EventID] {
    var absent: [EventID] = []
    var waiting = ids.sorted()[...]
    while !waiting.isEmpty {
      var missing = Set(waiting.prefix(Self.idCount))
      waiting = waiting.dropFirst(Self.idCount)
      while !missing.isEmpty {
        let came = try await held(relay, missing.sorted())
        if came.isEmpty { break }
        missing.subtract(came)
      }
      absent += missing
    }
    return absent
  }

  /// Which of some events a relay sends.
  private func held(_ relay: String, _ ids: [EventID]) async throws(Refusal) -> Set<EventID> {
    let filter = JSONValue(of: Filter(ids: ids.sorted(), limit: ids.count))
    let answer = try await worker.bus.ask(RelayMethod.request, RelayRequest(relay: relay, filters: [filter]))
    var held: Set<EventID> = []
    while let item = try await answer.next() {
      switch item {
      case .part(let part):
        // `try?`: what cannot be read is no event that was asked for.
        if let id = part.bytes.withUnsafeBytes({ try? EventGlance($0).id }) { held.insert(id) }
      case .end(let result):
        guard result.isComplete else { throw Refusal(.failed, "the relay did not send all that it was asked for") }
      }
    }
    return held.intersection(ids)
  }

  // MARK: mirror.scrub, mirror.copies

  func scrub(_ request: BusRequest, _ wanted: MirrorScrub) async throws(Refusal) -> StoreCount? {
    let relay = try wanted.relay.map { text throws(Refusal) in try Mirror.relay(text) }
    let chosen = accounts.filter { wanted.account == nil || $0.name == wanted.account }
    guard !chosen.isEmpty else {
      let words = wanted.account.map { "there is no account \($0)" } ?? "there is no account"
      throw Refusal(.noSuchAccount, words, outcome: .notStarted)
    }
    request.accept()
    var count = 0
    for account in chosen {
      if let relay { try await writing { () throws(StorageFault) in try await ledger.reopen(account.key, relay) } }
      let targets = try await targets(account)
      guard relay != nil || !targets.isEmpty else {
        throw Refusal(.noRelays, "no relay is known that \(account.name) writes to", outcome: .notStarted)
      }
      count += try await round(account, at: relay.map { [$0] } ?? targets, isWhole: relay == nil) {
        place throws(Refusal) in
        try await request.send(place, of: MirrorMethod.scrub)
      }
    }
    return StoreCount(count: count)
  }

  func copies(_ request: BusRequest, _ wanted: MirrorCopies) async throws(Refusal) -> EventCopies? {
    guard let id = EventID(wanted.id) else {
      throw Refusal(.badRequest, "'id' is not 64 lower-case hexadecimal digits", outcome: .notStarted)
    }
    let query = StoreQuery(filters: [JSONValue(of: Filter(ids: [id]))], limit: 1)
    let answer = try await worker.bus.ask(StoreMethod.query, query)
    var found: Event?
    // `try?`: the store has verified it; an event that cannot be read has no copies.
    while let part = try await answer.nextPart() { found = try? Event(json: part.bytes) }
    guard let event = found, let account = accounts.first(where: { $0.key == event.pubkey }) else {
      throw Refusal(.noSuchEvent, "\(id) is no event of your accounts that is here", outcome: .notStarted)
    }
    let isPublished = try await learnApart([id]).contains(id)
    let isLocal = isPublished ? false : try await unseen(account).contains(id)
    let apart = try await reading { () throws(StorageFault) in try await ledger.apart() }
    let lacks = try await reading { () throws(StorageFault) in try await ledger.lacks(of: id) }
    let places = try await reading { () throws(StorageFault) in try await ledger.places(account.key) }
    let round = try await reading { () throws(StorageFault) in try await ledger.round(account.key) }
    let exception = CopyRules.exception(
      event, isApart: apart.contains(id), isLocal: isLocal, at: WallClock.seconds)
    let relays = Set(places.map(\.relay) + (round?.targets ?? [])).sorted().map { relay in
      let place = places.first { $0.relay == relay }
      if let lack = lacks[relay] {
        return EventCopies.Relay(
          relay: relay, state: EventCopies.Relay.State(lack.state), at: lack.changedAt, reason: lack.reason)
      }
      // What may not be copied was not looked for, and what is younger was not there to be compared.
      guard exception == nil, let at = place?.comparedAt, event.createdAt < at else {
        return EventCopies.Relay(relay: relay, state: .unknown, reason: place?.reason)
      }
      return EventCopies.Relay(relay: relay, state: .held, at: at)
    }
    return EventCopies(id: "\(id)", account: account.name, exception: exception, relays: relays)
  }

  // MARK: mirror.status

  func status(_ account: MirrorAccount) async throws(Refusal) -> CopyStatus {
    let key = account.key
    let places = try await reading { () throws(StorageFault) in try await ledger.places(key) }
    let round = try await reading { () throws(StorageFault) in try await ledger.round(key) }
    let targets = round?.targets ?? []
    let compared = places.filter { targets.contains($0.relay) && $0.comparedAt != nil }.map(\.relay)
    let missing = try await reading { () throws(StorageFault) in try await ledger.missing(key, at: compared) }
    let repaired = try await reading { () throws(StorageFault) in
      try await ledger.repairedCount(key, at: WallClock.seconds)
    }
    let count = round?.eventCount ?? 0
    var status = CopyStatus(
      account: account.name, events: count,
      copies: CopyRules.copies(ofEvents: count, relayCount: compared.count, missing: missing), wanted: settings.copies,
      relays: places.map { CopyStatus.Relay($0) }, repaired: repaired)
    status.isRunning = running.contains(key)
    status.endedAt = round?.endedAt
    status.nextAt = schedules[key]?.nextAt(endedAt: round?.endedAt, areNew: false, at: WallClock.seconds)
    return status
  }
}

extension EventCopies.Relay.State {
  fileprivate init(_ state: CopyLedger.Lack.State) {
    switch state {
    case .open: self = .lacking
    case .taken: self = .held
    case .refused: self = .refused
    case .left: self = .left
    }
  }
}
