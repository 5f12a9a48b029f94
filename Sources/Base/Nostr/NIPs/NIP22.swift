internal import Addresses
public import Cryptography

// Comments (NIP-22): on anything but a text of kind 1, and on what is outside Nostr (NIP-73).
//
//     upper case   E or A or I, K, P    what the conversation is about
//     lower case   e or a or i, k, p    what this comment answers: the same, or another comment
//
// An addressable parent has `e` beside `a`, so that it is known which version was meant.

/// What a comment is about.
public enum CommentSubject: Hashable, Sendable {
  /// An event, or another comment.
  case event(SubjectEvent)
  /// Something outside Nostr.
  case external(ExternalContent)
}

extension EventTemplate {
  /// A comment of kind 1111.
  ///
  /// - Parameters:
  ///   - text: what it says. What it names with `nostr:` is tagged.
  ///   - subject: what it is about.
  ///   - author: who comments; nil: not known. Not named, unless what the comment is about is the author's own: NIP-22
  ///     wants its author there.
  /// - Throws: `commentOnNote`.
  public static func comment(
    _ text: String, on subject: CommentSubject, by author: PublicKey? = nil
  ) throws(TemplateFault) -> EventTemplate {
    let tags: [[String]]
    switch subject {
    case .external(let content):
      tags = content.tags("I", "K") + content.tags("i", "k")
    case .event(let subject):
      guard subject.event.kind != EventKind.textNote else { throw .commentOnNote }
      let root = subject.event.kind == EventKind.comment ? CommentRoot.tags(of: subject.event) : nil
      tags = (root ?? scope(subject, isRoot: true)) + scope(subject, isRoot: false)
    }
    return EventTemplate(kind: EventKind.comment, content: text, tags: tags).namingReferences(by: author)
  }

  private static func scope(_ subject: SubjectEvent, isRoot: Bool) -> [[String]] {
    let event = subject.event
    let kind = [isRoot ? "K" : "k", "\(event.kind)"]
    let person = subject.personTag(isRoot ? "P" : "p")
    guard let address = subject.addressTag(isRoot ? "A" : "a") else {
      return [subject.eventTag(isRoot ? "E" : "e"), kind, person]
    }
    // Which version is meant.
    return [address] + (isRoot ? [] : [["e", "\(event.id)"] + (subject.relay.map { [$0.text] } ?? [])]) + [
      kind, person,
    ]
  }
}

/// What a conversation of comments is about.
private enum CommentRoot {
  /// The tags of a comment that say it, without relays that are not public; nil if they do not: then the comment itself
  /// begins a conversation.
  static func tags(of comment: Event) -> [[String]]? {
    guard let scope = comment.tags.first(where: isScope), let kind = comment.tags.named("K").first(where: isFull) else {
      return nil
    }
    let person = comment.tags.named("P").first { $0.count > 1 && PublicKey($0[1]) != nil }
    // The second string of `I` is the address of a page, that of the others a relay.
    let isExternal = scope[0].utf8.elementsEqual("I".utf8)
    return [isExternal ? Array(scope.prefix(3)) : shareable(scope, 4), Array(kind.prefix(2))]
      + (person.map { [shareable($0, 3)] } ?? [])
  }

  private static func isFull(_ tag: [String]) -> Bool { tag.count > 1 && !tag[1].isEmpty }

  private static func isScope(_ tag: [String]) -> Bool {
    guard isFull(tag) else { return false }
    switch tag[0] {
    case "E": return EventID(tag[1]) != nil
    case "A": return EventAddress(tag[1]) != nil
    case "I": return tag[1].utf8.count <= ExternalContent.byteCountMaximum
    default: return false
    }
  }

  private static func shareable(_ tag: [String], _ count: Int) -> [String] {
    var tag = Array(tag.prefix(count))
    if tag.count > 2 {
      let relay = RelayURL(reading: tag[2])
      tag[2] = relay?.isPublic == true ? relay?.text ?? "" : ""
    }
    if tag.count > 3, PublicKey(tag[3]) == nil { tag.removeLast() }
    return tag.count == 3 && tag[2].isEmpty ? Array(tag.prefix(2)) : tag
  }
}
