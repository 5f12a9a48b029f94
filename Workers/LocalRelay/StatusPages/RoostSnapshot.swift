public import Contracts

// What is known of a Roost at one moment, for those who look at it from outside: a person with a browser, and
// Prometheus. Whoever gathers it asks several workers, and any of them may be away: then that part says so, and
// everything else is shown all the same. A page that needs all is not there when it is needed.

/// What became of a question.
public enum Told<Value: Sendable>: Sendable {
  /// The answer.
  case told(Value)
  /// Who should answer does not; why, as a sentence's end.
  case silent(String)
  /// There is nobody of that kind in this Roost.
  case absent

  /// The answer, if there is one.
  public var value: Value? {
    if case .told(let value) = self { value } else { nil }
  }
}

/// All that is known of a Roost at one moment.
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
  /// When that was, seconds since 1970.
  public var at: Int64 = 0
  /// `supervisor.status`.
  public var supervisor: Told<SupervisorStatus> = .absent
  /// `store.status`.
  public var store: Told<StoreStatus> = .absent
  /// `plan.status`.
  public var plan: Told<PlanStatus> = .absent
  /// `job.status`.
  public var jobs: Told<TrackingStatus> = .absent
  /// `dvm.status`.
  public var serving: Told<ServingStatus> = .absent
  /// `signer.accounts`.
  public var keys: Told<SignerAccounts> = .absent
  /// `push.status`.
  public var push: Told<PushStatus> = .absent
  /// `relay.list` of each connector.
  public var connectors: [Connector] = []
  /// The local relay that shows this.
  public var local = LocalRelayStatus()
  /// Origins of pages that are connected and may do nothing yet, as browsers write them, sorted.
  public var waitingOrigins: [String] = []

  /// Nothing is known yet.
  public init(version: String) { self.version = version }

  /// The relays of all connectors.
  var relays: [RelayStates.Relay] { connectors.flatMap { $0.relays.value?.relays ?? [] } }
}
