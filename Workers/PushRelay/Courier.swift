import Clocks
import EventLoop
import Frames
import PushDelivery

/// Brings pushes to one platform.
@EventLoopActor
protocol Courier: AnyObject {
  /// Sends a push, and says what came of it; within a time of its own.
  func send(_ message: PushMessage) async -> PushVerdict
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
    PushMoment(instant: EventLoop.process.now, unixMilliseconds: WallTime.milliseconds)
  }
}
