import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import WorkerLedger
import Logging
import Nostr
import PublishLedger
import PublishQueue
import Storage
import WorkerKit

// The second step of an acceptance: the event store verifies the event and keeps it as an own event.
//
// While the store is away nothing is accepted, and nothing is lost: callers wait until their time is over. An event
// whose caller got no answer is offered to the store again, by this process and by later ones.

extension PublishService {
  /// How long a caller waits for the store if it gives no time.
  static let storePatienceMilliseconds: UInt64 = 20_000
  /// How long the store has for one answer.
  static let storeAnswerMilliseconds: UInt64 = 10_000
  /// The pause between two attempts: while a caller waits, and (below) without a caller.
  static let storeSpacingMilliseconds: UInt64 = 250
  static let storeAgainMilliseconds: UInt64 = 2_000

  /// Refusals that the store would repeat.
  private static let finalRefusals: Set<RefusalCode> = [
    .invalidEvent, .superseded, .deletedEvent, .expiredEvent, .diskFull, .badRequest, .badPayload, .denied,
  ]

  /// Has a committed event stored, and then sent; does nothing if the store has it.
  ///
  /// - Throws: the store's refusal; `unavailable` when the store is away for longer than the caller waits.
  func store(_ event: Event, _ json: [UInt8], _ request: BusRequest) async throws(Refusal) {
    let patience = request.ttlMilliseconds > 0 ? UInt64(request.ttlMilliseconds) : Self.storePatienceMilliseconds
    let deadline = EventLoop.process.now.advanced(milliseconds: patience - min(patience / 10, 500))
    var isTold = false
    while unstored[event.id] != nil {
      do throws(Refusal) { return try await storeOnce(event, json, until: deadline) } catch {
        guard !Self.finalRefusals.contains(error.code) else { throw error }
        if !isTold {
          // The caller must not learn that an event is queued if the store will refuse it.
          try await requireGenuine(event)
          request.accept()
        }
        isTold = true
        guard EventLoop.process.now < deadline, !isDraining, !request.isCancelled else { throw notYet(error) }
        await EventLoopActor.sleep(milliseconds: Self.storeSpacingMilliseconds)
      }
    }
  }

  /// The store verifies signatures, but it is away.
  private func requireGenuine(_ event: Event) async throws(Refusal) {
    do throws(Refusal) { try Self.verify(event) } catch {
      await withdraw(event.id)
      throw error
    }
  }

  private func notYet(_ refusal: Refusal) -> Refusal {
    scheduleStoring()
    return Refusal(
      .unavailable, "the event store is away (\(refusal.message)); the event is queued, and sent when the store has it",
      outcome: .unknown, retryAfterMilliseconds: UInt32(Self.storeAgainMilliseconds))
  }

  private func storeOnce(_ event: Event, _ json: [UInt8], until deadline: Instant?) async throws(Refusal) {
    let left = deadline.map { max(1, $0.milliseconds(since: EventLoop.process.now)) } ?? Self.storeAnswerMilliseconds
    do throws(Refusal) {
      let result = try await worker.bus.request(
        StoreMethod.publish, SignedEvent(json), ttlMilliseconds: UInt32(min(left, Self.storeAnswerMilliseconds)))
      // The store recognises a known event by its id, without verifying the signature of this copy.
      if !result.isNew { try Self.verify(event) }
    } catch {
      if Self.finalRefusals.contains(error.code) { await withdraw(event.id) }
      throw error
    }
    guard let publication = unstored.removeValue(forKey: event.id) else { return }
    writer.note(stored: publication.number)
    perform { $0.admitted(publication, at: $1) }
    // The ledger must have this before the caller gets its answer. Otherwise a later process would offer the event to
    // the store again, and the store would refuse it if it has a newer version by then.
    await writer.flush()
    keptVersions[event.id] = nil
    await noteVersion(event)
    tellEverybody(of: event.id)
    joinInboxes(of: event, json)
  }

  /// Removes a publication that the store refuses from the ledger: its acceptance was never confirmed to a caller. A
  /// later query finds no trace of it.
  func withdraw(_ id: EventID) async {
    guard let publication = unstored.removeValue(forKey: id) else { return }
    writer.note(removed: publication.number)
    bodies.drop(id)
    uncount(id)
    await writer.flush()
    await unkeep(for: id)
  }

  // MARK: Without a caller

  private func scheduleStoring() {
    guard !unstored.isEmpty, !storeTimer.isSet, !isDraining else { return }
    storeTimer.set(afterMilliseconds: Self.storeAgainMilliseconds) { [unowned self] in storeAgain() }
  }

  /// Offers the store all publications that no caller holds.
  func storeAgain() {
    EventLoopActor.task { [self] in
      for publication in unstored.values.sorted(by: { $0.number < $1.number }) {
        guard await offer(publication) else { break }
      }
      scheduleStoring()
    }
  }

  /// Offers the store the events that it should have from the process before, one after the other. If it does not take
  /// one, the publication stays queued as accepted: a newer event has replaced it by now, or its author has deleted it.
  func offerLeft() {
    guard !leftStored.isEmpty else { return }
    worker.offerAgain("publications", ceilingMilliseconds: Self.storeAgainMilliseconds, log) {
      [self] () async throws(Refusal) in
      while let left = leftStored.last {
        var event: [UInt8]?
        // An ended publication is at its relays, and its bytes are not kept.
        if queue[left.id] != nil {
          do throws(StorageFault) { event = try await ledger.event(of: left.number) } catch {
            throw writer.health.refusal(error)
          }
        }
        leftStored.removeLast()
        if let event {
          // These bytes were read before they were accepted.
          if let parsed = try? Event(json: event) { joinInboxes(of: parsed, event) }
          return event
        }
      }
      return nil
    }
  }

  /// Offers one publication.
  ///
  /// - Returns: false when the store is away, or the ledger cannot be read.
  private func offer(_ publication: QueuedPublication) async -> Bool {
    let id = publication.id
    guard claims[.event(id)] == nil, unstored[id] != nil else { return true }
    claims[.event(id)] = []
    defer { for waiter in claims.removeValue(forKey: .event(id)) ?? [] { waiter.resume() } }
    do throws(Refusal) {
      // The ledger has no event for it, or bytes that are no event: there is nothing to send.
      guard let json = try await body(of: publication), let event = try? Event(json: json) else {
        await withdraw(id)
        return true
      }
      try await storeOnce(event, json, until: nil)
    } catch {
      guard Self.finalRefusals.contains(error.code) else { return false }
      log.warning(
        "the event store does not take a publication that was not announced",
        metadata: ["event": "\(id)", "why": "\(error.message)"])
    }
    return true
  }
}
