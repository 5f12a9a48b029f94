import Bus
import Contracts
import EventArchive
import EventIndex
import EventLoop
import Frames
import Nostr
import NostrContracts
import Observations
import Storage
import WorkerKit

/// The observers of all callers: which events each is sent, where a named one continues, and what the planner reads of
/// them. The rules are in `Observations`.
@EventLoopActor
final class Observers {
  /// Called with notes to be written; the request, if one waits for them, is answered when they are committed.
  var onNotes: (@EventLoopActor ([ArchiveNote], BusRequest?) -> Void)?

  let reads: ArchiveReads
  let relays: RelayNumbers
  /// All up to this seq has been announced.
  private(set) var announcedSeq: Int64
  private(set) var sightings = SightingLog()
  /// Bytes of events that wait for all observers.
  var waitingByteCount = 0

  private let worker: Worker
  private var live = LiveFilters<UInt64>()
  private var senders: [UInt64: ObservationSender] = [:]
  private var lastNumber: UInt64 = 0
  /// Senders that have events to send when all is announced that is to be announced now.
  private var due: [ObservationSender] = []
  /// Senders that read the sightings; while there are no such senders, none is logged.
  private var sightingWatcherCount = 0
  /// Senders whose parts name the relay of a version.
  private var supersededTakerCount = 0
  private var versions = RecentVersions()
  /// Copies of stored events, of the last transaction, which are looked at when its events are announced.
  private var copies: [(seq: Int64, relay: Int64)] = []
  private var table = ObserveTable(generation: Int64(UInt64.random(in: 1..<1 << 53)))
  private var marks: ObserveMarks
  private var names = ObservedNames()
  private var publisher: TopicPublisher<ObserveChanges>?

  /// Bytes of entries in one message of the topic; an entry that has more goes alone.
  private static let changesByteMaximum = 256 << 10

  init(_ worker: Worker, _ reads: ArchiveReads, _ relays: RelayNumbers, _ marks: ObserveMarks) {
    (self.worker, self.reads, self.relays, self.marks) = (worker, reads, relays, marks)
    announcedSeq = reads.archive.lastSeq
    publisher = TopicPublisher(worker.bus, StoreTopic.observes) { [unowned self] in
      table.takeChanges(byteMaximum: Self.changesByteMaximum)
    }
    worker.serve(StoreMethod.observe, observe)
    worker.serve(StoreMethod.acknowledge, acknowledge)
    worker.serve(StoreMethod.fetched, fetched)
    worker.serve(StoreMethod.listObserves) { [unowned self] (request, _) throws(Refusal) in try await list(request) }
  }

  /// How many there are.
  var count: Int { senders.count }

  // MARK: Events

  /// An event was committed; an ephemeral one, without a seq, was accepted.
  func announce(_ event: VerifiedEvent, _ seq: Int64?) {
    if let seq { announcedSeq = max(announcedSeq, seq) }
    let listeners = live.listeners(for: event.indexed) { SearchedText(json: event.json) }
    guard !listeners.isEmpty else { return }
    let announced = AnnouncedEvent(event, seq)
    var named: AnnouncedEvent?
    let isVersion =
      supersededTakerCount > 0 && [.replaceable, .addressable].contains(KindClass(event.indexed.kind))
    for listener in listeners {
      guard let sender = senders[listener] else { continue }
      guard isVersion, sender.takesSuperseded else {
        sender.arrived(announced)
        continue
      }
      let part = named ?? AnnouncedEvent(event, seq, relay: event.relay.flatMap { relays.url(of: $0) })
      named = part
      sender.arrived(part)
    }
    if named != nil, let seq { versions.announced(event, seq) }
  }

  /// An event was not stored, since a newer one is in its place.
  func announceSuperseded(_ event: VerifiedEvent) {
    guard supersededTakerCount > 0 else { return }
    let listeners = live.listeners(for: event.indexed) { SearchedText(json: event.json) }
    let announced = AnnouncedEvent(event, nil, relay: event.relay.flatMap { relays.url(of: $0) })
    for listener in listeners where senders[listener]?.takesSuperseded == true {
      senders[listener]?.arrived(announced)
    }
  }

  /// A sender has events for ``flush()``.
  func isDue(_ sender: ObservationSender) { due.append(sender) }

  /// All is announced for now.
  func flush() {
    // After a version is replaced, `store.seen` no longer knows it: observers that take replaced versions are sent each
    // relay's copy.
    for copy in copies {
      if let event = versions.sighted(copy.seq, at: copy.relay) { announceSuperseded(event) }
    }
    copies.removeAll(keepingCapacity: true)
    for sender in due { sender.flush() }
    due.removeAll(keepingCapacity: true)
  }

  /// A batch was committed: relays may have sent events in it that were stored before.
  func committed(_ entries: [ArchiveEntry], _ commit: ArchiveCommit) {
    if supersededTakerCount > 0 {
      for (entry, outcome) in zip(entries, commit.outcomes) {
        if case .duplicate(let seq) = outcome, let relay = entry.relay { copies.append((seq, relay)) }
      }
    }
    guard sightingWatcherCount > 0 else { return }
    let end = sightings.end
    for (entry, outcome) in zip(entries, commit.outcomes) {
      guard case .duplicate(let seq) = outcome, let relay = entry.relay else { continue }
      let isNew = commit.newSightings.contains(SeenPlace(seq: seq, relay: relay))
      sightings.append(Sighting(seq: seq, relay: relay, isNew: isNew))
    }
    guard sightings.end > end else { return }
    for sender in senders.values where sender.plan.watchesSightings { sender.sighted() }
  }

  /// The store is to finish.
  func drain() {
    for sender in senders.values { sender.drain() }
  }

  // MARK: store.observe

  private func observe(
    _ request: BusRequest, _ asked: StoreObserve, _ filters: [Filter]
  ) async throws(Refusal) -> Nothing? {
    let wanted = try ObserveArguments(request, asked, filters, frameLimit: reads.frameLimit)
    if let seq = wanted.afterSeq { try checkIsHere(seq, "afterSeq") }
    let fetchedAt = try await fetchedAt(wanted)
    guard !request.isCancelled else { throw Refusal(.cancelled, "cancelled by the caller", outcome: .notStarted) }
    guard senders.count < ObservationSender.maximum else {
      throw Refusal(
        .full, "\(senders.count) observations are under way already, as many as there may be", outcome: .notStarted)
    }
    let owner = owner(of: request)
    let plan = wanted.plan
    // Nothing is awaited from here until the sender is among the listeners.
    lastNumber += 1
    let number = lastNumber
    let sender = ObservationSender(request, wanted, after: resumeSeq(wanted, owner), self)
    senders[number] = sender
    if plan.watchesSightings { sightingWatcherCount += 1 }
    if sender.takesSuperseded { supersededTakerCount += 1 }
    live.add(number, plan.filters, for: wanted.recipients)
    let name = wanted.id.map { ObserverName(caller: request.caller.rawValue, id: $0) }
    let replaced = table.begin(
      number, plan, maxAge: wanted.maxAge, fetchedAt: fetchedAt, name: name,
      trace: RequestTrace(rawValue: request.trace), now: Store.now)
    if let replaced { senders[replaced]?.replaced() }
    publishChanges()
    if let id = wanted.id {
      names.began(owner: owner, id: id, plan: plan.placeKey)
      if let seq = wanted.afterSeq { mark(owner, id, plan.placeKey, seq, answering: nil) }
    }
    request.accept()
    request.onCancel = { sender.cancelled() }
    let refusal = await sender.run()
    senders[number] = nil
    if plan.watchesSightings { sightingWatcherCount -= 1 }
    if sender.takesSuperseded { supersededTakerCount -= 1 }
    live.remove(number)
    table.end(number)
    publishChanges()
    throw refusal
  }

  private func resumeSeq(_ wanted: ObserveArguments, _ owner: String) -> Int64? {
    if let seq = wanted.afterSeq { return seq }
    return wanted.id.flatMap { marks.resumeSeq(owner: owner, id: $0, plan: wanted.plan.placeKey) }
  }

  /// When the network was last asked; nil when it does not matter.
  private func fetchedAt(_ wanted: ObserveArguments) async throws(Refusal) -> Int64? {
    let plan = wanted.plan
    guard wanted.maxAge > 0, plan.policy == .cacheWithNetwork else { return nil }
    // Each of exclusive relays speaks for itself; one without a number has never sent anything.
    let numbers = plan.isExclusive ? plan.relays.map { relays.known($0) } : nil
    if let numbers, numbers.contains(nil) { return nil }
    let keys = plan.isExclusive ? plan.filters.map { FilterKey([$0]) } : [plan.fetchKey]
    return try await reads.read { [reads] () throws(StorageFault) in
      try await reads.archive.fetchedAt(keys, relays: numbers?.compactMap { $0 })
    }
  }

  private func checkIsHere(_ seq: Int64, _ name: String) throws(Refusal) {
    guard seq > announcedSeq else { return }
    throw Refusal(
      "unknown-seq", "'\(name)' is \(seq), and the last event here is \(announcedSeq): it is from another database",
      outcome: .notStarted)
  }

  // MARK: store.acknowledge

  /// Whose names an observation's name is among: a worker's, or those of all clients, which have no names of their own.
  private func owner(of request: BusRequest) -> String {
    guard let role = request.callerRole else { return Role.client.name }
    return worker.bus.registry.member(at: request.caller, role: role)?.name ?? Role.client.name
  }

  private func acknowledge(_ request: BusRequest, _ wanted: StoreAcknowledge) throws(Refusal) -> Nothing? {
    try checkIsHere(wanted.seq, "seq")
    let owner = owner(of: request)
    let name = ObserverName(caller: request.caller.rawValue, id: wanted.id)
    // Of several observers under one name the one on this connection counts, else the last that began.
    let plan =
      table.plan(of: name) ?? names.plan(owner: owner, id: wanted.id) ?? marks.plan(owner: owner, id: wanted.id)
    guard let plan else {
      throw Refusal(
        .noSuchObserve,
        "\(owner == Role.client.name ? "no client" : owner) has observed under the id '\(wanted.id)' since this store began, nor "
          + "acknowledged before: observe under it first", outcome: .notStarted)
    }
    mark(owner, wanted.id, plan, wanted.seq, answering: request)
    return nil
  }

  private func mark(_ owner: String, _ id: String, _ plan: FilterKey, _ seq: Int64, answering request: BusRequest?) {
    let (mark, forgotten) = marks.acknowledge(owner: owner, id: id, plan: plan, seq: seq, now: Store.now)
    var notes = [ArchiveNote.marked(mark)]
    if let forgotten { notes.append(.unmarked(owner: forgotten.owner, id: forgotten.id)) }
    onNotes?(notes, request)
  }

  // MARK: For the planner

  private func fetched(_ request: BusRequest, _ fetch: StoreFetched, _ filters: [Filter]) throws(Refusal) -> Nothing? {
    let plan = ObservePlan(filters, relays: try ObserveArguments.relays(fetch.relays ?? []))
    onNotes?([.fetched(plan.fetchKey, relay: nil, at: min(fetch.at ?? Store.now, Store.now))], request)
    return nil
  }

  private func list(_ request: BusRequest) async throws(Refusal) -> ObserveListEnd? {
    request.accept()
    let (list, version) = (table.takeList(), table.version)
    for entry in list { try await request.send(entry, of: StoreMethod.listObserves) }
    return ObserveListEnd(generation: table.generation, version: version, count: list.count)
  }

  private func publishChanges() {
    if table.hasChanges { publisher?.begin() }
  }
}
