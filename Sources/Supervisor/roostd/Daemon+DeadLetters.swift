import Clocks
import RoostConfiguration
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logs
import MessageHub
import Supervision

// What becomes of a message that was quarantined, and who is told of it.

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

extension Daemon {
  /// Writes it down, unless the configuration wants none kept.
  func keep(_ letter: DeadLetter) {
    let method = shell.hub.table[letter.header.method]?.name ?? "\(letter.header.method)"
    worker(named: letter.worker)?.charge(method: method, deaths: letter.deliveries)
    guard configuration.bus.deadLettersMaximum > 0 else {
      tell(letter, method, "thrown away, since dead-letters-maximum is 0")
      return
    }
    // What passes there are keys' affairs and plaintexts, and a dead letter is a file.
    guard shell.hub.table[letter.header.method]?.isSecret != true else {
      tell(letter, method, "thrown away, since its contents are secret")
      return
    }
    let record = DeadLetterRecord(letter, method: method)
    deadLettersInHand += 1
    EventLoopActor.task { [deadLetters, self] in
      do throws(DeadLetterFault) {
        let id = try await deadLetters.keep(record).id
        tell(letter, method, "kept as dead letter \(id)", id: id)
      } catch {
        tell(letter, method, "\(error)", id: error.id)
      }
      await countDeadLetters()
      deadLettersInHand -= 1
    }
  }

  /// Says in the log, in `roost events` and in `roost why` what has become of a message that was set aside.
  private func tell(_ letter: DeadLetter, _ method: String, _ fate: String, id: String? = nil) {
    let times = letter.deliveries == 1 ? "once" : "\(letter.deliveries) times"
    log(.error, "hub", "\(letter.worker) died \(times) with \(method) from \(letter.sender) in hand; \(fate)")
    let worker = worker(named: letter.worker)
    worker?.deathCharge?.whereabouts = id.map(DeathCharge.whereabouts) ?? fate
    let state = worker?.machine.state.kind.word ?? guestState(letter.worker)
    let sentence =
      "a message, \(method) from \(letter.sender), was set aside: it died \(times) with it in hand; \(fate)"
    publish(SupervisorEvent(time: WallTime.now.text, worker: letter.worker, from: state, to: state, sentence: sentence))
  }

  func countDeadLetters() async {
    // A directory that cannot be read is told by the doctor; the last count stands.
    do throws(SystemFault) { deadLetterCount = try await deadLetters.list().letters.count } catch {}
  }

  /// At the end: what is being written is waited for, since it is the only copy.
  func settleDeadLetters(until end: Instant) async {
    await deadLetterSettled.wait(until: end) { deadLettersInHand == 0 }
    let lost = deadLetters.memoryCount
    if lost > 0 { log(.error, "hub", "\(lost) dead letters could not be written and are lost") }
  }
}
