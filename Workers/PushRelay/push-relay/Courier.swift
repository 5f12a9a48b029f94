import Clocks
import EventLoop
import Frames
import LinuxSystem
import PushDelivery

/// Delivers pushes to one platform.
@EventLoopActor
protocol Courier: AnyObject {
  /// Sends a push, within a time limit of its own, and returns the verdict.
  func send(_ message: PushMessage) async -> PushVerdict
  /// Why there was no connection the last time, with the address: `https://push.example: connection refused`; nil if
  /// there was one.
  var trouble: String? { get }
}

/// What was wrong with a connection, in words for the operator.
enum ConnectionTrouble {
  /// Reasons that say only that there was no connection.
  private static let reasons: Set = ["unreachable", "no-secure-connection", "timed-out", "connection-broken"]

  /// Whether a reason needs the connection's trouble as its explanation.
  static func explains(_ reason: String) -> Bool { reasons.contains(reason) }

  /// The address, and what was wrong; for an untrusted certificate also the setting.
  static func words(_ origin: String, _ reason: String) -> String {
    let reason = reason.hasPrefix("TLS: ") ? String(reason.dropFirst(5)) : reason
    return "\(origin): \(reason)" + (reason.hasSuffix("certificate is not trusted") ? " (ca-file)" : "")
  }
}

/// The platforms that are on, and why the others are off.
@EventLoopActor
struct Couriers {
  /// By platform; a platform that is off is missing.
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
