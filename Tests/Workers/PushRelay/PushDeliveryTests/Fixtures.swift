import Clocks
import Cryptography
import PushDelivery

/// A moment so many milliseconds after an arbitrary beginning; the wall clock began at 1,700,000,000 s.
func moment(_ milliseconds: UInt64) -> PushMoment {
  PushMoment(
    instant: Instant(nanoseconds: 1_000_000_000_000).advanced(milliseconds: milliseconds),
    unixMilliseconds: beginning + Int64(milliseconds))
}

let beginning: Int64 = 1_700_000_000_000

func owner(_ number: UInt8, _ realm: PushOwner.Realm = .pubky) -> PushOwner {
  PushOwner(realm, octets(number))
}

func octets(_ number: UInt8) -> Octets32 {
  guard let octets = Octets32([UInt8](repeating: number, count: 32)) else { preconditionFailure("32 bytes") }
  return octets
}

func token(_ platform: PushPlatform, _ number: Int64) -> PushToken {
  switch platform {
  case .ios: .apple((0..<32).map { $0 == 0 ? UInt8(truncatingIfNeeded: number) : UInt8($0) })
  case .android: .google("fcm-token_of:device-" + String(repeating: "0", count: 20) + "\(number)")
  case .webPush:
    .web(
      endpoint: "https://push\(number).example/send/\(number)",
      publicKey: [4] + [UInt8](repeating: 7, count: 64), authentication: [UInt8](repeating: 9, count: 16))
  }
}

func device(
  _ number: Int64, _ platform: PushPlatform = .ios, of holder: UInt8 = 1, registeredAt: Int64 = 1_690_000_000
) -> PushDevice {
  var device = PushDevice(
    owner: owner(holder), id: "device-\(number)", relayID: String(repeating: "a", count: 32),
    token: token(platform, number), capabilities: [], registeredAt: registeredAt, expiresAt: 1_800_000_000)
  device.number = number
  return device
}

func wake(
  _ number: Int64, to recipient: UInt8 = 1, type: String = "payment_received", at milliseconds: UInt64 = 0,
  seconds: Int64 = 60, payload: [UInt8]? = nil
) -> Wake {
  let accepted = beginning + Int64(milliseconds)
  var wake = Wake(
    id: (0..<16).map { UInt8(truncatingIfNeeded: number) &+ $0 }, recipient: owner(recipient), sender: owner(200),
    type: type, payload: payload, nonce: [UInt8](repeating: 0xAB, count: 16), acceptedAt: accepted,
    expiresAt: accepted + seconds * 1_000)
  wake.number = number
  return wake
}

let settings = PushMessageSettings(topic: "to.bitkit", project: "bitkit-1")

extension [DeliveryAction] {
  var sends: [PushDelivery] {
    compactMap { if case .send(let delivery) = $0 { delivery } else { nil } }
  }
  var outcomes: [Int64: WakeOutcome] {
    var outcomes: [Int64: WakeOutcome] = [:]
    for case .done(let wake, let outcome) in self { outcomes[wake] = outcome }
    return outcomes
  }
  var pruned: [Int64] {
    compactMap { if case .prune(let device) = $0 { device.number } else { nil } }
  }
  var told: [PushAlarm] {
    compactMap { if case .alarm(let alarm) = $0 { alarm } else { nil } }
  }
}
