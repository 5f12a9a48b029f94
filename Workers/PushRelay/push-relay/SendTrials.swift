import Clocks
import Contracts
import EventLoop
import PushDelivery

// `roost push send` is for tests: the operator wants to know what became of the wake, device by device. So the verdicts
// on such wakes are kept while a caller waits for them.

/// Wakes of the operator with a caller that waits for the verdicts.
struct SendTrials {
  private var verdicts: [[UInt8]: [Int64: PushVerdict]] = [:]

  /// Most wakes at a time; for more, no verdicts are kept.
  static let countMaximum = 16

  /// A caller waits for a wake.
  mutating func begin(_ wake: [UInt8]) {
    if verdicts.count < Self.countMaximum { verdicts[wake] = [:] }
  }

  /// A platform has answered, for one device.
  mutating func note(_ verdict: PushVerdict, of wake: [UInt8], for device: Int64) {
    verdicts[wake]?[device] = verdict
  }

  /// Whether all these devices have a final verdict.
  func isOver(_ wake: [UInt8], for devices: [PushDevice]) -> Bool {
    guard let known = verdicts[wake] else { return true }
    return devices.allSatisfy { known[$0.number].map { SendTrials.state(of: $0) != "waiting" } ?? false }
  }

  /// The caller no longer waits. The verdicts until now; nil if none were kept.
  mutating func end(_ wake: [UInt8]) -> [Int64: PushVerdict]? { verdicts.removeValue(forKey: wake) }

  static func state(of verdict: PushVerdict?) -> String {
    switch verdict {
    case .delivered: "delivered"
    case .tokenDead, .tokenSuspect, .messageFault: "refused"
    default: "waiting"
    }
  }

  static func reason(of verdict: PushVerdict) -> PushReason? {
    switch verdict {
    case .delivered, .resend: nil
    case .tokenDead: "token-is-dead"
    case .delayToken, .throttled: "throttled"
    case .tokenSuspect(let reason), .providerFault(let reason), .renewCredential(let reason), .messageFault(let reason),
      .retry(_, let reason):
      reason
    }
  }
}

extension Dispatcher {
  /// Waits until a wake was delivered to its devices or refused, and returns the outcomes.
  func outcomes(of wake: [UInt8], for devices: [PushDevice], milliseconds: Int) async -> [PushSent.Outcome]? {
    let maximum = min(max(0, milliseconds), PushSend.waitMillisecondsMaximum)
    let end = EventLoop.process.now.advanced(milliseconds: UInt64(maximum))
    // A platform that is off gives no verdicts.
    let asked = devices.filter { couriers.running[$0.token.platform] != nil }
    await verdictNoted.wait(until: end) { trials.isOver(wake, for: asked) }
    guard let verdicts = trials.end(wake) else { return nil }
    return devices.map { outcome(verdicts[$0.number], at: $0) }
  }

  private func outcome(_ verdict: PushVerdict?, at device: PushDevice) -> PushSent.Outcome {
    let platform = device.token.platform
    var outcome = PushSent.Outcome(
      device: device.id, platform: platform.rawValue, state: SendTrials.state(of: verdict))
    if let verdict {
      let reason = SendTrials.reason(of: verdict)
      outcome.reason = reason?.description
      outcome.advice = reason.flatMap { advice(on: $0, of: platform) }
    } else if let reason = couriers.reasons[platform] {
      (outcome.state, outcome.reason) = ("off", reason)
    } else {
      outcome.reason = troubles[platform]?.description
      outcome.advice = troubles[platform].flatMap { advice(on: $0, of: platform) }
    }
    return outcome
  }
}
