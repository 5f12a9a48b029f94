internal import Addresses
internal import Contracts
public import Cryptography
public import Frames
public import Nostr

// Drafts of what people write about the events of others, with the tags that the NIPs want. `EventTemplate` (Nostr)
// builds them; here they become drafts that ``RoostClient/publish(_:as:to:allowSecrets:)`` takes.

extension EventDraft {
  /// A template as a draft.
  public init(_ template: EventTemplate) {
    self.init(kind: template.kind, content: template.content, tags: template.tags)
  }

  /// A text (kind 1) that names whom and what it refers to with `nostr:` by tags `p` and `q` (NIP-18, NIP-27).
  ///
  /// - Parameters:
  ///   - text: what it says.
  ///   - author: who writes, and is not named.
  public static func note(_ text: String, by author: PublicKey) -> EventDraft {
    EventDraft(EventTemplate.note(text, by: author))
  }

  /// An answer to any event: a text to a text (NIP-10), a comment to everything else (NIP-22).
  ///
  /// - Parameters:
  ///   - text: what it says.
  ///   - subject: what is answered, see ``RoostClient/subject(_:)``.
  ///   - author: who answers, and is not named; nil: not known.
  public static func answer(_ text: String, to subject: SubjectEvent, by author: PublicKey? = nil) -> EventDraft {
    EventDraft(EventTemplate.answer(text, to: subject, by: author))
  }

  /// A comment (NIP-22, kind 1111) on an event that is not a text, or on something outside Nostr.
  ///
  /// - Throws: `commentOnNote`.
  public static func comment(
    _ text: String, on subject: CommentSubject, by author: PublicKey? = nil
  ) throws(TemplateFault) -> EventDraft {
    EventDraft(try EventTemplate.comment(text, on: subject, by: author))
  }

  /// A reaction to an event (NIP-25).
  ///
  /// - Parameters:
  ///   - typed: `+`, `-`, one emoji, or `:name:` with its image.
  ///   - image: the URL of the image of `:name:`.
  ///   - subject: the event.
  /// - Throws: `badReaction`, `badEmoji`.
  public static func reaction(
    _ typed: String = "+", image: String? = nil, to subject: SubjectEvent
  ) throws(TemplateFault) -> EventDraft {
    EventDraft(EventTemplate.reaction(try ReactionContent(typed: typed, image: image), to: subject))
  }

  /// A repost of an event (NIP-18): kind 6 of a text, 16 of everything else.
  ///
  /// - Parameters:
  ///   - subject: the event.
  ///   - json: the event in its own bytes; nil: written in canonical form.
  public static func repost(of subject: SubjectEvent, json: [UInt8]? = nil) -> EventDraft {
    EventDraft(EventTemplate.repost(of: subject, json: json))
  }

  /// A text that quotes an event (NIP-18).
  public static func quote(of subject: SubjectEvent, _ text: String, by author: PublicKey? = nil) -> EventDraft {
    EventDraft(EventTemplate.quote(of: subject, text, by: author))
  }
}

extension RoostClient {
  /// An event with a relay where others find it, for the tags of what is written about it: one that has sent it and is
  /// public; without one the event is named by its id alone.
  public func subject(_ event: Event) async throws(Refusal) -> SubjectEvent {
    let relays: [SeenResult.Relay]
    do throws(Refusal) { relays = try await seen(event.id).relays } catch {
      guard error.code == .noSuchEvent else { throw error }
      relays = []
    }
    // `try?`: the store has canonical URLs.
    return SubjectEvent(event, at: relays.lazy.compactMap { try? RelayURL($0.relay) }.first(where: \.isPublic))
  }
}
