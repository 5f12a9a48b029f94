public import Frames

extension RoostClient {
  /// The state of a client's connection to its supervisor.
  ///
  ///     idle ─► connecting ─► connected ─► waiting ─► connecting …
  ///                 └──► waiting      any ─► closed
  public enum ConnectionState: Sendable, Equatable {
    /// No call has needed a connection yet.
    case idle
    /// An attempt is under way.
    case connecting
    /// Connected to the bus, with this endpoint.
    case connected(Endpoint)
    /// The next attempt follows after so many milliseconds; the refusal says why there is no connection.
    case waiting(milliseconds: UInt64, because: Refusal)
    /// Ended permanently: by ``RoostClient/close()`` (nil), or because the supervisor refuses this client.
    case closed(Refusal?)
  }
}
