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
  let log = Logger(label: "people")
  private let profiles: ProfileKeeper
  private(set) lazy var health = LedgerHealth("the ledger of lists", log) { [ledger] in ledger.markDamaged() }

  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    let settings = try worker.settings(of: PeopleSettings.self)
    profiles = ProfileKeeper(worker, log, memoryBytes: settings.profileBytes)
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
    profiles.start()
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onDrain = { [unowned self] in profiles.drain() }
    worker.onEnd = { [unowned self] in
      do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
  }

  private func settingsChanged() {
    do throws(Refusal) { profiles.memoryIs(try worker.settings(of: PeopleSettings.self).profileBytes) } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  private func status() async throws(Refusal) -> PeopleStatus {
    do throws(StorageFault) {
      let counts = try await ledger.counts()
      return PeopleStatus(lists: counts.lists, versions: counts.versions, waiting: counts.waiting)
    } catch { throw health.refusal(error) }
  }
}
