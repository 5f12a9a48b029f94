internal import Addresses
public import Cryptography

// Reposts and quotes (NIP-18).
//
//     kind 6    of a text (kind 1)    e (with a relay), p
//     kind 16   of anything else      e (with a relay), p, k, and a if it has an address
//
// The content is the event, unless it is protected (NIP-70): its author wants it only where the author put it.

extension EventTemplate {
  /// A repost of an event.
  ///
  /// - Parameters:
  ///   - subject: the event.
  ///   - json: the event in its own bytes; nil: written in canonical form.
  public static func repost(of subject: SubjectEvent, json: [UInt8]? = nil) -> EventTemplate {
    let event = subject.event
    let isText = event.kind == EventKind.textNote
    // NIP-18 wants a relay in the third place; what is not known is left empty.
    var tags = [subject.eventTag(), subject.personTag()]
    if !isText { tags.append(["k", "\(event.kind)"]) }
    if let address = subject.addressTag() { tags.append(address) }
    return EventTemplate(
      kind: isText ? EventKind.repost : EventKind.genericRepost,
      content: event.isProtected ? "" : String(decoding: json ?? event.json, as: UTF8.self), tags: tags)
  }

  /// A text that quotes an event: its content ends with a reference to it (NIP-21), and a tag `q` says the same.
  ///
  /// - Parameters:
  ///   - subject: the event.
  ///   - text: what it says about the event.
  ///   - author: who writes; nil: not known.
  public static func quote(
    of subject: SubjectEvent, _ text: String, by author: PublicKey? = nil
  ) -> EventTemplate {
    let event = subject.event
    let relays = subject.relay.map { [$0] } ?? []
    let pointer = EventPointer(id: event.id, relays: relays, author: event.pubkey, kind: event.kind).nevent
    let link = "nostr:" + (subject.address.flatMap { AddressPointer($0, relays: relays).naddr } ?? pointer)
    return EventTemplate(kind: EventKind.textNote, content: text.isEmpty ? link : text + "\n" + link)
      .namingReferences(by: author)
  }

  /// A text (kind 1), with a tag for each reference in it: `q` for an event or an address, `p` for a person (NIP-18,
  /// NIP-27).
  ///
  /// - Parameters:
  ///   - text: what it says.
  ///   - author: who writes, and is not named; nil: not known.
  public static func note(_ text: String, by author: PublicKey? = nil) -> EventTemplate {
    EventTemplate(kind: EventKind.textNote, content: text).namingReferences(by: author)
  }

  /// The template with a tag for each reference in its content that it does not have yet: `q` for an event or an
  /// address (NIP-18), with `p` for its author, and `p` for a person (NIP-27). Oneself is not named.
  func namingReferences(by author: PublicKey?) -> EventTemplate {
    var template = self
    var people = PeopleTags(without: author, tags)
    var known = Set((tags.named("e") + tags.named("a") + tags.named("q")).compactMap { $0.count > 1 ? $0[1] : nil })
    func quote(_ value: String, _ relay: String, _ quoted: PublicKey?, hasAuthor: Bool) {
      guard known.insert(value).inserted else { return }
      template.tags.append(["q", value, relay] + (hasAuthor ? quoted.map { ["\($0)"] } ?? [] : []))
      if let quoted { people.add(["p", "\(quoted)"]) }
    }
    for reference in NostrReference.find(in: content) {
      switch reference.entity {
      case .note(let id): quote("\(id)", "", nil, hasAuthor: true)
      case .event(let pointer):
        let relay = pointer.relays.first { $0.isPublic }
        quote("\(pointer.id)", relay?.text ?? "", pointer.author, hasAuthor: true)
      case .address(let pointer):
        let relay = pointer.relays.first { $0.isPublic }
        quote("\(pointer.address)", relay?.text ?? "", pointer.address.pubkey, hasAuthor: false)
      case .publicKey(let key): people.add(["p", "\(key)"])
      case .profile(let pointer): people.add(["p", "\(pointer.pubkey)", pointer.relays.first?.text ?? ""])
      default: break
      }
    }
    template.tags += people.tags
    return template
  }
}
