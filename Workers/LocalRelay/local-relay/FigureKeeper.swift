import Clocks
import EventLoop
import LinuxSystem
import Logging
import StatusPages
import Storage
import WorkerLedger

// Takes a sample every five minutes, keeps it in memory and on disk, and has the charts of the page ready. Nothing of
// Roost depends on it: if the file cannot be opened or written, the log says so once, and the samples are in memory
// only.

/// The samples of the last thirty days.
@EventLoopActor
final class FigureKeeper {
  private let log = Logger(label: "local-relay")
  private let look: StatusCollector
  private let timer = LoopTimer()
  private var file: FigureFile?
  private var history = FigureHistory()
  private var sampler = FigureSampler()
  /// Whether the next sample is the first of this process.
  private var isFirst = true
  /// Why the last sample is not on disk.
  private var fault: StorageFault.Kind?
  /// The charts, made from the samples up to the step of this number.
  private var drawn: (step: Int64, charts: Charts)?

  /// How long after the start the first sample is taken: the other workers have started by then.
  private static let firstMilliseconds: UInt64 = 5_000

  /// - Parameters:
  ///   - look: takes the snapshots.
  ///   - directory: the worker's directory.
  init(_ look: StatusCollector, directory: String) {
    self.look = look
    do throws(StorageFault) {
      let file = try FigureFile(directory: directory, now: WallClock.seconds)
      file.rescue?.tell("the file of figures", log)
      for sample in file.samples { history.sampled(sample) }
      self.file = file
    } catch {
      log.error("figures are kept in memory only", metadata: ["why": "\(error)"])
    }
  }

  /// Starts to take samples.
  func start() { timer.set(afterMilliseconds: Self.firstMilliseconds) { [weak self] in self?.sampleDue() } }

  /// Closes the file.
  func close() throws(StorageFault) {
    timer.cancel()
    let open = file
    file = nil
    try open?.close()
  }

  /// The charts until now.
  var charts: Charts {
    let now = WallClock.seconds
    let step = now / FigureHistory.periodSeconds
    if let drawn, drawn.step == step { return drawn.charts }
    let charts = Charts(history, at: now)
    drawn = (step, charts)
    return charts
  }

  private func sampleDue() {
    EventLoopActor.task { [weak self] in
      guard let self else { return }
      await take()
      let rest = FigureHistory.periodSeconds - WallClock.seconds % FigureHistory.periodSeconds
      timer.set(afterMilliseconds: UInt64(rest) * 1_000) { [weak self] in self?.sampleDue() }
    }
  }

  private func take() async {
    let sample = sampler.sampled(await look.snapshot())
    defer { isFirst = false }
    // After a restart, the sample of these five minutes may be there; it says more, having one before it. Later a
    // sample in this place is of a clock that was set back since.
    guard !isFirst || !history.hasSample(at: sample.at) else { return }
    history.sampled(sample)
    drawn = nil
    guard let file else { return }
    do throws(StorageFault) {
      try await file.write(sample)
      if fault != nil { log.notice("figures can be written again") }
      fault = nil
    } catch {
      if fault != error.kind { log.error("a sample of figures is not on disk", metadata: ["why": "\(error)"]) }
      fault = error.kind
      guard error.kind == .corrupt else { return }
      // The next start saves what can be read.
      file.markDamaged()
      self.file = nil
    }
  }
}
