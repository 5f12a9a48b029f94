import Addresses
import Contracts
import Cryptography
import RelaySession

/// The keys with which this process authenticates where no account may be shown: one for each relay, always the same,
/// so that a relay sees one client and two relays see two. They are derived from a secret that ends with the process.
final class ThrowAwayKeys {
  private let secret = SecretMemory(byteCount: HKDF.keyByteCount) { RandomBytes.fill($0) }

  /// The key for a relay.
  func key(for relay: RelayURL) -> SecretKey {
    var info = Array(relay.text.utf8)
    while true {
      // One value in 2^128 is not a key; the next one then has another text.
      info.append(0)
      let derived = SecretMemory(byteCount: SecretKey.byteCount) { output in
        secret.withBytes { secret in info.withUnsafeBytes { HKDF.expand(secret, info: $0, into: output) } }
      }
      if let key = SecretKey(derived) { return key }
    }
  }
}

extension ShownKey {
  /// The key that follows from the setting; a throw-away key is made only where the setting wants one.
  init(_ setting: ConnectorSettings.Authentication, throwAway: SecretKey?) {
    switch setting {
    case .account: self = .account
    case .throwAway: self = throwAway.map { .throwAway($0.publicKey) } ?? .never
    case .never: self = .never
    }
  }
}
