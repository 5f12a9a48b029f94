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

// Observers, by name and without, and what the planner is told of them. The rules are in `Observations`; here they meet
// the bus.

extension Store {
  // MARK: store.observe

  func observe(_ request: BusRequest, _ asked: StoreObserve, _ filters: [Filter]) async throws(Refusal) -> Nothing? {
    let wanted = try ObserveArguments(request, asked, filters, frameLimit: worker.bus.welcome.frameLimit)
    if let seq = wanted.afterSeq { try checkIsHere(seq, "afterSeq") }
    let fetchedAt = try await fetchedAt(wanted)
    guard !request.isCancelled else { throw Refusal(.cancelled, "cancelled by the caller", outcome: .notStarted) }
    guard observations.count < ObservationSender.maximum else {
      throw Refusal(
        .full, "\(observations.count) observations are under way already, as many as there may be", outcome: .notStarted
      )
    }
    let owner = owner(of: request)
    // Nothing is awaited from here until it listens.
    let number = nextObservation
    nextObservation += 1
    let observation = ObservationSender(request, wanted, after: resumeSeq(wanted, owner), self)
    observations[number] = observation
    if wanted.plan.watchesSightings { sightingWatcherCount += 1 }
    live.add(number, wanted.plan.filters, for: wanted.recipients)
    let name = wanted.id.map { ObserverName(caller: request.caller.rawValue, id: $0) }
    let replaced = observes.begin(
      number, wanted.plan, maxAge: wanted.maxAge, fetchedAt: fetchedAt, name: name, now: Self.now)
    if let replaced { observations[replaced]?.replaced() }
    tellObserves()
    if let id = wanted.id { observedNames.began(owner: owner, id: id, plan: wanted.plan.placeKey) }
    if let id = wanted.id, let seq = wanted.afterSeq { mark(owner, id, wanted.plan.placeKey, seq, answering: nil) }
    request.accept()
    request.onCancel = { observation.cancelled() }
    let refusal = await observation.run()
    observation.forget()
    observations[number] = nil
    if wanted.plan.watchesSightings { sightingWatcherCount -= 1 }
    live.remove(number)
    observes.end(number)
    tellObserves()
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
    let archive = archive
    do throws(StorageFault) {
      guard plan.isExclusive else {
        return try await reads.read { () throws(StorageFault) in
          try await archive.fetchedAt([plan.fetchKey], relays: nil)
        }
      }
      // Each relay speaks for itself; one without a number has never sent anything.
      let numbers = plan.relays.compactMap { relays.known($0) }
      guard numbers.count == plan.relays.count else { return nil }
      return try await reads.read { () throws(StorageFault) in
        try await archive.fetchedAt(plan.filters.map { FilterKey([$0]) }, relays: numbers)
      }
    } catch {
      failed(error)
      throw refusal(error)
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

  func acknowledge(_ request: BusRequest, _ told: StoreAcknowledge) throws(Refusal) -> Nothing? {
    try checkIsHere(told.seq, "seq")
    let owner = owner(of: request)
    let name = ObserverName(caller: request.caller.rawValue, id: told.id)
    // Of several observers under one name the one on this connection is meant, else the last that began.
    let plan =
      observes.plan(of: name) ?? observedNames.plan(owner: owner, id: told.id) ?? marks.plan(owner: owner, id: told.id)
    guard let plan else {
      throw Refusal(
        .noSuchObserve,
        "\(owner == Role.client.name ? "no client" : owner) has observed under the id '\(told.id)' since this store began, nor "
          + "acknowledged before: observe under it first", outcome: .notStarted)
    }
    mark(owner, told.id, plan, told.seq, answering: request)
    return nil
  }

  private func mark(_ owner: String, _ id: String, _ plan: FilterKey, _ seq: Int64, answering request: BusRequest?) {
    let (mark, forgotten) = marks.acknowledge(owner: owner, id: id, plan: plan, seq: seq, now: Self.now)
    var notes = [ArchiveNote.marked(mark)]
    if let forgotten { notes.append(.unmarked(owner: forgotten.owner, id: forgotten.id)) }
    write(notes, answering: request)
  }

  // MARK: For the planner

  func fetched(_ request: BusRequest, _ told: StoreFetched, _ filters: [Filter]) throws(Refusal) -> Nothing? {
    let plan = ObservePlan(filters, relays: try ObserveArguments.relays(told.relays ?? []))
    write([.fetched(plan.fetchKey, relay: nil, at: min(told.at ?? Self.now, Self.now))], answering: request)
    return nil
  }

  func listObserves(_ request: BusRequest) async throws(Refusal) -> ObserveListEnd? {
    request.accept()
    let (list, version) = (observes.takeList(), observes.version)
    for entry in list { try await request.send(entry, of: StoreMethod.listObserves) }
    return ObserveListEnd(generation: observes.generation, version: version, count: list.count)
  }

  /// Sends what has changed, one message after the other, until all has been told.
  private func tellObserves() {
    guard !isTellingObserves, observes.hasChanges else { return }
    isTellingObserves = true
    EventLoopActor.task { [self] in
      while let changes = observes.takeChanges(byteMaximum: Self.changesByteMaximum) {
        await tell(StoreTopic.observes, changes)
      }
      isTellingObserves = false
    }
  }

  /// Tells one message, and waits until every worker that has subscribed has acknowledged it: so a slow one holds the
  /// credit of one message, and not all that answers to others need. A version that is left out last would be missed by
  /// nobody, so while there is no room for it it is tried again; who refuses it sees the gap.
  func tell<Message>(_ topic: Topic<Message>, _ message: Message) async {
    while true {
      do throws(Refusal) { return try await worker.bus.publish(topic, message, needsAck: true) } catch {
        guard error.code == .full else { return }
        await EventLoopActor.sleep(milliseconds: Self.tellAgainMilliseconds)
      }
    }
  }

  /// Bytes of entries in one message of the topic; an entry that has more goes alone.
  private static let changesByteMaximum = 256 << 10
  private static let tellAgainMilliseconds: UInt64 = 100
}
