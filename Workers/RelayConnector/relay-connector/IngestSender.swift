import Addresses
import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import RelaySubscriptions

/// The two senders to the store: stored events of relays use the bulk lane, new events the live lane.
@EventLoopActor
final class IngestSenders {
  let stored: IngestSender
  let live: IngestSender
  /// Called with true when a relay must wait, and with false when it no longer must.
  var onHeld: (@EventLoopActor (RelayURL, Bool) -> Void)?
  /// Called with a relay's URL and those of its events that the store has rejected.
  var onInvalid: (@EventLoopActor (String, [IngestResult.Invalid]) -> Void)?
  /// Called with a relay's URL and the number of its events that the store lacked.
  var onStored: (@EventLoopActor (String, Int) -> Void)?
  /// Relays that must wait; the first has waited longest.
  private var held: [RelayURL] = []

  init(_ bus: BusConnection) {
    stored = IngestSender(StoreMethod.import, bus)
    live = IngestSender(StoreMethod.ingest, bus)
    for line in [stored, live] {
      line.onAnswered = { [unowned self] in release() }
      line.onInvalid = { [unowned self] in onInvalid?($0, $1) }
      line.onStored = { [unowned self] in onStored?($0, $1) }
    }
  }

  /// Whether a relay must wait because too many of its events are here already.
  func isHeld(_ relay: RelayURL) -> Bool { held.contains(relay) }

  /// Adds an event of a relay to one of the two senders; false when it is too large for the bus.
  func append(_ event: UnsafeRawBufferPointer, of relay: RelayURL, subscription: UInt32, on line: IngestSender) -> Bool
  {
    let isTaken = line.append(event, relay: relay.text, subscription: subscription)
    if line.mustWait(relay.text), !isHeld(relay) {
      held.append(relay)
      onHeld?(relay, true)
    }
    return isTaken
  }

  /// Lets relays continue that need not wait. What a relay then sends uses only its own share.
  private func release() {
    let free = held.filter { !stored.mustWait($0.text) && !live.mustWait($0.text) }
    if free.isEmpty { return }
    held.removeAll { free.contains($0) }
    for relay in free { onHeld?(relay, false) }
  }
}

/// One sender of runs to the store. It sends a run again when the store was away or could not write it.
@EventLoopActor
final class IngestSender {
  /// Called when a run was answered, and the next runs were sent.
  var onAnswered: (@EventLoopActor () -> Void)?
  /// Called with a relay's URL and those of its events that the store has rejected.
  var onInvalid: (@EventLoopActor (String, [IngestResult.Invalid]) -> Void)?
  /// Called with a relay's URL and the number of its events that the store lacked.
  var onStored: (@EventLoopActor (String, Int) -> Void)?

  private let method: Method<IngestRun, IngestResult>
  private let bus: BusConnection
  private let log = Logger(label: "ingest")
  private var runs: IngestRuns
  private var nextName: UInt64 = 0
  private var commits: [UInt64: @EventLoopActor () -> Void] = [:]

  /// The first wait after a run was refused, in milliseconds; each further one is twice as long.
  private static let retryMilliseconds: UInt64 = 100
  /// The longest wait.
  private static let retryMaximumMilliseconds: UInt64 = 10_000

  init(_ method: Method<IngestRun, IngestResult>, _ bus: BusConnection) {
    self.method = method
    self.bus = bus
    runs = IngestRuns(
      limits: IngestRuns.Limits(frameByteCountMaximum: bus.welcome.frameLimit - FrameHeader.lengthMinimum))
  }

  /// Whether so much of a relay's data waits that the relay must not be read.
  func mustWait(_ relay: String) -> Bool { runs.mustWait(relay) }

  /// Adds an event; false when it is too large for the bus.
  func append(_ event: UnsafeRawBufferPointer, relay: String, subscription: UInt32) -> Bool {
    let isTaken = runs.append(
      event, relay: relay, subscription: subscription, receivedNanoseconds: WallClock.nanoseconds)
    send()
    return isTaken
  }

  /// Adds an end. Calls `onCommit` when it and everything before it are committed. `seconds` is when the relay was
  /// asked, since 1970; absent: now.
  func end(
    relay: String, subscription: UInt32, filters: [[UInt8]], saying statement: IngestRuns.Statement,
    at seconds: Int64? = nil, onCommit: @escaping @EventLoopActor () -> Void
  ) {
    nextName += 1
    commits[nextName] = onCommit
    runs.end(
      relay: relay, subscription: subscription, filters: filters, saying: statement, name: nextName,
      receivedNanoseconds: seconds.map { UInt64(clamping: $0) * 1_000_000_000 } ?? WallClock.nanoseconds)
    send()
  }

  private func send() {
    while let run = runs.next() { EventLoopActor.task { [self] in await send(run) } }
  }

  /// Sends a run until the store takes it. The store recognises events that it has, so a repetition does no harm.
  private func send(_ run: IngestRuns.Run) async {
    var wait = Self.retryMilliseconds
    while true {
      do throws(Refusal) {
        let result = try await bus.request(method, IngestRun(run.bytes))
        for (relay, count) in result.storedByRelay ?? [:] { onStored?(relay, count) }
        for (relay, invalid) in Dictionary(grouping: result.invalid, by: \.relay) {
          if let relay { onInvalid?(relay, invalid) }
        }
        break
      } catch {
        // Only a bug here can make such a run. Its events are then lost, and the other runs must continue. The ends of
        // its subscriptions are never reported as committed.
        if error.code == .badPayload {
          log.error(
            "the store cannot read a run; it is dropped",
            metadata: ["events": "\(run.eventCount)", "why": "\(error.message)"])
          for name in runs.dropped(run.number) { commits[name] = nil }
          break
        }
        log.log(
          level: wait == Self.retryMilliseconds ? .info : .warning, "the store has not taken a run; it goes again",
          metadata: ["events": "\(run.eventCount)", "why": "\(error.message)", "milliseconds": "\(wait)"])
        await EventLoopActor.sleep(milliseconds: wait)
        wait = min(wait * 2, Self.retryMaximumMilliseconds)
      }
    }
    for name in runs.answered(run.number) { commits.removeValue(forKey: name)?() }
    send()
    onAnswered?()
  }
}
