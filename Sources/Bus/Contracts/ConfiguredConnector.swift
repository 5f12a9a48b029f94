/// A connector of `supervisor.conf` and its relays, as roostd tells the planner.
///
/// A connector says itself which relays it has, and its own word counts while it is there. One that is held, stopped or
/// stuck says nothing, and its relays are configured all the same: what is published is queued for them, and sent when
/// it is back. So roostd puts this into the planner's settings, as ``entry``, a list:
/// `[{"name":"main","relays":["wss://relay.example"],"reads":true,"writes":true,"ephemeral":false}]`.
public struct ConfiguredConnector: Codable, Hashable, Sendable {
  /// The worker's name.
  public var name: String
  /// The URLs of its relays, as they are written in `supervisor.conf`.
  public var relays: [String]
  /// Whether observes are to be asked there.
  public var reads: Bool
  /// Whether events are to be published there.
  public var writes: Bool
  /// Whether it dials relays that no group has.
  public var ephemeral: Bool

  /// The entry of the settings.
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
