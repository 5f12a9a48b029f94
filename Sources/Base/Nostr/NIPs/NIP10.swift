public import Addresses
public import Cryptography

// The place of a text in a conversation (NIP-10). Marked `e` tags state their roles; if none is marked, their position
// determines them, as in notes until 2022. What a note claims about others is not checked here.

/// An event that another event refers to with a tag `e`.
public struct EventReference: Hashable, Sendable {
  /// The event.
  public let id: EventID
  /// Where it may be, according to the referring event.
  public let relay: RelayURL?
  /// Its author, according to the referring event.
  public let author: PublicKey?

  /// A reference.
  public init(id: EventID, relay: RelayURL? = nil, author: PublicKey? = nil) {
    self.id = id
    self.relay = relay
    self.author = author
  }

  /// Reads a tag `e`; nil if it has no id.
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
  /// Where the conversation began; nil if the note begins one.
  public let root: EventReference?
  /// The event that the note answers; the root itself for a direct answer, nil if it answers nothing.
  public let parent: EventReference?
  /// Other events that it names.
  public let mentions: [EventReference]
  /// Whether the roles had to be derived from positions.
  public let isPositional: Bool

  /// The most `e` tags that are read.
  public static let referenceCountMaximum = 100

  /// The place that a note's tags give it. Tags `e` without an id do not count, nor do those beyond
  /// ``referenceCountMaximum``.
  public init(tags: [[String]]) {
    var references = tags.named("e").prefix(Self.referenceCountMaximum).compactMap { tag in
      EventReference(tag).map { (reference: $0, marker: tag.count > 3 ? tag[3] : "") }
    }
    let markedRoot = references.first { $0.marker == "root" }?.reference
    let markedReply = references.first { $0.marker == "reply" }?.reference
    if markedRoot != nil || markedReply != nil {
      // Some clients mark only the reply: then that is all that is known about the root.
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

  /// The tags of an answer to `event`: its root and itself, marked, and every participant.
  ///
  /// - Parameters:
  ///   - event: the event to answer.
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
