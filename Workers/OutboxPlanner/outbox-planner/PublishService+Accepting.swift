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

// `plan.publish`. One caller at a time has an event in hand; who asks for the same one waits, and then finds what
// became of it.

/// What one caller at a time has in hand while it publishes.
enum PublishClaim: Hashable {
  case event(EventID)
  /// The place of a list: its versions are compared and stored one after the other.
  case list(EventAddress)
}

extension PublishService {
  /// Claims at a time; what would be one more is refused (`full`).
  static let claimMaximum = 4_096

  func publish(_ request: BusRequest, _ wanted: PlanPublish) async throws(Refusal) -> Publication? {
    let json = wanted.event.bytes
    let event = try Self.event(json)
    guard wanted.relays == nil || !Role.readsStrangers(request.callerRole) else {
      throw Refusal(.denied, "what a worker of this role names are 'foreignRelays'", outcome: .notStarted)
    }
    let named = try wanted.relays.map { texts throws(Refusal) in try Self.relays(texts) }
    let foreign = Self.foreignRelays(wanted.foreignRelays ?? [])
    guard !isDraining else { throw Self.draining }
    try await claim(.event(event.id))
    defer { release(.event(event.id)) }
    if try await isKnown(event.id), let first = try await first(event, json) {
      try await store(first.event, first.json, request)
      try await addRelays(named, foreign, to: event, json, lifetime: wanted.expiresAfter)
    } else {
      try Self.expectReadable(event)
      let targets = try await targets(of: event, named: named, foreign: foreign)
      // Two versions of one list, each compared with the version before both, would lose what the first has added.
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
        // Where it is still queued the store takes it later, and the list with it.
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

  /// Reads an event. That its signature is good the event store says; that the id is its own must be known before
  /// anything is done by that id.
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

  /// - Throws: `invalid-event` for a signature that is not its author's.
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

  /// What is no relay's address is left out: it is somebody else's mistake.
  private static func foreignRelays(_ texts: [String]) -> [ForeignRelayURL] {
    var relays: [ForeignRelayURL] = []
    for text in texts {
      guard let url = try? RelayURL(text), !relays.contains(ForeignRelayURL(url)) else { continue }
      relays.append(ForeignRelayURL(url))
    }
    return relays
  }

  // MARK: One at a time

  private func claim(_ claim: PublishClaim) async throws(Refusal) {
    while claims[claim] != nil { await withCheckedContinuation { claims[claim, default: []].append($0) } }
    guard claims.count < Self.claimMaximum else {
      throw Refusal(
        .full, "\(claims.count) events are being accepted already", outcome: .notStarted, retryAfterMilliseconds: 500)
    }
    claims[claim] = []
  }

  private func release(_ claim: PublishClaim) {
    for waiter in claims.removeValue(forKey: claim) ?? [] { waiter.resume() }
  }

  private func isKnown(_ id: EventID) async throws(Refusal) -> Bool {
    while queue[id] == nil, unstored[id] == nil {
      guard let row = try await row(id) else { return false }
      if row.isStored || queue[id] != nil { return true }
      // The store has refused it, and a full disk keeps it from being taken out: it is asked once more. A transaction
      // that takes it out at this moment is waited for, or what is accepted now would go with it.
      guard writer.keeps(row.publication.number) else {
        await writer.flush()
        continue
      }
      unstored[id] = row.publication
      count(id, row.publication.state)
    }
    return true
  }

  /// The copy that stands for a known event. While the store has not seen it that is the one in the ledger, which is
  /// what relays will be sent: the signature is no part of the id, and a copy by somebody else must neither take its
  /// place nor, being forged, have it refused.
  ///
  /// - Returns: nil when the copy in the ledger was the forged one, and is gone.
  private func first(_ event: Event, _ json: [UInt8]) async throws(Refusal) -> (event: Event, json: [UInt8])? {
    guard let publication = unstored[event.id] else { return (event, json) }
    let kept = try await body(of: publication)
    if kept == json { return (event, json) }
    try Self.verify(event)
    if let kept, let first = try? Event(json: kept) {  // What cannot be read is no copy.
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
    of event: Event, named: [RelayURL]?, foreign: [ForeignRelayURL]
  ) async throws(Refusal) -> [QueuedTarget] {
    switch await routes.publishRoute(event, named: named, foreign: foreign) {
    case .failure(.nowhere(let problem)): throw Refusal(.noRelays, problem.description, outcome: .notStarted)
    case .failure(.unknown(let reason)):
      throw Refusal(
        .unavailable, "it is not known yet where this goes: \(reason)", outcome: .notStarted,
        retryAfterMilliseconds: UInt32(Self.storeAgainMilliseconds))
    case .success(let choices):
      return choices.map { choice in
        QueuedTarget(
          PublicationTarget(relay: choice.url.text, state: .pending, why: choice.reason),
          manner: SendingManner(
            account: choice.account, isProtected: choice.isProtected, isForeign: choice.isForeign))
      }
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

  /// When relays that have not taken an event are given up: at the end of the time that it has here, or of its own
  /// (NIP-40), since nobody is to be shown it after that.
  func expiry(_ event: Event, _ lifetime: Int64?, _ now: Int64) -> Int64 {
    let seconds = min(lifetime ?? settings.expirySeconds(kind: event.kind), Self.lifetimeMaximum)
    return min(now + seconds, event.expiration ?? .max)
  }

  /// Refuses to send an event whose own time is over.
  func expectUnexpired(_ event: Event) throws(Refusal) {
    guard event.isExpired(at: WallClock.seconds) else { return }
    throw Refusal(.expiredEvent, "the time of \(event.id) is over (NIP-40)", outcome: .notStarted)
  }

  /// Nobody waits longer than a year.
  private static let lifetimeMaximum: Int64 = 366 * 24 * 3_600

  /// Relays that a caller names besides those that a publication has; the others are not touched.
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
    // Its bytes may be dropped already, and these take their place.
    try Self.verify(event)
    let targets: [QueuedTarget]
    do throws(Refusal) { targets = try await self.targets(of: event, named: new, foreign: newForeign) } catch {
      // That others name nothing that is used is nothing to whoever publishes.
      guard new.isEmpty, error.code == .noRelays else { throw error }
      return try await targetsWritten(event.id)
    }
    // It may have come to its end meanwhile, and been forgotten.
    guard try await inMemory(event.id) != nil else { return }
    bodies.keep(json, event.id)
    unwrittenTargets.insert(event.id)
    perform { $0.targetsAdded(targets, to: event.id, expiresAt: expiry(event, lifetime, $1.time), at: $1) }
    try await targetsWritten(event.id)
  }

  /// Waits until the relays that were added to a publication are on the disk.
  ///
  /// - Throws: that they are not yet, whoever of several callers asks. They stay in memory, are sent the event, and are
  ///   written when that is possible; only a death before that forgets them. So it is not known whether it is done.
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
