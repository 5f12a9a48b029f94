import Contracts
import Cryptography
import DataKeys
import Frames
import LinkLedger
import Nostr

// The hashes and seals of one account's rows. Each sealed value is bound to its row: one cannot be put in the place of
// another.

/// What of an account is found and sealed under its data key.
struct LinkVault {
  /// The row of the account.
  let account: Int64
  /// The account.
  let key: PublicKey
  private let dataKey: DataKey

  init(_ account: Int64, _ key: PublicKey, _ dataKey: DataKey) {
    (self.account, self.key, self.dataKey) = (account, key, dataKey)
  }

  // MARK: Hashes

  func hash(ofItem id: EventID) -> [UInt8] { dataKey.hash(id.octets.bytes, for: "item") }
  /// Of the first digits of an item's id: eight bytes are enough to find it.
  func hash(ofFirstDigits id: String) -> [UInt8] {
    Array(dataKey.hash(Array(id.utf8.prefix(LinkRow.idDigitsMinimum)), for: "digits").prefix(8))
  }
  func hash(ofWrap id: EventID) -> [UInt8] { dataKey.hash(id.octets.bytes, for: "wrap") }
  func hash(ofConversation id: String) -> [UInt8] { dataKey.hash(id.utf8, for: "conversation") }
  func hash(ofContact key: PublicKey) -> [UInt8] { dataKey.hash(key.octets.bytes, for: "contact") }
  func hash(ofToken token: String) -> [UInt8] { dataKey.hash(token.utf8, for: "token") }

  /// A post or message with what belongs to it. The conversation is part of it, so that who knows the id of a post
  /// cannot reply to it in another's conversation.
  func hash(ofThread id: EventID, in conversation: String) -> [UInt8] {
    dataKey.hash(Array(conversation.utf8) + id.octets.bytes, for: "thread")
  }

  // MARK: Seals

  func seal(rumor: [UInt8], _ hash: [UInt8]) -> [UInt8] { dataKey.seal(rumor, for: Self.purpose("item", hash)) }

  /// The rumor of a row; nil: the row was damaged.
  func rumor(_ row: LinkLedger.Row) -> KeptRumor? {
    guard let json = dataKey.open(row.sealed, for: Self.purpose("item", row.id)),
      // `try?`: it was read before it was sealed.
      let event = try? UnsignedEvent(json: json)
    else { return nil }
    return KeptRumor(event, for: key, isKept: true)
  }

  func seal(_ value: some Encodable, _ what: String, _ hash: [UInt8]) -> [UInt8] {
    dataKey.seal(JSONPayload.encode(value), for: Self.purpose(what, hash))
  }

  /// A sealed value; nil: the row was damaged.
  func open<Value: Decodable>(_ sealed: [UInt8], as type: Value.Type, _ what: String, _ hash: [UInt8]) -> Value? {
    dataKey.open(sealed, for: Self.purpose(what, hash)).flatMap {
      // `try?`: as above.
      try? JSONPayload.decode(type, from: $0)
    }
  }

  /// A contact; it has no row number of its own, so the key in it is compared with its place.
  func contact(_ sealed: [UInt8]) -> LinkContact? {
    guard let bytes = dataKey.open(sealed, for: "contact") else { return nil }
    // `try?`: as above.
    return try? JSONPayload.decode(LinkContact.self, from: bytes)
  }

  func seal(contact: LinkContact) -> [UInt8] { dataKey.seal(JSONPayload.encode(contact), for: "contact") }

  private static func purpose(_ what: String, _ hash: [UInt8]) -> String { "\(what) \(Hexadecimal.text(of: hash))" }
}

/// With whom a conversation is, as it is sealed.
struct KeptConversation: Codable {
  /// Its id.
  var id: String
  /// The other members; of a session they change, and are not here.
  var members: [String]
  /// Whether it is a session (v2); absent: it is not.
  var isSession: Bool?
}

/// A gift wrap that is sent, as it is sealed.
struct KeptCopy: Codable {
  /// The recipient.
  var recipient: String
  /// The id of the wrap.
  var wrap: String
  /// The wrap; nil when its publication has ended.
  var event: RawJSON?
  /// The relays that have it.
  var relays: [String] = []
  /// Why it is not sent.
  var message: String?
}
