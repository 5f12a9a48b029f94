public import Addresses
public import Cryptography

// How a text stands in a conversation (NIP-10). Marked `e` tags say what they are; without any mark, their position
// does, as notes did until 2022. What a note claims about others is not checked here.

/// An event that another one refers to by a tag `e`.
public struct EventReference: Hashable, Sendable {
  /// The event.
  public let id: EventID
  /// Where it may be found, as the one that refers to it thinks.
  public let relay: RelayURL?
  /// Its author, as the one that refers to it thinks.
  public let author: PublicKey?

  /// A reference.
  public init(id: EventID, relay: RelayURL? = nil, author: PublicKey? = nil) {
    self.id = id
    self.relay = relay
    self.author = author
  }

  /// Reads a tag `e`; nil without an id.
  init?(_ tag: [String]) {
    guard tag.count > 1, let id = EventID(tag[1]) else { return nil }
    self.init(
      id: id, relay: tag.count > 2 ? RelayURL(reading: tag[2]) : nil,
      author: tag.count > 4 ? PublicKey(tag[4]) : nil)
  }

  fileprivate func tag(_ marker: String) -> [String] {
    var tag = ["e", id.description, relay?.text ?? "", marker]
    if let author { tag.append(author.description) }
    return tag
  }
}

/// The place of a note in its conversation.
public struct ThreadPlace: Hashable, Sendable {
  /// Where the conversation began; nil when the note begins one.
  public let root: EventReference?
  /// What the note answers; the root itself for a direct answer, nil when it answers nothing.
  public let parent: EventReference?
  /// What else it names.
  public let mentions: [EventReference]
  /// Whether the places had to be told by position.
  public let isPositional: Bool

  /// Most `e` tags looked at.
  public static let referenceCountMaximum = 100

  /// The place that the tags of a note give it. Tags `e` without an id do not count, nor do those beyond
  /// ``referenceCountMaximum``.
  public init(tags: [[String]]) {
    var references = tags.named("e").prefix(Self.referenceCountMaximum).compactMap { tag in
      EventReference(tag).map { (reference: $0, marker: tag.count > 3 ? tag[3] : "") }
    }
    let markedRoot = references.first { $0.marker == "root" }?.reference
    let markedReply = references.first { $0.marker == "reply" }?.reference
    if markedRoot != nil || markedReply != nil {
      // Some clients mark the reply only: then it is all that is known of the root.
      root = markedRoot ?? markedReply
      parent = markedReply ?? markedRoot
      mentions = references.filter { $0.marker != "root" && $0.marker != "reply" }.map(\.reference)
      isPositional = false
      return
    }
    let named = references.filter { $0.marker == "mention" }.map(\.reference)
    references.removeAll { $0.marker == "mention" }
    root = references.first?.reference
    parent = references.last?.reference
    mentions = references.dropFirst().dropLast().map(\.reference) + named
    isPositional = !references.isEmpty
  }

  /// The tags of an answer to `event`: its root and itself, marked, and everyone who took part.
  ///
  /// - Parameters:
  ///   - event: what is answered.
  ///   - relay: where `event` was seen.
  public static func tags(answering event: Event, seenAt relay: RelayURL? = nil) -> [[String]] {
    let parent = EventReference(id: event.id, relay: relay, author: event.pubkey)
    let root = ThreadPlace(tags: event.tags).root
    var tags = root.map { [$0.tag("root"), parent.tag("reply")] } ?? [parent.tag("root")]
    var people = [event.pubkey]
    for key in event.values(of: "p").prefix(referenceCountMaximum).compactMap({ PublicKey($0) })
    where !people.contains(key) { people.append(key) }
    tags += people.map { ["p", $0.description] }
    return tags
  }
}
