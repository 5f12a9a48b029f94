import Cryptography
import Nostr
import Testing

@testable import ListEditing

/// An author whose events tests write. The machine verifies no signature, so all are the same.
enum Author {
  static let key = octets(7)
  static let signature: Signature = {
    guard let signature = Signature(String(repeating: "0", count: 128)) else { preconditionFailure("128 digits") }
    return signature
  }()

  /// Some key of its own for each number.
  static func octets(_ number: Int) -> PublicKey {
    let digits = String(number, radix: 16)
    guard let key = PublicKey(String(repeating: "0", count: 64 - digits.count) + digits) else {
      preconditionFailure("64 digits are a key")
    }
    return key
  }

  static func event(
    _ kind: UInt16, _ tags: [[String]] = [], content: String = "", at createdAt: Int64 = 1_000
  ) -> Event {
    Event(
      UnsignedEvent(pubkey: key, createdAt: createdAt, kind: kind, tags: tags, content: content), signature: signature)
  }

  static func event(_ contents: ListContents, at createdAt: Int64, encrypted: String? = nil) -> Event {
    Event(contents.template(by: key, createdAt: createdAt, encrypted: encrypted), signature: signature)
  }
}

func contents(_ kind: UInt16, _ tags: [[String]] = [], content: String = "", hidden: String? = nil) -> ListContents {
  ListContents(Author.event(kind, tags, content: content), hiddenText: hidden)
}
