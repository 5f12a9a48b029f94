import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import PeopleLedger
import Storage
import WorkerKit
import WorkerLedger

/// Gives accepted versions of lists to the publish queue, until it has them.
@EventLoopActor
final class ListPublisher {
  private let worker: Worker
  private let ledger: PeopleLedger
  private let health: LedgerHealth
  private let log: Logger
  private let hasCome = Signal()
  private var isDue = true

  /// How long the queue has to take a version.
  private static let answerMilliseconds: UInt32 = 30_000
  /// How soon versions that were not taken are handed over again, if nothing else comes.
  private static let retryMilliseconds: UInt64 = 60_000
  /// Refusals that will not pass: a newer version is there, or the queue can never take this one.
  private static let finalCodes: Set<RefusalCode> = [
    .superseded, .deletedEvent, .expiredEvent, .invalidEvent, .badRequest,
  ]

  init(_ worker: Worker, _ ledger: PeopleLedger, _ health: LedgerHealth, _ log: Logger) {
    (self.worker, self.ledger, self.health, self.log) = (worker, ledger, health, log)
  }

  /// A version was accepted.
  func wake() {
    isDue = true
    hasCome.raise()
  }

  func start() {
    worker.persist("plan.publish of lists", ceilingMilliseconds: People.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      while !worker.isDraining {
        await hasCome.wait(until: EventLoop.process.now.advanced(milliseconds: Self.retryMilliseconds)) { isDue }
        isDue = false
        do throws(Refusal) { try await publish() } catch {
          isDue = true
          throw error
        }
      }
      return true
    }
  }

  private func publish() async throws(Refusal) {
    let waiting: [PeopleLedger.Waiting]
    do throws(StorageFault) { waiting = try await ledger.waiting() } catch { throw health.refusal(error) }
    // What a newer version has replaced before it was sent need not be sent.
    var newest: [Int64: EventID] = [:]
    for version in waiting { newest[version.list] = version.event.id }
    var failure: Refusal?
    for version in waiting {
      if newest[version.list] == version.event.id {
        do throws(Refusal) { try await publish(version.event) } catch {
          failure = error
          continue
        }
      }
      do throws(StorageFault) { try await ledger.published(version) } catch {
        health.notWritten(error)
        throw health.refusal(error)
      }
    }
    if let failure { throw failure }
  }

  private func publish(_ event: Event) async throws(Refusal) {
    do throws(Refusal) {
      _ = try await worker.bus.request(
        PlanMethod.publish, PlanPublish(event: RawJSON(event.json), replace: true),
        ttlMilliseconds: Self.answerMilliseconds)
    } catch {
      guard Self.finalCodes.contains(error.code) else { throw error }
      log.warning(
        "a version of a list is not published",
        metadata: ["kind": "\(event.kind)", "id": "\(event.id)", "why": "\(error.message)"])
    }
  }
}
