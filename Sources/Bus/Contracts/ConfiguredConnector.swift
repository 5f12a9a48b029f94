/// A connector of `supervisor.conf` and its relays, as roostd describes it to the planner and to the connectors.
///
/// A connector that runs reports its relays itself, and its report counts. A connector that is held, stopped or stuck
/// reports nothing, but its relays are configured all the same: publications for them are queued, and sent when the
/// connector is back. Therefore roostd puts a list of these into the planner's settings, as ``entry``. The connectors
/// receive it too, so that each knows which of them has a relay:
/// `[{"name":"main","relays":["wss://relay.example"],"reads":true,"writes":true,"ephemeral":false}]`.
public struct ConfiguredConnector: Codable, Hashable, Sendable {
  /// The worker's name.
  public var name: String
  /// The URLs of its relays, as they are written in `supervisor.conf`.
  public var relays: [String]
  /// Whether the planner opens subscriptions at these relays.
  public var reads: Bool
  /// Whether the planner publishes events to these relays.
  public var writes: Bool
  /// Whether the connector dials relays that belong to no group.
  public var ephemeral: Bool

  /// The name of the entry in the settings.
  public static let entry = "connectors"

  /// A connector and its relays.
  public init(name: String, relays: [String], reads: Bool, writes: Bool, ephemeral: Bool) {
    self.name = name
    self.relays = relays
    self.reads = reads
    self.writes = writes
    self.ephemeral = ephemeral
  }
}
