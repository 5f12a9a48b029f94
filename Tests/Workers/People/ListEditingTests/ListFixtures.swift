import Cryptography
import Nostr
import Testing

@testable import ListEditing

/// An author whose events tests write.
enum Author {
  static let secret: SecretKey = {
    guard let key = SecretKey(bytes: Array(repeating: 7, count: 32)) else { preconditionFailure("7 is a key") }
    return key
  }()
  static let key = secret.publicKey

  /// An event that nobody's signature is needed on: the machine verifies none.
  static func event(
    _ kind: UInt16, _ tags: [[String]] = [], content: String = "", at createdAt: Int64 = 1_000
  ) -> Event {
    let unsigned = UnsignedEvent(pubkey: key, createdAt: createdAt, kind: kind, tags: tags, content: content)
    return Event(unsigned, signature: signature)
  }

  static func event(_ contents: ListContents, at createdAt: Int64, encrypted: String? = nil) -> Event {
    Event(contents.template(by: key, createdAt: createdAt, encrypted: encrypted), signature: signature)
  }

  private static let signature: Signature = secret.sign(EventID(Octets32.zero).octets)
}

func contents(_ kind: UInt16, _ tags: [[String]] = [], content: String = "", hidden: String? = nil) -> ListContents {
  ListContents(Author.event(kind, tags, content: content), hiddenText: hidden)
}
