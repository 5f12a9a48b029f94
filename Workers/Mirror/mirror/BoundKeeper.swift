import Bus
import Clocks
import Contracts
import CopyLedger
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Mirroring
import Nostr
import NostrContracts
import Storage
import WorkerKit
import WorkerLedger

/// Performs what ``KeepBounds`` decides: has the store count and remove, and writes floors down.
@EventLoopActor
final class BoundKeeper {
  private(set) var bounds = KeepBounds()
  /// Called when other events are to be fetched than before.
  var onChange: (@EventLoopActor () -> Void)?
  /// How often the fetches of a class were ended.
  private(set) var stopCounts: [KeptClass: Int] = [:]

  /// Classes over their bound of which nothing could be removed: they are not fetched meanwhile.
  private(set) var stuck: Set<KeptClass> = []

  private let bus: BusConnection
  private let ledger: CopyLedger
  private let log: Logger
  private lazy var health = LedgerHealth("the ledger of copies", log) { [ledger] in ledger.markDamaged() }
  private var interests: [MirrorInterest] = []
  private var spared: [PublicKey] = []
  private var isRecalled = false
  private let timer = LoopTimer()
  private let touchTimer = LoopTimer()
  /// Classes with events that were not counted yet.
  private var touched: Set<KeptClass> = []
  /// The new events that have come, by the mirror's own count, at the last look.
  private var liveCount: UInt64 = 0

  /// How often classes are looked at while nothing is fetched.
  private static let lookMilliseconds: UInt64 = 60_000
  /// How soon a class that is not due is looked at again.
  private static let touchMilliseconds: UInt64 = 1_000
  /// Followed people who are not strangers; events of further ones go as those of strangers do. So a request fits a
  /// frame.
  private static let sparedMaximum = 3_000

  init(_ worker: Worker, _ ledger: CopyLedger, _ log: Logger) {
    (bus, self.ledger, self.log) = (worker.bus, ledger, log)
  }

  /// What is kept, whom the accounts follow, and the bounds.
  func adopt(_ interests: [MirrorInterest], follows: [PublicKey], _ wishes: MirrorWishes) {
    self.interests = interests
    spared = Array(Set(follows).sorted().prefix(Self.sparedMaximum))
    var maximums: [KeptClass: Int64] = [:]
    for (kind, byteMaximum) in wishes.byteMaximums { maximums[KeptClass(kind)] = byteMaximum }
    for keep in wishes.keeps { maximums[KeptClass(keep: keep.name, keep.filter.canonical)] = keep.byteMaximum }
    perform(bounds.adopt(maximums))
  }

  /// Reads what was written down before. Nothing is fetched before that.
  ///
  /// - Returns: whether it is known.
  func recall() async -> Bool {
    guard !isRecalled else { return true }
    do throws(StorageFault) {
      let floors = try await ledger.floors()
      guard !isRecalled else { return true }
      isRecalled = true
      var known: [KeptClass: KeepBounds.Floor] = [:]
      for (name, floor) in floors {
        guard let kept = KeptClass(name) else { continue }  // Of a later version.
        known[kept] = KeepBounds.Floor(
          since: floor.since, sparedSince: floor.sparedSince, at: floor.at, byteMaximum: floor.byteMaximum)
      }
      perform(bounds.recalled(known))
      return true
    } catch {
      health.leaveIfDamaged(error)
      log.error("the bounds are not known", metadata: ["why": "\(error)"])
      return false
    }
  }

  /// From when on what one of the kept filters matches is fetched; nil: from the beginning.
  func floor(of filter: Filter) -> Int64? {
    interests.first { $0.filters.contains(filter) }.flatMap { bounds.floor(of: $0.kept)?.since }
  }

  func drain() {
    timer.cancel()
    touchTimer.cancel()
  }

  // MARK: Looking

  /// Looks at all classes now and then, as long as new events come. `count` says how many have come.
  func watch(_ count: @escaping @EventLoopActor () -> UInt64) {
    timer.set(afterMilliseconds: Self.lookMilliseconds) { [unowned self] in
      watch(count)
      guard count() != liveCount else { return }
      liveCount = count()
      for kept in Set(interests.map(\.kept)) { touch(kept) }
    }
  }

  /// Events of a class may have come: they are counted as soon as that is due.
  func touch(_ kept: KeptClass) {
    guard bounds.isBounded(kept) else { return }
    touched.insert(kept)
    lookAtTouched()
  }

  private func lookAtTouched() {
    for kept in touched where bounds.isMeasureDue(kept, at: EventLoop.process.now) {
      touched.remove(kept)
      EventLoopActor.task { [self] in await look(at: kept) }
    }
    guard !touched.isEmpty, !touchTimer.isSet else { return }
    touchTimer.set(afterMilliseconds: Self.touchMilliseconds) { [unowned self] in lookAtTouched() }
  }

  /// Counts the bytes of a class if that is due, and has removed what is too much.
  func look(at kept: KeptClass) async {
    guard bounds.isMeasureDue(kept, at: EventLoop.process.now) else { return }
    bounds.measureBegan(kept)
    let began = EventLoop.process.now
    let filters = KeptFilters(of: kept, interests, bounds, spared: [], at: WallClock.seconds).filters
    var byteCount: Int64?
    do throws(Refusal) {
      var wanted = StoreQuery(filters: filters.map { JSONValue(of: $0) })
      wanted.bytes = true
      byteCount = filters.isEmpty ? nil : try await bus.request(StoreMethod.count, wanted).bytes
    } catch {
      log.info("not measured", metadata: ["what": "\(kept)", "why": "\(error.message)"])
    }
    let actions = bounds.measured(
      kept, byteCount, began: began, at: EventLoop.process.now, wall: WallClock.seconds)
    if byteCount != nil, actions.isEmpty { stuck.remove(kept) }
    await performAll(actions)
  }

  // MARK: Actions

  private func perform(_ actions: [KeepBounds.Action]) {
    guard !actions.isEmpty else { return }
    EventLoopActor.task { [self] in await performAll(actions) }
  }

  private func performAll(_ actions: [KeepBounds.Action]) async {
    for action in actions {
      switch action {
      case .stopFetching(let kept): stopCounts[kept, default: 0] += 1
      case .trim(let kept, let byteCount): await trim(kept, byteCount)
      case .remember(let kept, let floor):
        await remember(kept, floor)
        onChange?()
      case .tell(let kept): tell(kept)
      }
    }
  }

  private func trim(_ kept: KeptClass, _ byteCount: Int64) async {
    let wanted = KeptFilters(of: kept, interests, bounds, spared: spared, at: WallClock.seconds)
    guard !wanted.filters.isEmpty else { return }
    do throws(Refusal) {
      // What the people wrote whom an account follows has no strangers in it.
      let last = kept.kind == .follows ? [] : spared.map(\.description)
      let result = try await bus.request(
        StoreMethod.trim,
        StoreTrim(
          filters: wanted.filters.map { JSONValue(of: $0) }, bytes: byteCount, spared: last,
          keep: wanted.kept.map { JSONValue(of: $0) }))
      stuck.remove(kept)
      log.info(
        "over its bound: the oldest are removed",
        metadata: ["what": "\(kept)", "removed": "\(result.removed)", "bytes": "\(result.bytes)"])
      await performAll(bounds.trimmed(kept, result, wall: WallClock.seconds))
    } catch {
      stuck.insert(kept)
      log.warning("over its bound, and nothing is removed", metadata: ["what": "\(kept)", "why": "\(error.message)"])
    }
  }

  private func remember(_ kept: KeptClass, _ floor: KeepBounds.Floor?) async {
    let row = floor.map {
      CopyLedger.Floor(since: $0.since, sparedSince: $0.sparedSince, at: $0.at, byteMaximum: $0.byteMaximum)
    }
    do throws(StorageFault) { try await ledger.remember(row, of: kept.description) } catch { health.notWritten(error) }
  }

  private func tell(_ kept: KeptClass) {
    guard let floor = bounds.floor(of: kept) else { return }
    let bound = bounds.all.first { $0.kind == kept.kind && $0.name == kept.name }
    log.notice(
      "full: what is older is not fetched",
      metadata: [
        "what": "\(kept)", "bytes": "\(bound?.bytes ?? 0)", "maximum": "\(bound?.byteMaximum ?? 0)",
        "older-than": "\(floor.since)",
      ])
  }
}
