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

/// Reads the lists of people who are not our accounts (kinds 10002 and 10050) from the store: those that it has, in
/// batches, and all that come to it.
@EventLoopActor
final class AuthorListReader {
  /// The people to ask the store for next; empty: none.
  var next: (@EventLoopActor () -> [PublicKey])?
  /// Called with each list.
  var onList: (@EventLoopActor (Event) -> Void)?
  /// Called when the store has sent all lists of these people.
  var onRead: (@EventLoopActor ([PublicKey]) -> Void)?

  private let worker: Worker
  private let log: Logger
  private var isReading = false
  private var isFollowing = false
  /// The last seq of the store that was seen.
  private var lastSeq: Int64?

  /// The kinds of the lists.
  static let kinds: [UInt16] = [EventKind.relayList, EventKind.directMessageRelays]

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Reads all that ``next`` names. A call while it reads does nothing: it reads until all are read.
  func read() {
    follow()
    guard !isReading, next?().isEmpty == false else { return }
    isReading = true
    worker.persist("lists of relays", ceilingMilliseconds: Planner.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      while let people = next?(), !people.isEmpty {
        let filter = Filter(authors: people, kinds: Self.kinds)
        let question = BusPayload(json: StoreQuery(filters: []), filters: [filter])
        let answer = try await worker.bus.ask(StoreMethod.query, encoded: question)
        while let part = try await answer.nextPart() { take(part.bytes) }
        onRead?(people)
      }
      isReading = false
      return true
    }
  }

  /// Follows the store: it sends each new list of any author.
  private func follow() {
    guard !isFollowing else { return }
    isFollowing = true
    worker.persist("store.observe of lists of relays", ceilingMilliseconds: Planner.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      var filter = Filter(kinds: Self.kinds)
      if lastSeq == nil { filter.limit = 0 }
      var wanted = StoreObserve(filters: [JSONValue(of: filter)], afterSeq: lastSeq)
      wanted.policy = .cacheOnly
      let answer = try await worker.bus.ask(StoreMethod.observe, wanted)
      while let part = try await answer.nextPart() {
        let value = try JSONPayload.decode(JSONValue.self, from: part.bytes)
        if case .integer(let seq)? = value["seq"] { lastSeq = seq }
        if let event = value["event"] { take(JSONPayload.encode(event)) }
      }
      return false
    }
  }

  private func take(_ bytes: [UInt8]) {
    do throws(EventFault) { onList?(try Event(json: bytes)) } catch {
      log.error("an event of the store cannot be read", metadata: ["why": "\(error)"])
    }
  }
}
