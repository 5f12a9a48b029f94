// Whose failures say something of a provider. Anybody can register a token that is refused: of another app, made with
// another key, at a path that answers 503. If such a refusal held a provider, strangers could hold it for everybody. So
// once a push has gone through at a provider, only those count that go to devices which one went through to before; of
// the others each waits for itself. Until then everybody counts: a relay that is set up wrongly is to find out. But a
// service of Web Push has nothing set up for it, and whoever registers an endpoint there chooses the path: what it says
// of strangers never counts, and before anything has gone through only that it says nothing.
//
// Kept in memory: after a start the first push that goes through makes the first witness. Until then it helps when one
// went through before the start (`EarlierSuccess`).

/// Devices of one platform, and what has become of pushes to them.
struct Witnesses: Sendable {
  private struct Witness: Sendable {
    let provider: PushProvider
    /// The hash of the token that a push went through to: with another one the device has shown nothing, whether or not
    /// anything waits for it when it is told.
    let token: Int
  }

  /// Devices that a push went through to.
  private var witnesses: [Int64: Witness] = [:]
  private var counts: [PushProvider: Int] = [:]
  /// Devices whose last push failed in a way that could be the provider's.
  private var accused: Set<Int64> = []

  /// Most devices of either kind; beyond it any one of them is forgotten.
  static let maximum = 65_536

  /// Whether anything has gone through at a provider.
  func isKnownGood(_ provider: PushProvider) -> Bool { counts[provider] != nil }

  /// Whether a failure of this device says something of the provider. `isProved`: whether it is to be believed that
  /// something has gone through there, though there is no witness.
  func counts(_ device: PushDevice, _ reason: PushReason, isProved: Bool) -> Bool {
    let provider = device.token.provider
    if witnesses[device.number]?.token == device.token.hashValue { return true }
    return !isProved && !isKnownGood(provider) && (provider.platform != .webPush || reason == Self.silence)
  }

  /// That there was no answer in time.
  private static let silence: PushReason = "timed-out"

  /// Whether the last push to this device failed.
  func isAccused(_ device: Int64) -> Bool { accused.contains(device) }

  mutating func wentThrough(_ device: PushDevice) {
    accused.remove(device.number)
    let witness = Witness(provider: device.token.provider, token: device.token.hashValue)
    if witnesses[device.number]?.token == witness.token { return }
    forget(device.number)
    if witnesses.count >= Self.maximum, let any = witnesses.keys.first { forget(any) }
    witnesses[device.number] = witness
    counts[witness.provider, default: 0] += 1
  }

  mutating func failed(_ device: Int64) {
    if accused.count >= Self.maximum, let any = accused.first { accused.remove(any) }
    accused.insert(device)
  }

  /// A device has another token, or is none any more.
  mutating func forget(_ device: Int64) {
    accused.remove(device)
    guard let provider = witnesses.removeValue(forKey: device)?.provider, let count = counts[provider] else { return }
    counts[provider] = count > 1 ? count - 1 : nil
  }
}
