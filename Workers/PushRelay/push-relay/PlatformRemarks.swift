import Clocks
import EventLoop
import PushDelivery

/// What platforms that work have against single pushes: the last word of each, until a push goes through.
struct PlatformRemarks {
  private var words: [PushPlatform: PushReason] = [:]
  private var toldAt: [PushPlatform: Instant] = [:]

  /// How often the log has one of a platform at most: whoever registers tokens that are none must not fill it.
  static let pauseMilliseconds: UInt64 = 600_000

  /// The last word of a platform; nil for none.
  subscript(platform: PushPlatform) -> PushReason? { words[platform] }

  /// Keeps a word. Says whether it is to be told.
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
  /// As people call its service.
  var service: String {
    switch self {
    case .ios: "APNs"
    case .android: "FCM"
    case .webPush: "a Web Push service"
    }
  }
}

extension Dispatcher {
  /// What to look at because of a reason; of one that says only that there was no connection, what was wrong with it.
  func advice(on reason: PushReason, of platform: PushPlatform) -> String? {
    if ConnectionTrouble.explains(reason.description), let trouble = couriers.running[platform]?.trouble {
      return trouble
    }
    return PushAdvice.text(reason, of: platform)
  }

  /// How long a platform that is one provider is left alone still, in seconds; nil when it is not.
  func secondsLeft(of platform: PushPlatform) -> Int? {
    switch platform {
    case .ios: board.secondsLeft(of: .apple, at: EventLoop.process.now)
    case .android: board.secondsLeft(of: .google, at: EventLoop.process.now)
    case .webPush: nil
    }
  }
}

extension DeliveryQueue {
  /// How long a provider is left alone still, in seconds; nil when it is not.
  func secondsLeft(of provider: PushProvider, at instant: Instant) -> Int? {
    guard case .open(let until) = breaker(of: provider) else { return nil }
    let milliseconds = until.milliseconds(since: instant)
    return milliseconds == 0 ? nil : Int((milliseconds + 999) / 1_000)
  }
}
