import Addresses
import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerLedger
import Logging
import Nostr
import PublishLedger
import PublishQueue
import Storage
import WorkerKit

// Queries about publications, and the two changes that a user can make: retry and cancel.
//
// Publications that have not ended are in memory, ended ones in the ledger, and for a moment one is in both. Then
// memory is right.

extension PublishService {
  /// Publications in an answer if the caller gives no limit.
  static let listStandard = 100

  // MARK: Queries

  /// A publication as callers see it; nil when it was never accepted, or was removed.
  func publication(_ id: EventID) async throws(Refusal) -> Publication? {
    await recorded(id)
    if let publication = queue.publication(id, at: moment) { return publication }
    // It waits for the event store. Its caller knows that it is queued, or has left.
    if let waiting = unstored[id] { return waiting.publication }
    guard let row = try await row(id), row.isStored else { return nil }
    // Another request may have brought it into memory meanwhile.
    return queue.publication(id, at: moment) ?? row.publication.publication
  }

  /// Waits until the present state of a publication is written, or cannot be. Then what a caller reads is still true
  /// after a crash.
  private func recorded(_ id: EventID) async {
    while !queue.isRecorded(id), writer.isBusy, writer.health.fault == nil { await writer.flush(id) }
  }

  func row(_ id: EventID) async throws(Refusal) -> LedgerRow? {
    do throws(StorageFault) { return try await ledger.row(id) } catch { throw writer.health.refusal(error) }
  }

  /// The event of a publication: from memory, from the ledger, or from the event store if a damaged ledger has lost it;
  /// nil when none of them has it.
  func body(of publication: QueuedPublication) async throws(Refusal) -> [UInt8]? {
    if let event = bodies[publication.id] { return event }
    do throws(StorageFault) {
      let event = try await ledger.event(of: publication.number)
      if let event {
        bodies.keep(event, publication.id)
        return event
      }
    } catch {
      log.error("an event cannot be read", metadata: ["event": "\(publication.id)", "why": "\(error)"])
      throw writer.health.refusal(error)
    }
    let event = try await storedBody(publication.id)
    if let event { bodies.keep(event, publication.id) }
    return event
  }

  /// A publication in the queue's machine; an ended one is loaded from the ledger. Nil when it is unknown.
  func inMemory(_ id: EventID) async throws(Refusal) -> QueuedPublication? {
    if let publication = queue[id] { return publication }
    guard let row = try await row(id), row.isStored else { return nil }
    if queue[id] == nil {
      perform { $0.admitted(row.publication, at: $1) }
      adopt(id, row.publication.state)
    }
    return queue[id]
  }

  static func id(_ text: String) throws(Refusal) -> EventID {
    guard let id = EventID(text) else {
      throw Refusal(
        .badRequest, "'id' is not 64 lower-case hexadecimal digits: \(text.prefix(80))", outcome: .notStarted)
    }
    return id
  }

  static func unknown(_ id: EventID) -> Refusal {
    Refusal(.noSuchEvent, "\(id) was never accepted for publishing, or is forgotten", outcome: .notStarted)
  }

  static func noRelay(_ relay: String, _ id: String) -> Refusal {
    Refusal(.noSuchRelay, "\(id) is not published to \(relay)", outcome: .notStarted)
  }

  // MARK: plan.publications

  func list(_ request: BusRequest, _ wanted: PlanPublications) async throws(Refusal) -> StoreCount? {
    let limit = min(wanted.limit ?? Self.listStandard, PublishLedger.pageMaximum)
    var found: [Publication]
    if let ids = wanted.ids {
      found = []
      for text in ids.prefix(limit) {
        guard let publication = try await publication(try Self.id(text)) else { continue }
        if wanted.states?.contains(publication.state) ?? true { found.append(publication) }
      }
    } else if let age = wanted.olderThan {
      let old = queue.open(acceptedUntil: WallClock.seconds - age).compactMap { queue.publication($0.id, at: moment) }
      found = Array(old.filter { wanted.states?.contains($0.state) ?? true }.prefix(limit))
    } else {
      found = try await newest(in: wanted.states, limit)
    }
    for publication in found { try await request.send(publication, of: PlanMethod.publications) }
    return StoreCount(count: found.count)
  }

  private func newest(in states: [Publication.State]?, _ limit: Int) async throws(Refusal) -> [Publication] {
    var found: [(number: Int64, publication: Publication)] = []
    var endedCount = 0
    var before = Int64.max
    do throws(StorageFault) {
      while endedCount < limit {
        let rows = try await ledger.rows(in: states, before: before, limit: limit)
        for row in rows where row.isStored && queue[row.publication.id] == nil {
          found.append((row.publication.number, row.publication.publication))
          endedCount += 1
        }
        guard rows.count == limit, let last = rows.last else { break }
        before = last.publication.number
      }
    } catch {
      throw writer.health.refusal(error)
    }
    // No await until they are chosen: a publication that was only in the ledger may be in memory now.
    found.removeAll { entry in EventID(entry.publication.id).map { queue[$0] != nil } ?? false }
    for id in queue.ids {
      guard let number = queue[id]?.number, let publication = queue.publication(id, at: moment) else { continue }
      if states?.contains(publication.state) ?? true { found.append((number, publication)) }
    }
    for waiting in unstored.values where queue[waiting.id] == nil {
      if states?.contains(waiting.state) ?? true { found.append((waiting.number, waiting.publication)) }
    }
    var told: [Publication] = []
    for (_, known) in found.sorted(by: { $0.number > $1.number }).prefix(limit) {
      guard let id = EventID(known.id), !queue.isRecorded(id) else {
        told.append(known)
        continue
      }
      // Its state may have changed meanwhile.
      guard let publication = try await publication(id), states?.contains(publication.state) ?? true else { continue }
      told.append(publication)
    }
    return told
  }

  // MARK: plan.retry, plan.cancel

  func tryAgain(_ request: BusRequest, _ wanted: PlanPublication) async throws(Refusal) -> Publication? {
    note(request, about: try Self.id(wanted.id))
    let event = try await event(named: try Self.id(wanted.id))
    if let event { try expectUnexpired(event) }
    return try await change(request, wanted) { queue, id, relay, moment in
      // Without its event, every relay has it, and nothing is sent.
      let expiry = event.map { self.expiry($0, nil, moment.time) } ?? moment.time
      return queue.retried(id, relay: relay, expiresAt: expiry, at: moment)
    }
  }

  /// Sends what has waited for long. Publications that the event store has not taken yet wait for the store, and not
  /// for a relay: they are sent when the store has them.
  func retryUnsent(_ request: BusRequest, _ wanted: PlanRetryUnsent) async throws(Refusal) -> RetriedPublications? {
    let old = queue.open(acceptedUntil: WallClock.seconds - wanted.olderThan)
    var answer = RetriedPublications(publications: old.count, relays: 0, oldestAt: old.first?.acceptedAt)
    for publication in old {
      note(request, about: publication.id)
      perform { queue, moment in
        queue.retriedOpen(publication.id, withEnded: wanted.withFailed == true, at: moment)
      }
      answer.relays += queue[publication.id]?.targets.count(where: \.isOpen) ?? 0
    }
    for publication in old { await writer.flush(publication.id) }
    if let fault = writer.health.fault { throw writer.health.refusal(fault) }
    return answer
  }

  /// The event of a publication; nil when the publication is unknown, or every relay has it.
  private func event(named id: EventID) async throws(Refusal) -> Event? {
    guard let known = try await inMemory(id) else { return nil }
    defer { putBack(id) }
    guard let bytes = try await body(of: known) else { return nil }
    return try? Event(json: bytes)  // It was read before it was accepted.
  }

  func cancel(_ request: BusRequest, _ wanted: PlanPublication) async throws(Refusal) -> Publication? {
    if let waiting = unstored[try Self.id(wanted.id)] { return try await cancel(waiting, wanted, request) }
    return try await change(request, wanted) { queue, id, relay, moment in queue.cancelled(id, relay: relay, at: moment)
    }
  }

  /// Cancels a publication that waits for the event store: it is removed from the ledger without a trace.
  private func cancel(
    _ waiting: QueuedPublication, _ wanted: PlanPublication, _ request: BusRequest
  ) async throws(Refusal) -> Publication {
    try Self.expectMayCancel(waiting.kind, request)
    guard wanted.relay == nil else {
      throw Refusal(
        .unavailable, "\(waiting.id) waits for the event store; it can be called off at all its relays, or later",
        outcome: .notStarted)
    }
    await withdraw(waiting.id)
    var told = waiting.publication
    told.state = .cancelled
    for index in told.targets.indices { told.targets[index].state = .cancelled }
    return told
  }

  /// A client may change any publication; a worker, such as the tracker, may change job requests only.
  private static func expectMayCancel(_ kind: UInt16, _ request: BusRequest) throws(Refusal) {
    let isAllowed =
      switch request.callerRole {
      case Role.client.number: true
      case Role.linkFeed.number: kind == EventKind.giftWrap || kind == EventKind.encryptedDirectMessage
      default: EventKind.jobRequests.contains(kind)
      }
    guard !isAllowed else { return }
    throw Refusal(.denied, "a worker of this role does not call off events of kind \(kind)", outcome: .notStarted)
  }

  /// Changes a publication; answers when the change is written.
  private func change(
    _ request: BusRequest, _ wanted: PlanPublication,
    _ step: (inout PublishQueue, EventID, String?, Moment) -> [PublishAction]
  ) async throws(Refusal) -> Publication {
    let id = try Self.id(wanted.id)
    let relay = try wanted.relay.map { text throws(Refusal) in try Self.relays([text])[0].text }
    guard let known = try await inMemory(id) else { throw Self.unknown(id) }
    defer { putBack(id) }
    try Self.expectMayCancel(known.kind, request)
    if let relay, !known.targets.contains(where: { $0.relay == relay }) { throw Self.noRelay(relay, wanted.id) }
    perform { step(&$0, id, relay, $1) }
    await writer.flush(id)
    guard let publication = try await publication(id) else { throw Self.unknown(id) }
    return publication
  }
}
