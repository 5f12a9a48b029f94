/// The settings of a connector in `supervisor.conf`.
struct ConnectorSettings: Decodable, Sendable {
  /// When the relays of the group are dialled.
  enum Dialling: String, Decodable, Sendable {
    /// At once, and for as long as the connector runs.
    case always
    /// While something is wished or asked of them.
    case onDemand = "on-demand"
  }

  /// The relays of the group.
  var relays: [String]?
  /// Whether relays are dialled that a caller names and no group has.
  var ephemeral: Bool?
  /// When the relays of the group are dialled; always unless said.
  var connect: Dialling?
  /// Whether observes are to be asked at the relays of the group; true unless said.
  var reads: Bool?
  /// Whether events are to be published to the relays of the group; true unless said.
  var writes: Bool?
  /// How long a relay may say nothing about a request.
  var requestTimeoutMilliseconds: UInt64?
  /// How long each step of connecting may take.
  var connectTimeoutMilliseconds: UInt64?
  /// A file of authorities that are trusted beside the system's; "" for none.
  var caFile: String?
  /// Where the local relays of this Roost listen, which are not dialled; roostd says so, no key of the file.
  var ownAddresses: [String]?

  /// How long a relay may say nothing about a request, in milliseconds.
  var requestMilliseconds: UInt64 { requestTimeoutMilliseconds ?? 30_000 }
  /// How long each step of connecting may take, in milliseconds.
  var connectMilliseconds: UInt64 { connectTimeoutMilliseconds ?? 10_000 }
}
