internal import Frames

/// An event to sign, without its author.
public struct EventDraft: Hashable, Sendable {
  /// The kind.
  public var kind: UInt16
  /// The content.
  public var content: String
  /// Tags of at least one string each.
  public var tags: [[String]]
  /// Seconds since 1970; nil: the time of signing.
  public var createdAt: Int64?

  /// A draft.
  public init(kind: UInt16, content: String = "", tags: [[String]] = [], createdAt: Int64? = nil) {
    self.kind = kind
    self.content = content
    self.tags = tags
    self.createdAt = createdAt
  }

  /// The draft of a short text (kind 1, NIP-10).
  public static func note(_ text: String, tags: [[String]] = []) -> EventDraft {
    EventDraft(kind: 1, content: text, tags: tags)
  }

  /// The form that the signer takes: an event object without author, id and signature.
  var template: JSONValue {
    var members: [String: JSONValue] = [
      "kind": .integer(Int64(kind)), "content": .string(content),
      "tags": .array(tags.map { .array($0.map { .string($0) }) }),
    ]
    if let createdAt { members["created_at"] = .integer(createdAt) }
    return .object(members)
  }
}
