import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import PeopleLedger
import Storage
import WorkerKit
import WorkerLedger

/// Serves `people.*`. Each of its parts is a class of its own, which serves its methods and can be drained.
@EventLoopActor
final class People {
  let worker: Worker
  let ledger: PeopleLedger
  let feeds: FeedService
  let log = Logger(label: "people")
  private(set) lazy var health = LedgerHealth("the ledger of lists", log) { [ledger] in ledger.markDamaged() }

  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    feeds = FeedService(worker, log)
    do throws(StorageFault) {
      ledger = try PeopleLedger(directory: directory, now: WallClock.seconds)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    ledger.rescue?.tell("the ledger of lists", log)
  }

  /// Starts to serve.
  func start() {
    worker.serve(PeopleMethod.status) { [unowned self] (_, _) throws(Refusal) in try await status() }
    feeds.start()
    worker.onDrain = { [unowned self] in feeds.drain() }
    worker.bus.onEvent = { [unowned self] in received($0) }
    worker.persist("signer.changes", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      try await worker.bus.subscribe(SignerTopic.changes)
      return true
    }
    worker.onEnd = { [unowned self] in
      do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
  }

  /// The longest wait after a failure of another worker.
  private static let retryMillisecondsMaximum: UInt64 = 10_000

  private func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { feeds.accountsAre(changes.accounts) }
    } catch {
      log.error("the signer's accounts cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  private func status() async throws(Refusal) -> PeopleStatus {
    do throws(StorageFault) {
      let counts = try await ledger.counts()
      return PeopleStatus(lists: counts.lists, versions: counts.versions, waiting: counts.waiting)
    } catch { throw health.refusal(error) }
  }
}
