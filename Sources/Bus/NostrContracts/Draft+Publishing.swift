internal import Frames
internal import Nostr

// Drafts that a signer signs but that no author wants to publish. The signer itself does not check for this, because a
// program may need a signature for other purposes. The command line checks before it requests a signature.

extension Draft {
  /// Why an author cannot want to publish this draft, as a sentence; nil when there is no objection.
  public var objectionToPublishing: String? {
    switch kind {
    case EventKind.encryptedDirectMessage where !isEncryptedForSomebody:
      "a message of kind 4 is published only when it is encrypted and names its reader in a tag p, and this one would be "
        + "read by everybody; 'roost call signer.wrap' makes a private message (NIP-17)"
    case EventKind.deletion where !names(["e", "a"]):
      "an event of kind 5 without a tag e or a deletes nothing; name what is to be deleted, as in --tag e=note1…"
    case EventKind.textNote, EventKind.comment, EventKind.article:
      isEmpty ? "there is nothing to publish: the content is empty, and there are no tags" : nil
    default: nil
    }
  }

  private var isEncryptedForSomebody: Bool { EncryptedForm(of: content) != nil && names(["p"]) }

  private var isEmpty: Bool { content.allSatisfy(\.isWhitespace) && tags.isEmpty }

  private var content: String {
    guard case .string(let text)? = value("content") else { return "" }
    return text
  }

  private var tags: [JSONValue] {
    guard case .array(let tags)? = value("tags") else { return [] }
    return tags
  }

  /// Whether it has a tag of one of these names.
  private func names(_ wanted: Set<String>) -> Bool {
    tags.contains { tag in
      guard case .array(let parts) = tag, parts.count > 1, case .string(let name) = parts[0] else { return false }
      return wanted.contains(name)
    }
  }
}
