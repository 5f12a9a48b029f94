import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import RelayWishes

/// The two lines to the store: what relays had stored goes over the bulk lane, what is new over the live one.
@EventLoopActor
final class IngestLines {
  let stored: IngestLine
  let live: IngestLine
  /// Called with true when relays must wait, and with false when they need not any more.
  var onFull: (@EventLoopActor (Bool) -> Void)?
  /// Whether relays must wait.
  private(set) var isFull = false

  init(_ bus: BusConnection) {
    stored = IngestLine("store.import", bus)
    live = IngestLine("store.ingest", bus)
    for line in [stored, live] { line.onMoved = { [unowned self] in moved() } }
  }

  private func moved() {
    let isFull = stored.isFull || live.isFull
    if isFull == self.isFull { return }
    self.isFull = isFull
    onFull?(isFull)
  }
}

/// One line to the store: runs go out, and go again when the store was not there or could not write them.
@EventLoopActor
final class IngestLine {
  /// Called when something was added or answered.
  var onMoved: (@EventLoopActor () -> Void)?
  /// Whether so much waits that relays are not to be read.
  var isFull: Bool { runs.isFull }

  private let method: String
  private let bus: BusConnection
  private let log = Logger(label: "ingest")
  private var runs: IngestRuns
  private var nextName: UInt64 = 0
  private var commits: [UInt64: @EventLoopActor () -> Void] = [:]

  /// First wait after a run was refused, in milliseconds; doubled each time.
  private static let retryMilliseconds: UInt64 = 100
  /// Longest wait.
  private static let retryMaximumMilliseconds: UInt64 = 10_000

  init(_ method: String, _ bus: BusConnection) {
    self.method = method
    self.bus = bus
    runs = IngestRuns(
      limits: IngestRuns.Limits(frameByteCountMaximum: bus.welcome.frameLimit - FrameHeader.lengthMinimum))
  }

  /// Takes an event along; false when it is too large for the bus.
  func append(_ event: UnsafeRawBufferPointer, relay: String, subscription: UInt32) -> Bool {
    let isTaken = runs.append(
      event, relay: relay, subscription: subscription, receivedNanoseconds: WallClock.nanoseconds)
    send()
    return isTaken
  }

  /// Takes an end along; `onCommit` is called when it and all before it are committed.
  func end(
    relay: String, subscription: UInt32, filters: [[UInt8]], onCommit: @escaping @EventLoopActor () -> Void
  ) {
    nextName += 1
    commits[nextName] = onCommit
    runs.end(
      relay: relay, subscription: subscription, filters: filters, name: nextName,
      receivedNanoseconds: WallClock.nanoseconds)
    send()
  }

  private func send() {
    while let run = runs.next() { EventLoopActor.task { [self] in await send(run) } }
    onMoved?()
  }

  /// Sends a run until it is taken. The store knows what it has already: a second time does no harm.
  private func send(_ run: IngestRuns.Run) async {
    var wait = Self.retryMilliseconds
    while true {
      do throws(Refusal) {
        _ = try await bus.request(method, BusPayload(run.bytes, isRaw: true))
        break
      } catch {
        log.log(
          level: wait == Self.retryMilliseconds ? .info : .warning, "the store has not taken a run; it goes again",
          metadata: ["events": "\(run.eventCount)", "why": "\(error.message)", "milliseconds": "\(wait)"])
        // Nothing can be the matter with a run, but for a mistake of ours; then the rest must go on.
        if error.code == .badPayload { break }
        await EventLoopActor.sleep(milliseconds: wait)
        wait = min(wait * 2, Self.retryMaximumMilliseconds)
      }
    }
    for name in runs.answered(run.number) { commits.removeValue(forKey: name)?() }
    send()
  }
}
