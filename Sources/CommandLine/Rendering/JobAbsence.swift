/// The lines for a user who follows a job while its tracker is away. They say that the job is kept on the disk, and
/// continues when the tracker is back.
public struct JobAbsence: Sendable {
  /// Whether the tracker is there.
  public enum Presence: Sendable, Hashable {
    /// It takes requests.
    case here
    /// It is held, stopped, or being started.
    case trackerAway
    /// The supervisor is away, and with it all workers.
    case supervisorAway
  }

  /// The number of checks in a row before an absence is reported: a killed tracker is back sooner.
  static let lookMaximum = 3

  private var absence = Presence.here
  private var lookCount = 0
  private var isTold = false

  /// The tracker is there.
  public init() {}

  /// A check of the tracker's presence was made.
  ///
  /// - Returns: the line to show, if any: one for each absence, and one for its end.
  public mutating func looked(_ presence: Presence) -> String? {
    guard presence != .here else {
      defer { self = JobAbsence() }
      return isTold ? "It is followed again." : nil
    }
    if presence != absence { (absence, lookCount, isTold) = (presence, 0, false) }
    lookCount += 1
    guard lookCount >= Self.lookMaximum, !isTold else { return nil }
    isTold = true
    let who = presence == .trackerAway ? "dvm-tracker" : "roostd"
    let command = presence == .trackerAway ? "'roost why dvm-tracker' tells more" : "'roost status' tells more"
    return "\(who) is not running: the job is kept, and followed again when it is back; \(command)."
  }
}
