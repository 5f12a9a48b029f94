import Bus
import Clocks
import Contracts
import Cryptography
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

// The shell of `WakeMatcher`: reads the store for the keys that have devices, and writes wakes into the ledger. From
// there they are delivered like all others.
//
//    event-store ── store.observe ──▶ WakeMatcher ──▶ PushWriter ──▶ ledger's queue ──▶ Dispatcher
//                   from the seq                     one transaction: the wakes, the events'
//                   in the ledger                    ids, the seq
//
// The next page is read after the last one is written: while the ledger cannot be written, the reading stops, and the
// store's credit does the rest. Another subscription asks relays; its events are not read here, since they arrive in
// the store.
//
// A registration is answered when the store is being read for its key, unless that takes long: so events that arrive
// after the answer wake the owner.

/// Follows the store's events.
@EventLoopActor
final class EventFollower {
  /// The state of the subscription at the store.
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
  /// The number of the present subscription at relays.
  var networkRound = 0
  var isAsking = false
  private(set) var isRunning = false
  private(set) var isOver = false

  // Which owners have devices.
  var isReading = false
  var isStale = false
  var isGathering = false
  /// How often the owners were read.
  var readCount = 0
  /// Keys that are not watched, although they have devices: accounts that are left.
  var left: () -> Set<PublicKey> = { [] }
  var readDelay = BackOff(longestMilliseconds: EventFollower.retryMillisecondsMaximum)
  /// Owners whose rules in the ledger are unreadable.
  var unreadableCount = 0
  /// Raised when the owners were read, or the state of the store changed.
  let progress = Signal(waiterMaximum: EventFollower.waiterMaximum)

  // Writing.
  var isWriting = false
  /// Wakes that were taken from the matcher and are not in the ledger yet.
  var unwritten: [EventBatch] = []
  var keptPlace: EventPlace?
  /// Raised when wakes were written, or cannot be.
  let written = Signal(waiterMaximum: EventFollower.waiterMaximum)

  /// Most registrations, or turns of the timer, that wait for one signal.
  private static let waiterMaximum = 1_024
  /// The longest wait before the store, or the ledger, is tried again.
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

  /// Continues where the last process ended.
  func begin() {
    EventLoopActor.task { [self] in
      await readPlace()
      guard !isOver else { return }
      isRunning = true
      await readOwners()
    }
  }

  /// Reads how far the last process came, and retries until it can: without it every key would begin again.
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

  /// Takes nothing new. The caller that ends the process writes the rest.
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

  /// What must be written at the end: wakes that could not be written, and how far the store was read; always both.
  /// Wakes that are just being written may be among them: an event wakes once, however often it is written.
  var last: PushWrite? {
    place == nil && unwritten.isEmpty ? nil : .events(EventsCommand(batches: unwritten, place: place))
  }
}
