import Cryptography
import PushDelivery
import PushRequests

/// Keys and requests that the tests of this target share.
enum Sample {
  static let now: Int64 = 1_760_000_000
  static let alice = key("alice")
  static let bob = key("bob")
  static let mallory = key("mallory")

  static func key(_ name: String) -> Ed25519SecretKey { Ed25519SecretKey(seed: SHA256.hash(Array(name.utf8))) }

  static func owner(_ key: Ed25519SecretKey) -> PushOwner { PushOwner(.pubky, key.publicKey.octets) }
  static func name(_ key: Ed25519SecretKey) -> String { owner(key).name }

  static func body(_ json: String) throws -> RequestBody { try RequestBody(Array(json.utf8)) }

  static func fields(
    _ key: Ed25519SecretKey, method: String = "POST", path: String = "/wake", body: [UInt8] = [], time: Int64 = now
  ) -> [HeaderField] {
    let message = "\(method):\(path):\(time):\(SHA256.hash(body))"
    return [
      HeaderField("x-pubky-signature", Hexadecimal.text(of: key.sign(Array(message.utf8)))),
      HeaderField("X-PUBKY-TIMESTAMP", String(time)), HeaderField("X-Pubky-Pubkey", name(key)),
    ]
  }

  /// The word with which something is refused; nil when it is not.
  static func refusal(_ work: () throws -> Void) -> PushRefusal? {
    do {
      try work()
      return nil
    } catch { return error as? PushRefusal }
  }
}
