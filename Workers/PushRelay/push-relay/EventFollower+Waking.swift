import Clocks
import Cryptography
import EventLoop
import LinuxSystem
import Nostr
import PushDelivery
import PushLedger
import PushRules
import Storage

// Writing wakes, and how far the store was read.

extension EventFollower {
  /// How often the position is written when no key is woken.
  private static let keepMilliseconds: UInt64 = 30_000
  /// The pause before the ledger is tried again.
  private static let writeMilliseconds: UInt64 = 1_000
  /// The longest wait for another task's writing, before it is checked again.
  private static let writtenMilliseconds: UInt64 = 60_000

  /// Writes the wakes that are due, and waits until they are written.
  func wakeDue() async {
    // At most two tasks wait: the reader of the store, and the pause's timer.
    while isWriting, !isOver {
      _ = await written.wait(until: EventLoop.process.now.advanced(milliseconds: Self.writtenMilliseconds))
    }
    guard !isOver else { return }
    let wakes = watch.due(at: EventLoop.process.now)
    setPause()
    guard !wakes.isEmpty else { return }
    // The wakes taken from the matcher exist only here: the position must not be written without them.
    isWriting = true
    unwritten = wakes.map(batch)
    while true {
      let command = EventsCommand(batches: unwritten, place: place)
      if case .success = await writer.perform(.events(command)) {
        keptPlace = command.place
        unwritten = []
        break
      }
      // The rest is written at the stop (`last`).
      guard !isOver else { break }
      await EventLoopActor.sleep(milliseconds: Self.writeMilliseconds)
    }
    isWriting = false
    written.raise()
  }

  private func batch(_ wake: MatchedWake) -> EventBatch {
    let now = WallClock.milliseconds
    var queued = Wake(
      id: Wake.makeID(unixMilliseconds: now), recipient: PushOwner(.nostr, wake.key.octets), sender: nil,
      type: Wake.nostr,
      payload: nil, nonce: RandomBytes.make(16), acceptedAt: now, expiresAt: now + rules.wakeSeconds * 1_000)
    queued.topic = wake.topic
    queued.event = wake.events.last?.octets
    return EventBatch(wake: queued, events: wake.events.map(\.octets))
  }

  private func setPause() {
    guard !isOver, let deadline = watch.deadline else { return pause.cancel() }
    pause.set(at: deadline) { [unowned self] in EventLoopActor.task { [self] in await wakeDue() } }
  }

  /// How far the store was read.
  var place: EventPlace? { watch.place.map { EventPlace(seq: $0, readAt: heardAt ?? WallClock.seconds) } }

  /// Writes from time to time how far the store was read: after a crash, what arrived since is news.
  func keepPlace() {
    guard !keeping.isSet, !isOver else { return }
    keeping.set(afterMilliseconds: keptPlace == nil ? 0 : Self.keepMilliseconds) { [unowned self] in
      EventLoopActor.task { [self] in
        if state == .following { heardAt = WallClock.seconds }
        if !isWriting, let place, place != keptPlace,
          case .success = await writer.perform(.events(EventsCommand(batches: [], place: place)))
        {
          keptPlace = place
        }
        if state == .following { keepPlace() }
      }
    }
  }
}
