import Cryptography
import Nostr

/// Gift wraps as others make them, right and wrong at any layer.
struct WrapMaker {
  var author = SecretKey.generate()
  let recipient: SecretKey
  let now: Int64 = 1_800_000_000

  func rumor(_ content: String = "Are you going?", by author: SecretKey? = nil) -> UnsignedEvent {
    UnsignedEvent(
      pubkey: (author ?? self.author).publicKey, createdAt: now, kind: 14, tags: [["p", "\(recipient.publicKey)"]],
      content: content)
  }

  /// A seal over any bytes.
  func seal(_ json: [UInt8], kind: UInt16 = 13, tags: [[String]] = []) throws -> UnsignedEvent {
    UnsignedEvent(
      pubkey: author.publicKey, createdAt: now, kind: kind, tags: tags,
      content: try NIP44.encrypt(json, with: ConversationKey(author, recipient.publicKey)))
  }

  /// A wrap over any bytes.
  func wrap(_ json: [UInt8], kind: UInt16 = 1_059, tags: [[String]]? = nil) throws -> Event {
    let once = SecretKey.generate()
    return UnsignedEvent(
      pubkey: once.publicKey, createdAt: now, kind: kind, tags: tags ?? [["p", "\(recipient.publicKey)"]],
      content: try NIP44.encrypt(json, with: ConversationKey(once, recipient.publicKey))
    ).signed(by: once)
  }

  /// A sound wrap of a rumor.
  func wrap(_ rumor: UnsignedEvent, sealTags: [[String]] = []) throws -> Event {
    try wrap(seal(rumor.json, tags: sealTags).signed(by: author).json)
  }
}
