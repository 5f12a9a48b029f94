import Addresses
import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerLedger
import Logging
import Nostr
import OutboxRouting
import PublishLedger
import PublishQueue
import Storage
import WorkerKit

// `plan.publish`. One caller at a time holds the claim on an event; a second caller with the same event waits, and then
// receives the same publication.

/// What one caller at a time holds while it publishes.
enum PublishClaim: Hashable {
  case event(EventID)
  /// The address of a list: its versions are compared and stored one after the other.
  case list(EventAddress)
}

extension PublishService {
  /// Most claims at a time; a further one is refused (`full`).
  static let claimMaximum = 4_096

  func publish(_ request: BusRequest, _ wanted: PlanPublish) async throws(Refusal) -> Publication? {
    let json = wanted.event.bytes
    let event = try Self.event(json)
    try refuseForgotten(event)
    guard wanted.relays == nil || !Role.readsStrangers(request.callerRole) else {
      throw Refusal(.denied, "what a worker of this role names are 'foreignRelays'", outcome: .notStarted)
    }
    let named = try wanted.relays.map { texts throws(Refusal) in try Self.relays(texts) }
    let foreign = Self.foreignRelays(wanted.foreignRelays ?? [])
    guard wanted.agreedRelays == nil || request.callerRole == Role.linkFeed.number else {
      throw Refusal(
        .denied, "only link-feed names 'agreedRelays', those that an account has agreed to for a contact",
        outcome: .notStarted)
    }
    let agreed = try wanted.agreedRelays.map { texts throws(Refusal) in try Self.relays(texts) } ?? []
    guard !isDraining else { throw Self.draining }
    try await claim(.event(event.id))
    defer { release(.event(event.id)) }
    note(request, about: event.id)
    if try await isKnown(event.id), let first = try await first(event, json) {
      try await store(first.event, first.json, request)
      try await addRelays(named, foreign, to: event, json, lifetime: wanted.expiresAfter)
    } else {
      try Self.expectReadable(event)
      let targets = try await targets(of: event, named: named, foreign: foreign, agreed: agreed)
      // If two versions of one list were both compared with the version before them, the second would drop what the
      // first added.
      let list = ListEntries.areLists(ofKind: event.kind) ? EventAddress(of: event) : nil
      if let list { try await claim(.list(list)) }
      defer { if let list { release(.list(list)) } }
      let isMeant = wanted.replace ?? false
      if let (stored, loss) = try await replaced(by: event, isMeant: isMeant, named: named) {
        keptVersions[event.id] = try await keep(
          stored, loss, for: event, mustKeep: request.callerRole != Role.localRelay.number)
      }
      do throws(Refusal) {
        try await accept(event, json, targets, lifetime: wanted.expiresAfter)
        try await store(event, json, request)
      } catch {
        // While it is queued, the store takes it later, and the replaced list must stay with it.
        if unstored[event.id] == nil { await unkeep(for: event.id) }
        throw error
      }
    }
    guard var publication = try await publication(event.id) else {
      throw Refusal(.failed, "\(event.id) is forgotten already", outcome: .done)
    }
    publication.remarks = await remarks(on: event)
    return publication
  }

  static var draining: Refusal {
    Refusal(
      .unavailable, "outbox-planner is stopping; ask again", outcome: .notStarted, retryAfterMilliseconds: 500)
  }

  /// Reads an event. The event store verifies the signature; the id must be verified here, before anything is done by
  /// it.
  private static func event(_ json: [UInt8]) throws(Refusal) -> Event {
    do throws(EventFault) {
      let event = try Event(json: json)
      let right = event.unsigned.id
      guard event.id == right else { throw .wrongID(right) }
      return event
    } catch {
      throw Refusal(.invalidEvent, "\(error)", outcome: .notStarted)
    }
  }

  /// - Throws: `invalid-event` for a signature that is not by the event's author.
  static func verify(_ event: Event) throws(Refusal) {
    do throws(EventFault) { try event.verify() } catch {
      throw Refusal(.invalidEvent, "\(error)", outcome: .notStarted)
    }
  }

  static func relays(_ texts: [String]) throws(Refusal) -> [RelayURL] {
    var relays: [RelayURL] = []
    for text in texts {
      do throws(RelayURLFault) {
        let relay = try RelayURL(text)
        if !relays.contains(relay) { relays.append(relay) }
      } catch {
        throw Refusal(.badRequest, "'relays': \(error)", outcome: .notStarted)
      }
    }
    return relays
  }

  /// Text that is no relay URL is left out: it is not the caller's mistake.
  private static func foreignRelays(_ texts: [String]) -> [ForeignRelayURL] {
    var relays: [ForeignRelayURL] = []
    for text in texts {
      guard let url = try? RelayURL(text), !relays.contains(ForeignRelayURL(url)) else { continue }
      relays.append(ForeignRelayURL(url))
    }
    return relays
  }

  // MARK: One at a time

  func claim(_ claim: PublishClaim) async throws(Refusal) {
    while claims[claim] != nil { await withCheckedContinuation { claims[claim, default: []].append($0) } }
    guard claims.count < Self.claimMaximum else {
      throw Refusal(
        .full, "\(claims.count) events are being accepted already", outcome: .notStarted, retryAfterMilliseconds: 500)
    }
    claims[claim] = []
  }

  func release(_ claim: PublishClaim) {
    for waiter in claims.removeValue(forKey: claim) ?? [] { waiter.resume() }
  }

  private func isKnown(_ id: EventID) async throws(Refusal) -> Bool {
    while queue[id] == nil, unstored[id] == nil {
      guard let row = try await row(id) else { return false }
      if row.isStored || queue[id] != nil { return true }
      // The store has refused it, and a full disk keeps the row from being removed: the event is offered to the store
      // once more. If the transaction that removes the row is in flight, wait for it, or it would remove what is
      // accepted now as well.
      guard writer.keeps(row.publication.number) else {
        await writer.flush()
        continue
      }
      unstored[id] = row.publication
      count(id, row.publication.state)
    }
    return true
  }

  /// The copy that counts for a known event. Until the store has the event, that is the copy in the ledger, which
  /// relays will be sent. The id does not cover the signature, so a copy by another sender must not replace it, and a
  /// forged copy must not get it refused.
  ///
  /// - Returns: nil when the copy in the ledger was the forged one, and was removed.
  private func first(_ event: Event, _ json: [UInt8]) async throws(Refusal) -> (event: Event, json: [UInt8])? {
    guard let publication = unstored[event.id] else { return (event, json) }
    let kept = try await body(of: publication)
    if kept == json { return (event, json) }
    try Self.verify(event)
    if let kept, let first = try? Event(json: kept) {  // Bytes that cannot be read are no copy.
      do throws(Refusal) {
        try Self.verify(first)
        return (first, kept)
      } catch { log.warning("a forged copy makes room for the event", metadata: ["event": "\(event.id)"]) }
    }
    await withdraw(event.id)
    return nil
  }

  // MARK: Committing

  func targets(
    of event: Event, named: [RelayURL]?, foreign: [ForeignRelayURL], agreed: [RelayURL] = []
  ) async throws(Refusal) -> [QueuedTarget] {
    switch await planner.publishRoute(event, named: named, foreign: foreign, agreed: agreed) {
    case .failure(.nowhere(let problem)): throw Refusal(.noRelays, problem.description, outcome: .notStarted)
    case .failure(.unknown(let reason)):
      throw Refusal(
        .unavailable, "it is not known yet where this goes: \(reason)", outcome: .notStarted,
        retryAfterMilliseconds: UInt32(Self.storeAgainMilliseconds))
    case .success(let choices): return choices.map { QueuedTarget($0) }
    }
  }

  private func accept(
    _ event: Event, _ json: [UInt8], _ targets: [QueuedTarget], lifetime: Int64?
  ) async throws(Refusal) {
    guard queue.count + unstored.count + claims.count <= queue.limits.publicationMaximum else {
      throw Refusal(
        .full, "\(queue.count) publications are under way already", outcome: .notStarted, retryAfterMilliseconds: 5_000)
    }
    lastNumber += 1
    let now = WallClock.seconds
    let publication = QueuedPublication(
      number: lastNumber, id: event.id, author: event.pubkey, kind: event.kind, acceptedAt: now,
      expiresAt: expiry(event, lifetime, now), targets: targets)
    try await writer.accept(LedgerBatch.Acceptance(publication, event: json))
    bodies.keep(json, event.id)
    count(event.id, publication.state)
    unstored[event.id] = publication
  }

  /// When attempts end for relays that have not taken an event: after its lifetime here, or at its own expiration
  /// (NIP-40), after which it must not be shown.
  func expiry(_ event: Event, _ lifetime: Int64?, _ now: Int64) -> Int64 {
    let seconds = min(lifetime ?? settings.expirySeconds(kind: event.kind), Self.lifetimeMaximum)
    return min(now + seconds, event.expiration ?? .max)
  }

  /// Refuses to send an event whose own time is over.
  func expectUnexpired(_ event: Event) throws(Refusal) {
    guard event.isExpired(at: WallClock.seconds) else { return }
    throw Refusal(.expiredEvent, "the time of \(event.id) is over (NIP-40)", outcome: .notStarted)
  }

  /// Longest lifetime: a year.
  private static let lifetimeMaximum: Int64 = 366 * 24 * 3_600

  /// Adds relays that a caller names to those of a publication; those it has do not change.
  private func addRelays(
    _ named: [RelayURL]?, _ foreign: [ForeignRelayURL], to event: Event, _ json: [UInt8], lifetime: Int64?
  ) async throws(Refusal) {
    guard named != nil || !foreign.isEmpty, let known = try await inMemory(event.id) else { return }
    func isNew(_ relay: RelayURL) -> Bool { !known.targets.contains { $0.relay == relay.text } }
    let new = (named ?? []).filter(isNew)
    let room = max(0, PlanPublish.relayMaximum - known.targets.count - new.count)
    let newForeign = Array(foreign.filter { isNew($0.url) && !new.contains($0.url) }.prefix(room))
    defer { putBack(event.id) }
    guard !new.isEmpty || !newForeign.isEmpty else { return try await targetsWritten(event.id) }
    try expectUnexpired(event)
    guard known.targets.count + new.count <= PlanPublish.relayMaximum else {
      throw Refusal(
        .badRequest, "an event has \(PlanPublish.relayMaximum) relays at most", outcome: .notStarted)
    }
    // Its bytes may be dropped already; then this copy replaces them.
    try Self.verify(event)
    let targets: [QueuedTarget]
    do throws(Refusal) { targets = try await self.targets(of: event, named: new, foreign: newForeign) } catch {
      // If none of the foreign relays is used, that does not matter to the caller.
      guard new.isEmpty, error.code == .noRelays else { throw error }
      return try await targetsWritten(event.id)
    }
    // The publication may have ended meanwhile, and been removed.
    guard try await inMemory(event.id) != nil else { return }
    add(targets, to: event, json, lifetime: lifetime)
    try await targetsWritten(event.id)
  }

  /// Adds targets to a publication that is in memory. Its bytes may have been dropped, so they are kept again.
  func add(_ targets: [QueuedTarget], to event: Event, _ json: [UInt8], lifetime: Int64?) {
    bodies.keep(json, event.id)
    unwrittenTargets.insert(event.id)
    perform { $0.targetsAdded(targets, to: event.id, expiresAt: expiry(event, lifetime, $1.time), at: $1) }
  }

  /// Waits until the relays that were added to a publication are on the disk.
  ///
  /// - Throws: if they are not, to each of several callers. The relays stay in memory, are sent the event, and are
  ///   written when that is possible; only a crash before that loses them. So the outcome is unknown.
  private func targetsWritten(_ id: EventID) async throws(Refusal) {
    guard unwrittenTargets.contains(id) else { return }
    // Also while the disk is known to be full: there may be room again.
    repeat { await writer.flush(id) } while unwrittenTargets.contains(id) && writer.isBusy && writer.health.fault == nil
    guard unwrittenTargets.contains(id), let fault = writer.health.fault else { return }
    let refusal = writer.health.refusal(fault)
    throw Refusal(
      refusal.code,
      "the added relays are sent the event, and are not written down yet: that is done when it is possible; "
        + refusal.message, outcome: .unknown, retryAfterMilliseconds: refusal.retryAfterMilliseconds)
  }
}

extension QueuedTarget {
  /// A relay that an event has not been sent to.
  init(_ choice: RelayChoice) {
    self.init(
      PublicationTarget(relay: choice.url.text, state: .pending, why: choice.reason),
      manner: SendingManner(account: choice.account, isProtected: choice.isProtected, isForeign: choice.isForeign))
  }
}
