public import Clocks
public import Contracts

// The state of a Roost at one moment, for the status page and Prometheus. It comes from several workers, and any of
// them may be away: then that part says so, and all other parts are still shown. A page that needs every part would be
// missing when it is needed.

/// The answer of a worker, or its absence.
public enum Told<Value: Sendable>: Sendable {
  /// The answer.
  case told(Value)
  /// The worker does not answer; the text is the reason, as the end of a sentence.
  case silent(String)
  /// This Roost has no such worker.
  case absent

  /// The answer, if the worker gave one.
  public var value: Value? {
    if case .told(let value) = self { value } else { nil }
  }
}

/// The state of a Roost at one moment.
public struct RoostSnapshot: Sendable {
  /// The relays of one connector.
  public struct Connector: Sendable {
    /// The worker's name in `supervisor.conf`.
    public var name: String
    /// Its relays.
    public var relays: Told<RelayStates>

    /// A connector.
    public init(name: String, relays: Told<RelayStates>) {
      self.name = name
      self.relays = relays
    }
  }

  /// The version of the program that shows this.
  public var version: String
  /// The moment, in seconds since 1970.
  public var at: Int64 = 0
  /// `supervisor.status`.
  public var supervisor: Told<SupervisorStatus> = .absent
  /// `store.status`.
  public var store: Told<StoreStatus> = .absent
  /// `plan.status`.
  public var plan: Told<PlanStatus> = .absent
  /// The latest publications that no relay took, the latest first; at most ``failedMaximum``.
  public var failedPublications: [Publication] = []
  /// `job.status`.
  public var jobs: Told<TrackingStatus> = .absent
  /// `dvm.status`.
  public var serving: Told<ServingStatus> = .absent
  /// `signer.accounts`.
  public var keys: Told<SignerAccounts> = .absent
  /// `push.status`.
  public var push: Told<PushStatus> = .absent
  /// `mirror.status`.
  public var mirror: Told<MirrorStatus> = .absent
  /// `relay.list` of each connector.
  public var connectors: [Connector] = []
  /// The local relay that shows this.
  public var local = LocalRelayStatus()
  /// Origins of connected pages that are not admitted yet, as browsers write them, sorted.
  public var waitingOrigins: [String] = []

  /// How long the local relay took to answer events (OK).
  public var eventLatency = LatencyHistogram()
  /// How long it took to answer requests with all that is stored (EOSE).
  public var queryLatency = LatencyHistogram()
  /// When the local relay's process started, in milliseconds since 1970; its counters begin there.
  public var startedAtMilliseconds: Int64 = 0

  /// The maximum number of ``failedPublications``.
  public static let failedMaximum = 13

  /// An empty snapshot.
  public init(version: String) { self.version = version }

  /// The relays of all connectors.
  var relays: [RelayStates.Relay] { connectors.flatMap { $0.relays.value?.relays ?? [] } }
}
