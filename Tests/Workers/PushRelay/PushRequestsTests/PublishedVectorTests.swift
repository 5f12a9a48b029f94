import Cryptography
import PushDelivery
import TestSupport
import Testing

@testable import PushRequests

/// Whoever writes a client copies from docs/push-api.md: what is reckoned there must be right.
@Suite("The vectors that authors of clients are given")
struct PublishedVectorTests {
  /// The page without its blanks and line ends: long texts are broken over lines.
  private static func page() throws -> String {
    let bytes = try #require(SharedFolder.bytes(ofFile: SharedFolder.repository + "/docs/push-api.md"))
    return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
  }

  /// 32 bytes, each one more than the one before it.
  private static func counted(from first: UInt8) -> [UInt8] { Array(first..<first + 32) }

  private static func key(from first: UInt8) throws -> Ed25519SecretKey {
    Ed25519SecretKey(seed: try #require(Octets32(counted(from: first))))
  }

  private static func secret(from first: UInt8) -> SecretMemory {
    SecretMemory(byteCount: 32) { memory in counted(from: first).withUnsafeBytes { memory.copyMemory(from: $0) } }
  }

  @Test("are signatures of both versions, and one where there is no body")
  func signatures() throws {
    let (page, key) = (try Self.page(), try Self.key(from: 0))
    let body = SHA256.hash(Array(#"{"platform":"ios"}"#.utf8))
    let nothing = SHA256.hash([UInt8]())
    for message in [
      "POST:/register:1800000000:\(body)", "pubky-push/2:push.example.org:POST:/register:1800000000:\(body)",
      "GET:/contacts:1800000000:\(nothing)",
    ] {
      let signature = Hexadecimal.text(of: key.sign(Array(message.utf8)))
      #expect(page.contains("text\(message)signature\(signature)"), "\(message)")
    }
    #expect(page.contains("key\(ZBase32.text(of: key.publicKey.octets))text"))
  }

  @Test("are a ticket that is good")
  func ticket() throws {
    let (recipient, sender) = (try Self.key(from: 0), try Self.key(from: 0x20).publicKey.octets)
    let owner = PushOwner(.pubky, sender)
    let text = WakeTicket.text(by: recipient, holder: owner, expiresAt: 1_800_000_000)
    #expect(try Self.page().contains(text))
    try WakeTicket(text).verify(
      recipient: PushOwner(.pubky, recipient.publicKey.octets), sender: owner, now: 1_795_000_000)
  }

  @Test("are a sealed message that its device can open")
  func sealed() throws {
    let sender = PushOwner(.pubky, try Self.key(from: 0).publicKey.octets)
    let wake = Wake(
      id: Array(0x40..<0x50), recipient: sender, sender: sender, type: "noise_connect", payload: Array("hello".utf8),
      nonce: Array(0x50..<0x60), acceptedAt: 0, expiresAt: 1)
    let device = X25519.publicKey(of: Self.secret(from: 0))
    let message = SealedMessage.seal(wake, to: device, within: 600, ephemeral: Self.secret(from: 0x20))
    #expect(try Self.page().contains(Base64.encode(try #require(message))))
  }
}
