import Bus
import EventArchive
import EventGate
import EventLoop
import Frames
import LinuxSystem
import Logging
import Storage
import Synchronization
import WorkerKit

// How the database is opened. That is quick unless the file is damaged: then a thread verifies every event of it again,
// and the supervisor, which hears of the progress, waits.

extension Store {
  /// How often the supervisor hears of a rescue's progress.
  private static let progressMilliseconds: UInt64 = 2_000
  /// How much longer the start may take each time.
  private static let extensionMilliseconds: UInt32 = 30_000

  /// Opens the database in a directory, or the events that a rescue saves of it.
  static func open(
    _ worker: Worker, directory: String
  ) async throws(Refusal) -> (EventArchive, ArchiveRescue?) {
    var settings = StorageSettings(durability: .normal)
    settings.readerCount = ReadSlots.count + EventGate.jobMaximum + EventGate.localJobMaximum
    let progress = RescueProgress()
    let timer = LoopTimer()
    tell(progress, worker, timer)
    defer { timer.cancel() }
    let opened = await EventLoopActor.onThreadPool { [settings] in
      do throws(StorageFault) {
        return Result<_, StorageFault>.success(
          try EventArchive.openOrRescue(
            path: directory + "/events.db", settings: settings, now: WallClock.seconds, progress: progress.reached))
      } catch { return .failure(error) }
    }
    do throws(StorageFault) { return try opened.get() } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
  }

  /// Asks for more time as long as there is progress.
  private static func tell(_ progress: RescueProgress, _ worker: Worker, _ timer: LoopTimer) {
    timer.set(afterMilliseconds: progressMilliseconds) {
      if let count = progress.take() {
        worker.bus.sendExtend(milliseconds: extensionMilliseconds)
        worker.bus.sendStatus(StatusReport(text: "saving a damaged database: \(Amount.count(count, "event")) so far"))
      }
      tell(progress, worker, timer)
    }
  }

  /// Logs what was lost before this start.
  func reportLosses(_ rescue: ArchiveRescue?) {
    if let rescue {
      log.error(
        "the event database was damaged: it was put aside, and a new one holds what could be read",
        metadata: [
          "aside": "\(rescue.quarantinePath)", "saved": "\(rescue.savedCount)",
          "lost": "\(rescue.lostCount.map { "\($0)" } ?? "unknown")", "damaged": "\(rescue.damagedCount)",
          "why": "\(rescue.reason ?? "found damaged in use")",
        ])
    }
    if let lost = archive.lostSeqs {
      log.error(
        "committed events are missing: the log was damaged, the power was lost, or the file was removed or replaced",
        metadata: ["first-seq": "\(lost.lowerBound)", "last-seq": "\(lost.upperBound)"])
    }
  }
}

/// The progress of a rescue, from its thread to the loop.
private final class RescueProgress: Sendable {
  private let savedCount = Mutex<Int?>(nil)

  /// On the rescue's thread.
  func reached(_ rescue: ArchiveRescue) { savedCount.withLock { $0 = rescue.savedCount } }

  /// How many events are saved; nil when nothing was done since the last call.
  func take() -> Int? {
    savedCount.withLock { count in
      defer { count = nil }
      return count
    }
  }
}
