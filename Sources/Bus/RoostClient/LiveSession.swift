internal import Bus
internal import Clocks
internal import EventLoop
internal import Frames

/// One connection of a client, and how it ended.
@EventLoopActor
final class LiveSession {
  let bus: BusConnection
  let since: Instant
  private(set) var ending: Refusal?

  init(bus: BusConnection, since: Instant) {
    self.bus = bus
    self.since = since
  }

  func ended(_ refusal: Refusal) { ending = refusal }

  /// Whether a request was refused because this connection ended, and not by an earlier answer.
  func isLoss(_ refusal: Refusal) -> Bool { ending != nil && refusal.reason == .connectionEnded }
}
