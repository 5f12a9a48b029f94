import Clocks
import EventLoop
import PushDelivery

/// Why platforms that work refuse single pushes: the last reason of each, until a push goes through.
struct PlatformRemarks {
  private var words: [PushPlatform: PushReason] = [:]
  private var toldAt: [PushPlatform: Instant] = [:]

  /// The shortest time between two log lines about a platform: a client that registers invalid tokens must not fill the
  /// log.
  static let pauseMilliseconds: UInt64 = 600_000

  /// The last reason of a platform; nil for none.
  subscript(platform: PushPlatform) -> PushReason? { words[platform] }

  /// Keeps a reason. Returns whether it should be logged.
  mutating func isNews(_ reason: PushReason, of platform: PushPlatform, at instant: Instant) -> Bool {
    words[platform] = reason
    if let last = toldAt[platform], instant.milliseconds(since: last) < Self.pauseMilliseconds { return false }
    toldAt[platform] = instant
    return true
  }

  /// A push went through.
  mutating func forget(_ platform: PushPlatform) { words[platform] = nil }
}

extension PushPlatform {
  /// The usual name of its service.
  var service: String {
    switch self {
    case .ios: "APNs"
    case .android: "FCM"
    case .webPush: "a Web Push service"
    }
  }
}

extension Dispatcher {
  /// What the operator should check because of a reason; if the reason says only that there was no connection, what was
  /// wrong with it.
  func advice(on reason: PushReason, of platform: PushPlatform) -> String? {
    if ConnectionTrouble.explains(reason.description), let trouble = couriers.running[platform]?.trouble {
      return trouble
    }
    return PushAdvice.text(reason, of: platform)
  }

  /// For how many more seconds a platform's circuit breaker is open; nil if it is not, or if it has several providers.
  func secondsLeft(of platform: PushPlatform) -> Int? {
    switch platform {
    case .ios: board.secondsLeft(of: .apple, at: EventLoop.process.now)
    case .android: board.secondsLeft(of: .google, at: EventLoop.process.now)
    case .webPush: nil
    }
  }
}

extension DeliveryQueue {
  /// For how many more seconds a provider's circuit breaker is open; nil if it is not.
  func secondsLeft(of provider: PushProvider, at instant: Instant) -> Int? {
    guard case .open(let until) = breaker(of: provider) else { return nil }
    let milliseconds = until.milliseconds(since: instant)
    return milliseconds == 0 ? nil : Int((milliseconds + 999) / 1_000)
  }
}
