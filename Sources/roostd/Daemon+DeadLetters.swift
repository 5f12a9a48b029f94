import Clocks
import Configuration
import Contracts
import EventLoop
import Frames
import LinuxSystem
import LogKeeping
import MessageHub

// What becomes of a message that was quarantined.

extension Daemon {
  /// Writes it down, unless the configuration wants none kept.
  func keep(_ letter: DeadLetter) {
    let method = shell.hub.table[letter.header.method]?.name ?? "\(letter.header.method)"
    let text = "\(letter.worker) died \(letter.deliveries) times with \(method) from \(letter.sender) in hand"
    guard configuration.bus.deadLettersMaximum > 0 else {
      log(.error, "hub", "\(text); thrown away, since dead-letters-maximum is 0")
      return
    }
    // What passes there are keys' affairs and plaintexts, and a dead letter is a file.
    guard shell.hub.table[letter.header.method]?.isSecret != true else {
      log(.error, "hub", "\(text); thrown away, since its contents are secret")
      return
    }
    let record = DeadLetterRecord(letter, method: method)
    deadLettersInHand += 1
    EventLoopActor.task { [deadLetters, self] in
      do throws(DeadLetterFault) {
        log(.error, "hub", "\(text); kept as dead letter \(try await deadLetters.keep(record).id)")
      } catch {
        log(.error, "hub", "\(text); \(error)")
      }
      await countDeadLetters()
      deadLettersInHand -= 1
    }
  }

  func countDeadLetters() async {
    // A directory that cannot be read is told by the doctor; the last count stands.
    do throws(SystemFault) { deadLetterCount = try await deadLetters.list().letters.count } catch {}
  }

  /// At the end: what is being written is waited for, since it is the only copy.
  func settleDeadLetters(until end: Instant) async {
    while deadLettersInHand > 0, EventLoop.process.now < end {
      await EventLoopActor.sleep(milliseconds: Self.letterLookMilliseconds)
    }
    let lost = deadLetters.memoryCount
    if lost > 0 { log(.error, "hub", "\(lost) dead letters could not be written and are lost") }
  }

  private static let letterLookMilliseconds: UInt64 = 5
}
