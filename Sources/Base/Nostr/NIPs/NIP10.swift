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

  /// The tags of an answer to a text: its root and itself, marked, and each participant once.
  ///
  /// - Parameters:
  ///   - subject: the text to answer.
  ///   - author: who answers, and is not named; nil: not known.
  public static func tags(answering subject: SubjectEvent, by author: PublicKey? = nil) -> [[String]] {
    let event = subject.event
    let parent = EventReference(id: event.id, relay: subject.relay, author: event.pubkey)
    let root = ThreadPlace(tags: event.tags).root
    var tags = root.map { [$0.sendable.tag("root"), parent.tag("reply")] } ?? [parent.tag("root")]
    var people = PeopleTags(without: author)
    people.add(subject.personTag())
    for tag in event.tags.named("p") { people.add(tag) }
    tags += people.tags
    return tags
  }
}

extension EventTemplate {
  /// An answer to a text of kind 1 (NIP-10): kind 1 too.
  ///
  /// - Parameters:
  ///   - text: what it says. What it names with `nostr:` is tagged (NIP-18, NIP-27).
  ///   - subject: the text that is answered.
  ///   - author: who answers; nil: not known.
  /// - Throws: `replyToOther`.
  public static func reply(
    _ text: String, to subject: SubjectEvent, by author: PublicKey? = nil
  ) throws(TemplateFault) -> EventTemplate {
    guard subject.event.kind == EventKind.textNote else { throw .replyToOther(subject.event.kind) }
    let tags = ThreadPlace.tags(answering: subject, by: author)
    return EventTemplate(kind: EventKind.textNote, content: text, tags: tags).namingReferences(by: author)
  }

  /// An answer to any event: a text to a text (NIP-10), a comment to everything else (NIP-22).
  ///
  /// - Parameters:
  ///   - text: what it says.
  ///   - subject: the event that is answered.
  ///   - author: who answers; nil: not known.
  public static func answer(
    _ text: String, to subject: SubjectEvent, by author: PublicKey? = nil
  ) -> EventTemplate {
    do throws(TemplateFault) {
      return subject.event.kind == EventKind.textNote
        ? try reply(text, to: subject, by: author) : try comment(text, on: .event(subject), by: author)
    } catch { preconditionFailure("the kind decides: \(error)") }
  }
}

extension EventReference {
  /// The same, without a relay that is not public: a stranger has named it.
  fileprivate var sendable: EventReference {
    EventReference(id: id, relay: relay?.isPublic == true ? relay : nil, author: author)
  }
}

/// The `p` tags of a new event: each person once, oneself never, ``EventTemplate/peopleMaximum`` at most.
struct PeopleTags {
  private(set) var tags: [[String]] = []
  private var people: Set<PublicKey>

  /// - Parameters:
  ///   - author: the author of the new event.
  ///   - tags: `p` tags that it has.
  init(without author: PublicKey?, _ tags: [[String]] = []) {
    people = Set((author.map { [$0] } ?? []) + tags.named("p").compactMap { $0.count > 1 ? PublicKey($0[1]) : nil })
    count = tags.named("p").count
  }

  private var count: Int

  /// Adds a tag. One without a key is left out, and so is a relay that is not public; a name behind it is the other
  /// author's own.
  mutating func add(_ tag: [String]) {
    guard count < EventTemplate.peopleMaximum, tag.count > 1, let key = PublicKey(tag[1]), people.insert(key).inserted
    else { return }
    let relay = tag.count > 2 ? RelayURL(reading: tag[2]) : nil
    tags.append(["p", "\(key)"] + (relay?.isPublic == true ? [relay?.text ?? ""] : []))
    count += 1
  }
}
