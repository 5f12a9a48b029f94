public import Addresses
public import Cryptography

// What a person writes about the events of others: answers (NIP-10), reposts (NIP-18), comments (NIP-22), reactions
// (NIP-25). The file of each NIP has its builder. A builder decides the kind, the tags and their order; the caller has
// the event that is meant, and knows where it was seen.

/// An event to sign, without its author and its time.
public struct EventTemplate: Hashable, Sendable {
  /// The kind.
  public var kind: UInt16
  /// The content.
  public var content: String
  /// Tags of at least one string each.
  public var tags: [[String]]

  /// A template.
  public init(kind: UInt16, content: String = "", tags: [[String]] = []) {
    (self.kind, self.content, self.tags) = (kind, content, tags)
  }

  /// The most `p` tags that a builder writes. An answer in a conversation of thousands would otherwise grow with it,
  /// and notify them all.
  public static let peopleMaximum = 100

  /// The unsigned event of this template.
  public func unsigned(by author: PublicKey, createdAt: Int64) -> UnsignedEvent {
    UnsignedEvent(pubkey: author, createdAt: createdAt, kind: kind, tags: tags, content: content)
  }
}

/// An event that another one is about, and where it can be found.
public struct SubjectEvent: Hashable, Sendable {
  /// The event.
  public let event: Event
  /// A relay that has it; nil: none that may be named. Only a public one is named: the address of a relay at home tells
  /// strangers about the home, and helps them to nothing.
  public let relay: RelayURL?

  /// An event.
  public init(_ event: Event, at relay: RelayURL? = nil) {
    self.event = event
    self.relay = relay?.isPublic == true ? relay : nil
  }

  /// Its address; nil if its kind has none.
  public var address: EventAddress? { EventAddress(of: event) }

  /// The relay as the third string of a tag, with a fourth behind it.
  var relayText: String { relay?.text ?? "" }

  /// `["p", author, relay]`, without the relay if it is not known.
  func personTag(_ name: String = "p") -> [String] {
    [name, "\(event.pubkey)"] + (relay.map { [$0.text] } ?? [])
  }

  /// `["e", id, relay, author]`
  func eventTag(_ name: String = "e") -> [String] { [name, "\(event.id)", relayText, "\(event.pubkey)"] }

  /// `["a", address, relay]`, without the relay if it is not known.
  func addressTag(_ name: String = "a") -> [String]? {
    address.map { [name, "\($0)"] + (relay.map { [$0.text] } ?? []) }
  }
}

/// Why there is no template.
public enum TemplateFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// A comment (NIP-22) on a text of kind 1, which is answered by NIP-10.
  case commentOnNote
  /// An answer by NIP-10 to another kind than 1, on which one comments.
  case replyToOther(UInt16)
  /// The content of a reaction is neither `+`, `-`, an emoji nor `:name:` with the image of the emoji.
  case badReaction
  /// A name of a custom emoji has other characters than letters, digits, `-` and `_`, or its image has no URL.
  case badEmoji
  /// Something outside Nostr that NIP-73 has no kind for.
  case badExternal

  /// A sentence.
  public var description: String {
    switch self {
    case .commentOnNote: "a text (kind 1) is answered with a text, not with a comment"
    case .replyToOther(let kind): "an event of kind \(kind) is not answered with a text, but with a comment"
    case .badReaction: "a reaction is +, -, one emoji, or :name: with the URL of its image"
    case .badEmoji: "an emoji's name has letters, digits, - and _ only, and its image a URL that begins with https://"
    case .badExternal: "it is neither a URL (https://…), a #hashtag, nor an id as isbn:9780765382030 (NIP-73)"
    }
  }
}
