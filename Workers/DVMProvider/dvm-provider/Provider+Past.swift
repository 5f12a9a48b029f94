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

// What a ledger would know that is not there any more: a file that was removed, or is empty after a crash of the
// machine, cannot be told from one that was never there. Requests of the last hour still stand in the store, and would
// be answered once more. But so do the answers.

extension Provider {
  private static let storeMilliseconds: UInt32 = 30_000
  private static let retryMilliseconds: UInt64 = 500

  /// Requests that the store has an answer to: a result, or an error.
  ///
  /// - Parameters:
  ///   - key: whose answers.
  ///   - since: not older than this second; earlier requests are not taken up.
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
          // The store has verified it; what cannot be read is no answer of ours.
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

  /// The requests with which an event of ours has done: none, when it is a remark on the way.
  private static func ended(by event: Event) -> [EventID] {
    let isError = event.tags.contains { Array($0.prefix(2)) == ["status", JobStatus.error.rawValue] }
    guard event.kind != EventKind.jobFeedback || isError else { return [] }
    return event.tags.compactMap { $0.count > 1 && $0[0] == "e" ? EventID($0[1]) : nil }
  }
}
