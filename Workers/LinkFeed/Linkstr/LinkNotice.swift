internal import LinkAddresses
internal import Wording

/// The text of a notice about a post or a reply that came in.
///
/// All of it may come from strangers. Both texts are one line, bounded, and without characters that control or deceive;
/// markup, as `<b>`, is still markup for a program that reads any.
public struct LinkNotice: Hashable, Sendable {
  /// `Ann shared a post`, `Ann replied`.
  public let title: String
  /// The note or the text, otherwise words of ours.
  public let body: String
  /// The conversation or session: notices of one are grouped.
  public let conversationID: String

  /// The most characters of a sender's name.
  public static let nameLengthMaximum = 64
  /// The most characters of a body.
  public static let bodyLengthMaximum = 240

  /// The notice of an item; nil for what the account has sent itself, and for what is neither a post nor a reply.
  ///
  /// - Parameters:
  ///   - item: what came in.
  ///   - sender: the sender's name, or the beginning of the npub; an empty one becomes `Unknown`.
  public init?(_ item: LinkItem, from sender: String) {
    guard !item.isOwn, let thread = item.thread else { return nil }
    let name = Self.line(sender, Self.nameLengthMaximum) ?? "Unknown"
    conversationID = thread.conversationID
    switch item.body {
    case .post(_, let url, let note), .session(_, .post(let url, let note)):
      title = "\(name) shared a post"
      body = Self.line(note ?? "", Self.bodyLengthMaximum) ?? "\(LinkMedia(url).label) from \(url.host)"
    case .reply(_, _, let text):
      title = "\(name) replied"
      body = Self.line(text ?? "", Self.bodyLengthMaximum) ?? "New reply"
    case .session: return nil
    }
  }

  /// A text on one line, with at most so many characters; nil if nothing of it can be seen.
  public static func line(_ text: String, _ maximum: Int) -> String? {
    // More than `maximum` characters are looked at, because spaces shrink; but not all of a long text.
    let words = text.prefix(maximum * 4).split { $0.isWhitespace }
    let line = VisibleText.make(words.joined(separator: " "))
    guard !line.isEmpty else { return nil }
    return line.count > maximum ? line.prefix(maximum - 1) + "…" : line
  }
}
