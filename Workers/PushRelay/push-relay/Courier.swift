import Clocks
import EventLoop
import Frames
import LinuxSystem
import PushDelivery

/// Brings pushes to one platform.
@EventLoopActor
protocol Courier: AnyObject {
  /// Sends a push, and says what came of it; within a time of its own.
  func send(_ message: PushMessage) async -> PushVerdict
  /// Why there was no connection the last time, with where to: `https://push.example: connection refused`; nil when
  /// there was one.
  var trouble: String? { get }
}

/// What was wrong with a connection, in words for the operator.
enum ConnectionTrouble {
  /// Reasons that say no more than that there was no connection.
  private static let reasons: Set = ["unreachable", "no-secure-connection", "timed-out", "connection-broken"]

  /// Whether a reason is one that only a connection's trouble explains.
  static func explains(_ reason: String) -> Bool { reasons.contains(reason) }

  /// The place, and what was wrong; of a certificate that nobody here trusts, the setting too.
  static func words(_ origin: String, _ reason: String) -> String {
    let reason = reason.hasPrefix("TLS: ") ? String(reason.dropFirst(5)) : reason
    return "\(origin): \(reason)" + (reason.hasSuffix("certificate is not trusted") ? " (ca-file)" : "")
  }
}

/// The platforms that are switched on, and why the others are not.
@EventLoopActor
struct Couriers {
  /// By platform; those that are off are not in it.
  var running: [PushPlatform: any Courier] = [:]
  /// Why a platform is off.
  var reasons: [PushPlatform: String] = [:]
}

extension PushMoment {
  /// Now.
  @EventLoopActor
  static var now: PushMoment {
    PushMoment(instant: EventLoop.process.now, unixMilliseconds: WallClock.milliseconds)
  }
}
