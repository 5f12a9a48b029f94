/// What somebody is told who watches a job while nobody is there who looks after it. The job is on the disk, and goes
/// on when its tracker does: the end of a wait is nearer for whoever knows what is waited for.
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

  /// Looks one after the other until an absence is told: one that was killed is back before.
  static let lookMaximum = 3

  private var absence = Presence.here
  private var lookCount = 0
  private var isTold = false

  /// It is there.
  public init() {}

  /// It was looked whether it is there.
  ///
  /// - Returns: what is to be told, if anything: each absence once, and its end.
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
