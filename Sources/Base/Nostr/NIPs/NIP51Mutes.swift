public import Cryptography

/// Whom and what somebody does not want to see (kind 10000, NIP-51): the entries that everybody can read. Those in the
/// content are encrypted for the author himself, and are not looked at.
public struct MuteList: Hashable, Sendable {
  /// Whose list it is.
  public let author: PublicKey
  /// When it was published: of two lists the newer one counts, whole.
  public let createdAt: Int64
  /// People (`p`).
  public let people: Set<PublicKey>
  /// Conversations, by the event that began each (`e`).
  public let threads: Set<EventID>
  /// Hashtags (`t`), in lower case.
  public let hashtags: Set<String>
  /// Words (`word`), in lower case.
  public let words: Set<String>

  /// Most people of a list, and most conversations.
  public static let countMaximum = 10_000
  /// Most hashtags of a list, and most words: those beyond are passed over.
  public static let wordCountMaximum = 500
  /// Longest word that counts, in bytes.
  public static let wordByteCountMaximum = 128

  /// Reads a list. Entries that are none are passed over. Signatures are for the caller.
  ///
  /// - Throws: `wrongKind`.
  public init(_ event: Event) throws(KindFault) {
    try KindFault.expect(EventKind.mutes, of: event.kind)
    author = event.pubkey
    createdAt = event.createdAt
    people = Set(event.values(of: "p").lazy.compactMap { PublicKey($0) }.prefix(Self.countMaximum))
    threads = Set(event.values(of: "e").lazy.compactMap { EventID($0) }.prefix(Self.countMaximum))
    hashtags = Self.words(event.values(of: "t"))
    words = Self.words(event.values(of: "word"))
  }

  private static func words(_ texts: [String]) -> Set<String> {
    Set(
      texts.lazy.filter { !$0.isEmpty && $0.utf8.count <= wordByteCountMaximum }.prefix(wordCountMaximum)
        .map { $0.lowercased() })
  }
}
