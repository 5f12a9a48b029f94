import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

@testable import Linkstr

/// Four people, with the keys that the shared vectors have too, and what they send.
enum LinkFixtures {
  static let alice = key("ce502260da1c7de86c62a439de1e13f97b455ac8378d4e6fee7872decd832e06")
  static let bob = key("5fa209e16c8a23c37fe79fefcf916d2024f24661e8a8f14c08839f892100e904")
  static let mallory = key("bd12746a9b0d91efc0f9ac14688bb818d8072a41248f9f7118e564122e6208d9")
  static let carol = key("6ffc490032ebb82adfeb0de7539c6a2d6ae2dd9529df035ddad574d25901bc4d")
  static let now: Int64 = 1_771_700_000
  static let session = "3F3AF1ECEBBD1410AB417EC0D27BBFCB"

  private static func key(_ hex: String) -> SecretKey {
    guard let key = secretKey(hex) else { preconditionFailure("this is a key") }
    return key
  }

  static func secretKey(_ hex: String) -> SecretKey? {
    Hexadecimal.decode(hex.utf8)?.withUnsafeBytes { SecretKey(bytes: $0) }
  }

  /// The rumor of a content that no builder would make.
  static func rumor(
    _ content: String, by author: SecretKey, tags: [[String]] = [], at createdAt: Int64 = now, kind: UInt16 = 44_001
  ) -> UnsignedEvent {
    UnsignedEvent(pubkey: author.publicKey, createdAt: createdAt, kind: kind, tags: tags, content: content)
  }

  /// A file of `vectors/linkstr`; nil where the shared folder is not there.
  static func vectors(_ name: String) throws -> JSONValue? {
    guard let lines = SharedFolder.lines(of: "vectors/linkstr/\(name)") else { return nil }
    return try JSONPayload.decode(JSONValue.self, from: Array(lines.joined(separator: [10])))
  }
}

extension JSONValue {
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var elements: [JSONValue] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }

  var json: [UInt8] { JSONPayload.encode(self) }
}
