// Decides whose failures count against a provider. Anyone can register a token that is refused: one of another app, one
// made with another key, or an endpoint whose path answers 503. If such a refusal held the provider, strangers could
// hold it for all users. So once a push has succeeded at a provider, only failures of devices with an earlier success
// count; after any other failure only that device waits. Before the first success all failures count, so that a relay
// with wrong settings finds out. A service of Web Push is an exception: it has no settings, and a client that registers
// an endpoint there chooses the path. Its answers to strangers never count; before a success, only the lack of an
// answer does.
//
// Kept in memory: after a start the first success makes the first witness. Until then a success before the start counts
// Kept in memory: after a start the first success makes the first witness. Until then a success before the start counts
// (`EarlierSuccess`).

/// Devices of one platform, and the results of pushes to them.
struct Witnesses: Sendable {
  private struct Witness: Sendable {
    let provider: PushProvider
    /// The hash of the token with a success. A device with another token has no success yet, even if nothing waits for
    /// the device when the change is reported.
    let token: Int
  }

  /// Devices with a success.
  private var witnesses: [Int64: Witness] = [:]
  private var counts: [PushProvider: Int] = [:]
  /// Devices whose last push failed in a way for which the provider may be the cause.
  private var accused: Set<Int64> = []

  /// The maximum number of devices of either kind; above it an arbitrary one is forgotten.
  static let maximum = 65_536

  /// Whether a push has succeeded at a provider.
  func isKnownGood(_ provider: PushProvider) -> Bool { counts[provider] != nil }

  /// Whether a failure of this device counts against the provider. `isProved`: whether an earlier success there is
  /// believed, though there is no witness.
  func counts(_ device: PushDevice, _ reason: PushReason, isProved: Bool) -> Bool {
    let provider = device.token.provider
    if witnesses[device.number]?.token == device.token.hashValue { return true }
    return !isProved && !isKnownGood(provider) && (provider.platform != .webPush || reason == Self.silence)
  }

  /// There was no answer in time.
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

  /// A device has another token, or was removed.
  mutating func forget(_ device: Int64) {
    accused.remove(device)
    guard let provider = witnesses.removeValue(forKey: device)?.provider, let count = counts[provider] else { return }
    counts[provider] = count > 1 ? count - 1 : nil
  }
}
