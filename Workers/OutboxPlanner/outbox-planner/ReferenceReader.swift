import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Nostr
import NostrContracts
import OutboxRouting
import WorkerKit

/// Reads from the store which events refer to those that are wanted by their ids, and where they were seen.
@EventLoopActor
final class ReferenceReader {
  /// The ids to ask the store for next; empty: none.
  var next: (@EventLoopActor () -> [EventID])?
  /// Called with each event that refers to one of them, and the relays where it was seen.
  var onEvent: (@EventLoopActor (Event, [String]) -> Void)?
  /// Called when the store has sent all that refer to these.
  var onRead: (@EventLoopActor ([EventID]) -> Void)?

  private let worker: Worker
  private let log: Logger
  private var isReading = false

  /// The most events of one answer that are looked at, the newest.
  private static let eventMaximum = 200
  /// Events of one answer of which it is asked where they were seen.
  private static let seenMaximum = 8

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Reads all that ``next`` names. A call while it reads does nothing: it reads until all are read.
  func read() {
    guard !isReading, next?().isEmpty == false else { return }
    isReading = true
    worker.persist("events that name others", ceilingMilliseconds: Planner.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      while let ids = next?(), !ids.isEmpty {
        let lacking = try await missing(ids)
        if !lacking.isEmpty { for event in try await referring(to: lacking) { onEvent?(event.event, event.relays) } }
        onRead?(ids)
      }
      isReading = false
      return true
    }
  }

  /// Those that the store does not have: no relay needs to be found for the others.
  private func missing(_ ids: [EventID]) async throws(Refusal) -> [EventID] {
    var lacking = Set(ids)
    for event in try await events([Filter(ids: ids)], limit: ids.count) { lacking.remove(event.id) }
    return lacking.sorted()
  }

  private func referring(to ids: [EventID]) async throws(Refusal) -> [(event: Event, relays: [String])] {
    let values = ids.map { TagValue($0.description) }
    let filters = ["e", "q"].compactMap { TagLetter($0) }.map { Filter(tags: [$0: values]) }
    var found: [(event: Event, relays: [String])] = []
    for event in try await events(filters, limit: Self.eventMaximum) {
      var relays: [String] = []
      if found.count < Self.seenMaximum {
        do throws(Refusal) {
          let seen = try await worker.bus.request(StoreMethod.seen, StoreSeen(id: event.id.description))
          relays = seen.relays.map(\.relay)
        } catch {
          // The event may be gone by now.
          guard error.code == .noSuchEvent else { throw error }
        }
      }
      found.append((event, relays))
    }
    return found
  }

  private func events(_ filters: [Filter], limit: Int) async throws(Refusal) -> [Event] {
    let query = StoreQuery(filters: filters.map { JSONValue(of: $0) }, limit: limit)
    let answer = try await worker.bus.ask(StoreMethod.query, query)
    var events: [Event] = []
    while let part = try await answer.nextPart() {
      do throws(EventFault) { events.append(try Event(json: part.bytes)) } catch {
        log.error("an event of the store cannot be read", metadata: ["why": "\(error)"])
      }
    }
    return events
  }
}
