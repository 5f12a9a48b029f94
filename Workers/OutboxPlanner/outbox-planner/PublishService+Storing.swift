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

// The second step of an acceptance: the event store verifies the event and keeps it as one's own.
//
// While the store is away nothing is accepted, and nothing is lost: callers wait as long as they have said, and what
// they were not told of goes on being offered to the store, in this process and in the next ones.

extension PublishService {
  /// How long a caller waits for the store who did not say.
  static let storePatienceMilliseconds: UInt64 = 20_000
  /// How long the store has for one answer.
  static let storeAnswerMilliseconds: UInt64 = 10_000
  /// Between two attempts while a caller waits, and without one.
  static let storeSpacingMilliseconds: UInt64 = 250
  static let storeAgainMilliseconds: UInt64 = 2_000

  /// What the store does not take, whenever it is asked.
  private static let finalRefusals: Set<RefusalCode> = [
    .invalidEvent, .superseded, .deletedEvent, .expiredEvent, .diskFull, .badRequest, .badPayload, .denied,
  ]

  /// Has a committed event stored, and then sent; does nothing when it is.
  ///
  /// - Throws: what the store refuses with; `unavailable` when it is away for longer than the caller waits.
  func store(_ event: Event, _ json: [UInt8], _ request: BusRequest) async throws(Refusal) {
    let patience = request.ttlMilliseconds > 0 ? UInt64(request.ttlMilliseconds) : Self.storePatienceMilliseconds
    let deadline = EventLoop.process.now.advanced(milliseconds: patience - min(patience / 10, 500))
    var isTold = false
    while unstored[event.id] != nil {
      do throws(Refusal) { return try await storeOnce(event, json, until: deadline) } catch {
        guard !Self.finalRefusals.contains(error.code) else { throw error }
        if !isTold {
          // Nobody is told that something is queued which the store will refuse.
          try await requireGenuine(event)
          request.accept()
        }
        isTold = true
        guard EventLoop.process.now < deadline, !isDraining, !request.isCancelled else { throw notYet(error) }
        await EventLoopActor.sleep(milliseconds: Self.storeSpacingMilliseconds)
      }
    }
  }

  /// The store looks at signatures, but it is away.
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
      // What it knows it knows by the id, and has not looked at this copy's signature.
      if !result.isNew { try Self.verify(event) }
    } catch {
      if Self.finalRefusals.contains(error.code) { await withdraw(event.id) }
      throw error
    }
    guard let publication = unstored.removeValue(forKey: event.id) else { return }
    writer.note(stored: publication.number)
    perform { $0.admitted(publication, at: $1) }
    // Whoever is told "accepted" is told so by every later process: one that did not know would ask the store again,
    // which may have something newer by then.
    await writer.flush()
    keptVersions[event.id] = nil
    await noteVersion(event)
    tellEverybody(of: event.id)
  }

  /// Takes a publication that the store refuses out of the ledger: nobody was told that it is accepted. Whoever asks
  /// again then finds no trace of it.
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

  /// Offers the store all that nobody has in hand.
  func storeAgain() {
    EventLoopActor.task { [self] in
      for publication in unstored.values.sorted(by: { $0.number < $1.number }) {
        guard await offer(publication) else { break }
      }
      scheduleStoring()
    }
  }

  /// Offers the store what it should have of the last process, one after the other. What it does not take stays queued
  /// as it was accepted: a newer event has its place by now, or its author has deleted it.
  func offerLeft() {
    guard !leftStored.isEmpty else { return }
    worker.offerAgain("publications", ceilingMilliseconds: Self.storeAgainMilliseconds, log) {
      [self] () async throws(Refusal) in
      while let left = leftStored.last {
        var event: [UInt8]?
        // What has ended meanwhile is at its relays, and its bytes are not kept.
        if queue[left.id] != nil {
          do throws(StorageFault) { event = try await ledger.event(of: left.number) } catch {
            throw writer.health.refusal(error)
          }
        }
        leftStored.removeLast()
        if let event { return event }
      }
      return nil
    }
  }

  /// Offers one publication; false when the store is away, or the ledger cannot be read.
  private func offer(_ publication: QueuedPublication) async -> Bool {
    let id = publication.id
    guard claims[.event(id)] == nil, unstored[id] != nil else { return true }
    claims[.event(id)] = []
    defer { for waiter in claims.removeValue(forKey: .event(id)) ?? [] { waiter.resume() } }
    do throws(Refusal) {
      // In the ledger without its event, or with what is none: there is nothing to send.
      guard let json = try await body(of: publication), let event = try? Event(json: json) else {
        await withdraw(id)
        return true
      }
      try await storeOnce(event, json, until: nil)
    } catch {
      guard Self.finalRefusals.contains(error.code) else { return false }
      log.warning(
        "a publication that nobody was told of is not taken by the event store",
        metadata: ["event": "\(id)", "why": "\(error.message)"])
    }
    return true
  }
}
