import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import OutboxRouting
import WorkerKit

/// Reads what monitors say of relays (NIP-66, kind 30166) from the store: what it has, and what comes to it.
@EventLoopActor
final class MonitorReader {
  /// Called with each event of a monitor.
  var onEvent: (@EventLoopActor (Event) -> Void)?
  /// The monitors that are read.
  private(set) var monitors: [PublicKey] = []

  private let worker: Worker
  private let log: Logger
  private var answer: BusAnswer?

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// The events of monitors that still say something of a relay. `wall` is in seconds since 1970.
  static func filter(_ monitors: [PublicKey], at wall: Int64) -> Filter {
    Filter(
      authors: monitors, kinds: [EventKind.relayDiscovery], since: wall - RelayDirectory.monitoredSeconds)
  }

  /// Reads these monitors, and no others.
  func read(_ monitors: [PublicKey]) {
    guard monitors != self.monitors else { return }
    self.monitors = monitors
    answer?.abandon(Refusal(.cancelled, "other monitors are read"))
    answer = nil
    guard !monitors.isEmpty else { return }
    worker.persist("what monitors say of relays", ceilingMilliseconds: Planner.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      guard monitors == self.monitors else { return true }
      var wanted = StoreObserve(filters: [JSONValue(of: Self.filter(monitors, at: WallClock.seconds))])
      wanted.policy = .cacheOnly
      let parts = try await worker.bus.ask(StoreMethod.observe, wanted)
      answer = parts.answer
      while let part = try await parts.nextPart(), monitors == self.monitors {
        // `try?`: the store has verified it; what cannot be read says nothing.
        guard let value = (try? JSONPayload.decode(JSONValue.self, from: part.bytes))?["event"],
          let event = try? Event(json: JSONPayload.encode(value))
        else { continue }
        onEvent?(event)
      }
      return false
    }
  }
}
