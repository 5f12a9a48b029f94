import Clocks
import RoostConfiguration
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logs
import MessageHub
import Supervision

/// A message that a worker's last deaths were charged to, for `roost why`.
struct DeathCharge {
  /// The life that ended last by it; a later end is newer than this.
  let generation: UInt32
  /// How many lives it took since it came, or was tried again.
  let deaths: UInt16
  /// Its method, by name.
  let method: String
  /// Where it is now: `now dead letter 20260301T120000000-000001 (roost dead-letters)`.
  var whereabouts = "on its way to the dead letters"

  /// The charge as a sentence.
  var sentence: String {
    let lives = deaths == 1 ? "Its last death was" : "Its last \(deaths) deaths were"
    return "\(lives) charged to one message, \(method), \(whereabouts)."
  }

  /// Where a message is that has become, or still is, this dead letter.
  static func whereabouts(ofLetter id: String) -> String { "now dead letter \(id) (roost dead-letters)" }
}

/// What becomes of messages that were quarantined: their files, their number, and the words about them.
@EventLoopActor
final class DeadLetterKeeper {
  let store: DeadLetterStore
  /// Dead letters on disk and in memory, as last counted.
  private(set) var count = 0
  /// The latest of them, the latest first, without their payloads.
  private(set) var latest: [DeadLetterRecord] = []
  /// Letters that are being written.
  private var writingCount = 0 { didSet { settled.raise() } }
  /// Raised when ``writingCount`` has changed.
  private let settled = Signal()
  private unowned let daemon: Daemon

  init(_ store: DeadLetterStore, daemon: Daemon) {
    self.store = store
    self.daemon = daemon
  }

  /// Writes it down, unless the configuration wants none kept.
  func keep(_ letter: DeadLetter) {
    let declaration = daemon.shell.table[letter.header.method]
    let method = declaration?.name ?? "\(letter.header.method)"
    daemon.worker(named: letter.worker)?.charge(method: method, deaths: letter.deliveries)
    guard daemon.configuration.bus.deadLettersMaximum > 0 else {
      tell(letter, method, "thrown away, since dead-letters-maximum is 0")
      return
    }
    // Its payload is about keys, or is plaintext, and a dead letter is a file.
    guard declaration?.isSecret != true else {
      tell(letter, method, "thrown away, since its contents are secret")
      return
    }
    let record = DeadLetterRecord(letter, method: method)
    writingCount += 1
    EventLoopActor.task { [self] in
      do throws(DeadLetterFault) {
        let id = try await store.keep(record).id
        tell(letter, method, "kept as dead letter \(id)", id: id)
      } catch {
        tell(letter, method, "\(error)", id: error.id)
      }
      await recount()
      writingCount -= 1
    }
  }

  /// A letter that was tried again has killed once more.
  func keepAgain(_ id: String, _ death: DeadLetterCommands.Death) async {
    writingCount += 1
    let sentence = "\(death.worker) died of dead letter \(id) again"
    do throws(SystemFault) {
      try await store.update(id, deliveries: death.deliveries, time: WallTime.now.text)
      daemon.log(.error, "hub", "\(sentence); deliveries: \(death.deliveries)")
    } catch {
      daemon.log(.error, "hub", "\(sentence); not written down: \(error)")
    }
    await recount()
    writingCount -= 1
  }

  /// Says in the log, in `roost events` and in `roost why` what has become of a message that was set aside.
  private func tell(_ letter: DeadLetter, _ method: String, _ fate: String, id: String? = nil) {
    let times = letter.deliveries == 1 ? "once" : "\(letter.deliveries) times"
    daemon.log(.error, "hub", "\(letter.worker) died \(times) with \(method) from \(letter.sender) in hand; \(fate)")
    let worker = daemon.worker(named: letter.worker)
    worker?.deathCharge?.whereabouts = id.map(DeathCharge.whereabouts) ?? fate
    let state = worker?.machine.state.kind.word ?? daemon.guestState(letter.worker)
    daemon.publish(
      letter.worker, from: state, to: state,
      "a message, \(method) from \(letter.sender), was set aside: it died \(times) with it in hand; \(fate)")
  }

  func recount() async {
    // A directory that cannot be read is a matter of the doctor; the last count stays.
    do throws(SystemFault) {
      let letters = try await store.list().letters
      count = letters.count
      // One that was tried again has the time of its last death.
      latest = letters.sorted { ($0.time, $0.id) < ($1.time, $1.id) }.suffix(SupervisorStatus.latestMaximum).reversed()
    } catch {}
  }

  /// At the end: what is being written is waited for, since it is the only copy.
  func settle(until end: Instant) async {
    await settled.wait(until: end) { writingCount == 0 }
    let lost = store.memoryCount
    if lost > 0 { daemon.log(.error, "hub", "\(lost) dead letters could not be written and are lost") }
  }
}
