import Bus
import Contracts
import DataKeys
import EventLoop
import Frames
import LinuxSystem
import Logging
import PeopleLedger
import PersonAccounts
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
  private(set) lazy var forgetter = Forgetter(worker, ledger, health)
  let accounts: AccountBook
  let lists: ListKeeper
  private let profiles: ProfileKeeper
  /// The keys under which the parts seal what only an unlocked account may read.
  let dataKeys: DataKeys
  private(set) lazy var health = LedgerHealth("the ledger of lists", log) { [ledger] in ledger.markDamaged() }

  /// The longest wait after a failure of another worker.
  static let retryMillisecondsMaximum: UInt64 = 10_000

  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    feeds = FeedService(worker, log)
    let settings = try worker.settings(of: PeopleSettings.self)
    profiles = ProfileKeeper(worker, log, memoryBytes: settings.profileBytes)
    do throws(StorageFault) {
      ledger = try PeopleLedger(directory: directory, now: WallClock.seconds)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    ledger.rescue?.tell("the ledger of lists", log)
    dataKeys = DataKeys(worker.bus, Self.texts(ledger))
    accounts = AccountBook(worker, log)
    lists = ListKeeper(worker, ledger, accounts, dataKeys, log)
  }

  /// Starts to serve.
  func start() {
    forgetter.onForgotten = { [unowned self] in
      dataKeys.drop($0)
      lists.forget($0)
    }
    forgetter.start()
    worker.serve(PeopleMethod.status) { [unowned self] (_, _) throws(Refusal) in try await status() }
    worker.bus.onEvent = { [unowned self] in received($0) }
    worker.bus.onRegistry = { [unowned self] _ in accounts.ask() }
    worker.onDrain = { [unowned self] in
      accounts.drain()
      lists.drain()
      profiles.drain()
      feeds.drain()
    }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onEnd = { [unowned self] in
      do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
    lists.start()
    accounts.start()
    profiles.start()
    feeds.start()
  }

  private static func texts(_ ledger: PeopleLedger) -> DataKeys.Texts {
    DataKeys.Texts(
      reading: { account throws(StorageFault) in try await ledger.dataKeyText(of: account) },
      keeping: { account, text throws(StorageFault) in try await ledger.keep(dataKeyText: text, of: account) })
  }

  private func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) {
        accounts.received(changes.accounts)
        feeds.accountsAre(changes.accounts)
        dataKeys.accountsAre(changes.accounts)
      }
      if let states = try event.value(of: RelayTopic.states) { lists.connected(states) }
      if let publication = try event.value(of: PlanTopic.published) { lists.published(publication) }
    } catch {
      log.error("an event of a topic cannot be read", metadata: ["why": "\(error.message)"])
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
