import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import PublishLedger
import PublishQueue
import WorkerKit

// What a damaged ledger has lost of its publications, and can be had again: events stand in the event store, and where
// they are sent follows from them. Relays that a caller had named are lost.

extension PublishService {
  private static let storeMilliseconds: UInt32 = 10_000
  private static let routeAgainMilliseconds: UInt64 = 60_000

  /// The event of a publication as the event store has it; nil when it has none.
  func storedBody(_ id: EventID) async throws(Refusal) -> [UInt8]? {
    let wanted = StoreQuery(filters: [JSONValue(of: Filter(ids: [id]))], limit: 1)
    let answer = try await worker.bus.ask(StoreMethod.query, wanted, ttlMilliseconds: Self.storeMilliseconds)
    var event: [UInt8]?
    while let part = try await answer.nextPart() { event = part.bytes }
    return event
  }

  /// Finds relays for publications that have lost theirs, and sends them there.
  func routeAgain() {
    guard !unrouted.isEmpty else { return }
    worker.persist("routing publications again", ceilingMilliseconds: Self.routeAgainMilliseconds, log) {
      [self] () async throws(Refusal) in
      defer { storeAgain() }
      var waiting = 0
      while let row = unrouted.last {
        guard let json = try await body(of: row.publication), let event = try? Event(json: json) else {
          // Neither here nor in the store: there is nothing to send.
          writer.note(removed: row.publication.number)
          unrouted.removeLast()
          continue
        }
        var routed = row
        do throws(Refusal) {
          routed.publication.add(try await targets(of: event, named: nil, foreign: []))
        } catch {
          let next = unrouted.removeLast()
          guard WallClock.seconds < row.publication.expiresAt else {
            log.warning(
              "a publication has lost its relays, and expired before others were known",
              metadata: ["event": "\(row.publication.id)", "why": "\(error.message)"])
            writer.note(removed: row.publication.number)
            continue
          }
          // Relays may be known later, and the others are not to wait for that.
          unrouted.insert(next, at: 0)
          waiting += 1
          guard waiting < unrouted.count else { throw error }
          continue
        }
        unrouted.removeLast()
        resume(routed)
        // One that the store is still to see is written when it is sent.
        if queue[event.id] != nil { writer.note(changed: event.id) }
      }
      return true
    }
  }
}
