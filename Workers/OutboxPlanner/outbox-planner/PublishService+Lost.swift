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

// Recovers what a damaged ledger has lost of its publications: the event store has the events, and their routes follow
// from them. Relays that a caller had named are lost.

extension PublishService {
  private static let storeMilliseconds: UInt32 = 10_000
  private static let routeAgainMilliseconds: UInt64 = 60_000

  /// The event of a publication from the event store; nil when the store does not have it.
  func storedBody(_ id: EventID) async throws(Refusal) -> [UInt8]? {
    let wanted = StoreQuery(filters: [JSONValue(of: Filter(ids: [id]))], limit: 1)
    let answer = try await worker.bus.ask(StoreMethod.query, wanted, ttlMilliseconds: Self.storeMilliseconds)
    var event: [UInt8]?
    while let part = try await answer.nextPart() { event = part.bytes }
    return event
  }

  /// Finds relays for publications that have lost theirs, and resumes them.
  func routeAgain() {
    guard !unrouted.isEmpty else { return }
    worker.persist("routing publications again", ceilingMilliseconds: Self.routeAgainMilliseconds, log) {
      [self] () async throws(Refusal) in
      defer { storeAgain() }
      var waiting = 0
      while let row = unrouted.last {
        guard let json = try await body(of: row.publication), let event = try? Event(json: json) else {
          // Neither the ledger nor the store has the event: there is nothing to send.
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
          // Its relays may be known later; the other publications do not wait for that.
          unrouted.insert(next, at: 0)
          waiting += 1
          guard waiting < unrouted.count else { throw error }
          continue
        }
        unrouted.removeLast()
        resume(routed)
        // If the store does not have it yet, its relays are written when it is sent.
        if queue[event.id] != nil { writer.note(changed: event.id) }
      }
      return true
    }
  }
}
