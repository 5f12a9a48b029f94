import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerLedger
import Logging
import Nostr
import PushLedger
import PushRules
import Storage
import WorkerKit

// The shell of `WakeMatcher`: reads the store for the keys that have devices, and writes wakes into the ledger, where
// they are brought from as any other.
//
//    event-store ── store.observe ──▶ WakeMatcher ──▶ PushWriter ──▶ ledger's queue ──▶ Dispatcher
//                   from the seq that                one transaction: the wakes, the events'
//                   stands in the ledger             ids, the seq
//
// The next page is read when the last one is written: a ledger that cannot be written stops the reading, and the
// store's credit does the rest. Relays are asked by another observation, of which nothing is read here: what it fetches
// comes to the store.
//
// Who registers is answered when the store is being read for him, if that does not take long: what comes from the
// answer on wakes him.

/// Follows the store's events.
@EventLoopActor
final class EventFollower {
  /// How it is with the store.
  enum State: String { case idle, following, away }

  /// Settings of the follower.
  struct Rules: Sendable {
    var ageSeconds: Int64 = 600
    var pauseMilliseconds: UInt64 = 30_000
    var keyMaximum = PushLedger.nostrKeyMaximum
    var asksRelays = true
    var wakeSeconds: Int64 = 86_400
  }

  var watch: WakeMatcher
  var state = State.idle
  let worker: Worker
  let ledger: PushLedger
  let writer: PushWriter
  let rules: Rules
  let log: Logger
  let owners = LoopTimer()
  let pause = LoopTimer()
  let keeping = LoopTimer()
  /// When the store was last heard, Unix seconds.
  var heardAt: Int64?
  var answers: [BusAnswer] = []
  var networkAnswer: BusAnswer?
  /// Which of the observations at relays is the present one.
  var networkRound = 0
  var isAsking = false
  private(set) var isRunning = false
  private(set) var isOver = false

  // Who has devices.
  var isReading = false
  var isStale = false
  var isGathering = false
  /// How often it was read.
  var readCount = 0
  var readDelay = BackOff(longestMilliseconds: EventFollower.retryMillisecondsMaximum)
  /// Owners whose rules in the ledger are none.
  var unreadableCount = 0
  /// It was read who has devices, or it is another way with the store.
  let progress = Signal(waiterMaximum: EventFollower.waiterMaximum)

  // What is written.
  var isWriting = false
  /// Wakes that were taken from the machine and are not in the ledger.
  var unwritten: [EventBatch] = []
  var keptPlace: EventPlace?
  /// Wakes were written, or cannot be.
  let written = Signal(waiterMaximum: EventFollower.waiterMaximum)

  /// Registrations, and turns of the timer, that wait for one event.
  private static let waiterMaximum = 1_024
  /// Longest wait until the store, or the ledger, is asked again.
  static let retryMillisecondsMaximum: UInt64 = 5_000

  init(_ worker: Worker, ledger: PushLedger, writer: PushWriter, rules: Rules, log: Logger) {
    self.worker = worker
    self.ledger = ledger
    self.writer = writer
    self.rules = rules
    self.log = log
    watch = WakeMatcher(
      judge: EventJudge(ageSeconds: rules.ageSeconds), pauseMilliseconds: rules.pauseMilliseconds, seq: nil)
  }

  /// Goes on where the last process ended.
  func begin() {
    EventLoopActor.task { [self] in
      await readPlace()
      guard !isOver else { return }
      isRunning = true
      await readOwners()
    }
  }

  /// Reads how far the last process came, and does not give up: without it everybody would begin again.
  private func readPlace() async {
    var delay = BackOff(longestMilliseconds: Self.retryMillisecondsMaximum)
    while !isOver {
      do throws(StorageFault) {
        guard let place = try await ledger.eventPlace() else { return }
        (heardAt, keptPlace) = (place.readAt, place)
        watch = WakeMatcher(judge: watch.judge, pauseMilliseconds: watch.pauseMilliseconds, seq: place.seq)
        return
      } catch {
        writer.health.leaveIfDamaged(error)
        log.warning("the place in the store cannot be read", metadata: ["why": "\(error)"])
      }
      await EventLoopActor.sleep(milliseconds: delay.next())
    }
  }

  /// Whether wakes are being written.
  var isBusy: Bool { isWriting }

  /// Takes nothing any more. What is left is written by who ends the process.
  func close() {
    if state == .following { heardAt = WallClock.seconds }
    isOver = true
    for timer in [owners, pause, keeping] { timer.cancel() }
    let end = Refusal(.cancelled, "the push relay is stopping")
    for answer in answers { answer.abandon(end) }
    networkAnswer?.abandon(end)
    progress.raise()
    written.raise()
  }

  /// What is left to write at the end: wakes that could not be written, and how far the store was read. Never the one
  /// without the other. Wakes that are being written may be among them: an event wakes once, however often it comes.
  var last: PushWrite? {
    place == nil && unwritten.isEmpty ? nil : .events(EventsCommand(batches: unwritten, place: place))
  }
}
