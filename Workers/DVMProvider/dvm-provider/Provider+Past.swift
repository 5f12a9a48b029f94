import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import WorkerKit

// What a missing ledger would have known. A ledger that was removed, or is empty after a crash of the machine, looks
// like one that never existed. Requests of the last hour are still in the store and would be answered once more. But
// the answers are there too.

extension Provider {
  private static let storeMilliseconds: UInt32 = 30_000
  private static let retryMilliseconds: UInt64 = 500

  /// Requests to which the store has an answer: a result, or an error.
  ///
  /// - Parameters:
  ///   - key: the author of the answers.
  ///   - since: answers from this second on, since 1970; earlier requests are not taken up.
  func answeredBefore(by key: PublicKey, since: Int64) async -> Set<EventID> {
    let kinds = Array(EventKind.jobResults) + [EventKind.jobFeedback]
    let filter = Filter(authors: [key], kinds: kinds, since: since)
    while bus.isOpen, !isDraining {
      do throws(Refusal) {
        let answer = try await bus.ask(
          StoreMethod.query, StoreQuery(filters: [JSONValue(of: filter)]),
          ttlMilliseconds: Self.storeMilliseconds)
        var answered: Set<EventID> = []
        while let part = try await answer.nextPart() {
          // The store has verified the event; one that cannot be read is not an answer of ours.
          guard let event = try? Event(json: part.bytes) else { continue }
          answered.formUnion(Self.ended(by: event))
        }
        if !answered.isEmpty {
          log.notice(
            "there is no ledger, and requests were answered before: these are not taken up again",
            metadata: ["requests": "\(answered.count)"])
        }
        return answered
      } catch {
        log.debug("the store does not say what was answered", metadata: ["why": "\(error.message)"])
        await EventLoopActor.sleep(milliseconds: Self.retryMilliseconds)
      }
    }
    return []
  }

  /// The requests that an event of ours has settled; none if it is a remark in between.
  private static func ended(by event: Event) -> [EventID] {
    let isError = event.tags.contains { Array($0.prefix(2)) == ["status", JobStatus.error.rawValue] }
    guard event.kind != EventKind.jobFeedback || isError else { return [] }
    return event.tags.compactMap { $0.count > 1 && $0[0] == "e" ? EventID($0[1]) : nil }
  }
}
