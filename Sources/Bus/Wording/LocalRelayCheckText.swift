public import Contracts
internal import Frames

/// What `roost doctor` and the status page say about the local relay and its clients.
public enum LocalRelayCheckText {
  /// For how many seconds a rejected or displaced connection is reported.
  static let recentSeconds = 600

  /// Whether the kernel reports users of connections, whether clients were rejected recently, and whether clients that
  /// have not authenticated displace each other.
  public static func checks(_ status: LocalRelayStatus) -> [DoctorResult.Check] {
    var checks: [DoctorResult.Check] = []
    if status.knowsUsers == false {
      checks.append(
        .init(
          name: "local relay", isGood: false,
          text: "the kernel does not tell whose programs connect, so every program of this machine, your own too, has "
            + "to authenticate (AUTH): as root type 'modprobe tcp_diag', then 'roost restart local-relay'"))
    }
    if let seconds = status.turnedAwaySecondsAgo, seconds < recentSeconds {
      checks.append(
        .init(
          name: "clients", isGood: false,
          text: "\(Amount.count(status.turnedAway, "connection")) to the local relay "
            + "\(status.turnedAway == 1 ? "was" : "were") answered 503, the last \(ago(seconds)): there may be "
            + "\(status.connectionsMaximum) (connections-maximum), and \(status.connections) are open now; "
            + "'roost client list' shows them"))
    }
    if let seconds = status.displacedSecondsAgo, seconds < recentSeconds, let maximum = status.outsideMaximum {
      let count = status.displaced ?? 0
      checks.append(
        .init(
          name: "clients", isGood: false,
          text: "clients of the local relay that have not shown themselves filled their part of the connections "
            + "(\(maximum)): \(Amount.count(count, "connection")) gave way, the last \(ago(seconds)); "
            + "'roost client list' shows them, 'roost logs local-relay' of which users they are"))
    }
    guard checks.isEmpty else { return checks }
    let text = "\(status.connections) of \(status.connectionsMaximum) connections to the local relay are taken"
    return [.init(name: "clients", isGood: true, text: text)]
  }

  private static func ago(_ seconds: Int) -> String { "\(Amount.duration(milliseconds: UInt64(seconds) * 1_000)) ago" }
}
