import Clocks
import Contracts
import EventLoop
import PushDelivery

// `roost push send` is for trying: who types it wants to know what became of the wake, device by device. So the
// verdicts on such wakes are kept while somebody waits for them.

/// Wakes of the operator's whose verdicts are waited for.
struct SendTrials {
  private var verdicts: [[UInt8]: [Int64: PushVerdict]] = [:]

  /// Wakes at a time that are waited for; of more nothing is told.
  static let countMaximum = 16

  /// Somebody waits for a wake.
  mutating func begin(_ wake: [UInt8]) {
    if verdicts.count < Self.countMaximum { verdicts[wake] = [:] }
  }

  /// A platform has answered, for one device.
  mutating func note(_ verdict: PushVerdict, of wake: [UInt8], for device: Int64) {
    verdicts[wake]?[device] = verdict
  }

  /// Whether all these devices have a verdict that stands.
  func isOver(_ wake: [UInt8], for devices: [PushDevice]) -> Bool {
    guard let known = verdicts[wake] else { return true }
    return devices.allSatisfy { known[$0.number].map { SendTrials.state(of: $0) != "waiting" } ?? false }
  }

  /// Nobody waits any more. What came by then; nil where nothing was kept.
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
  /// Waits until a wake has come to its devices, or was refused, and says what became of it.
  func outcomes(of wake: [UInt8], for devices: [PushDevice], milliseconds: Int) async -> [PushSent.Outcome]? {
    let maximum = min(max(0, milliseconds), PushSend.waitMillisecondsMaximum)
    let end = EventLoop.process.now.advanced(milliseconds: UInt64(maximum))
    // Of a platform that is off nothing is to be heard.
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
