// Reactions (NIP-25): kind 7 to an event, kind 17 to something outside Nostr (NIP-73).

/// What a reaction says.
public enum ReactionContent: Hashable, Sendable {
  /// `+`, or an empty content: it is liked.
  case like
  /// `-`
  case dislike
  /// An emoji of Unicode, or another short text.
  case emoji(String)
  /// An emoji with an image of its own (NIP-30).
  case custom(CustomEmoji)

  /// Longest content that is read or written, in bytes: the longest emoji of Unicode is below it.
  public static let byteCountMaximum = 64

  /// What a reaction of kind 7 or 17 says; nil for a content that is too long.
  public init?(_ event: Event) {
    guard event.content.utf8.count <= Self.byteCountMaximum else { return nil }
    switch event.content {
    case "", "+": self = .like
    case "-": self = .dislike
    default: self = CustomEmoji(named: event.content, in: event.tags).map { .custom($0) } ?? .emoji(event.content)
    }
  }

  /// What a person has typed: `+`, `-`, one emoji, or `:name:` with the URL of its image behind it.
  ///
  /// - Throws: `badReaction`, `badEmoji`.
  public init(typed text: String, image: String? = nil) throws(TemplateFault) {
    if let image {
      self = .custom(try CustomEmoji(named: text, image: image))
      return
    }
    switch text {
    case "", "+": self = .like
    case "-": self = .dislike
    default:
      guard text.count == 1, text.utf8.count <= Self.byteCountMaximum, let character = text.first,
        character.unicodeScalars.contains(where: { $0.properties.isEmoji && !$0.isASCII }) || character.isKeycap
      else { throw .badReaction }
      self = .emoji(text)
    }
  }

  /// The content of the event.
  public var text: String {
    switch self {
    case .like: "+"
    case .dislike: "-"
    case .emoji(let text): text
    case .custom(let emoji): emoji.text
    }
  }

  /// The tag that the content needs.
  fileprivate var tags: [[String]] {
    if case .custom(let emoji) = self { [emoji.tag] } else { [] }
  }
}

extension Character {
  /// Whether it is a digit, `#` or `*` in a box.
  fileprivate var isKeycap: Bool { unicodeScalars.contains { $0.value == 0x20E3 } }
}

extension EventTemplate {
  /// A reaction to an event: its id, its author, its kind, and its address if it has one.
  public static func reaction(_ content: ReactionContent, to subject: SubjectEvent) -> EventTemplate {
    var tags = [subject.eventTag()]
    if let address = subject.address {
      tags.append(["a", "\(address)", subject.relayText, "\(subject.event.pubkey)"])
    }
    tags += [subject.personTag(), ["k", "\(subject.event.kind)"]] + content.tags
    return EventTemplate(kind: EventKind.reaction, content: content.text, tags: tags)
  }

  /// A reaction to something outside Nostr (kind 17).
  public static func reaction(_ content: ReactionContent, to external: ExternalContent) -> EventTemplate {
    EventTemplate(
      kind: EventKind.externalReaction, content: content.text, tags: external.tags("i", "k").reversed() + content.tags)
  }
}
