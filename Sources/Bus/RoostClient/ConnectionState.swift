internal import Bus
internal import Clocks
internal import EventLoop
public import Frames

extension RoostClient {
  /// How a client stands with its supervisor.
  ///
  ///     idle ─► connecting ─► connected ─► waiting ─► connecting …
  ///                 └──► waiting      any ─► closed
  public enum ConnectionState: Sendable, Equatable {
    /// Nothing was asked of it yet.
    case idle
    /// An attempt is under way.
    case connecting
    /// On the bus, under this endpoint.
    case connected(Endpoint)
    /// The next attempt comes after so many milliseconds; why there is no connection.
    case waiting(milliseconds: UInt64, because: Refusal)
    /// Over for good: by ``RoostClient/close()`` (nil), or because the supervisor does not want this client.
    case closed(Refusal?)
  }
}

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

  /// Whether a request was refused because this connection ended, and not by an answer that came before.
  func isLoss(_ refusal: Refusal) -> Bool { ending != nil && refusal.reason == .connectionEnded }
}
