public import Cryptography

/// The keys and words that an author has muted (kind 10000, NIP-51): the public entries, and those that were in the
/// content, which only the author can decrypt.
public struct MuteList: Hashable, Sendable {
  /// The owner of the list.
  public let author: PublicKey
  /// When it was published: of two lists only the newer one counts.
  public let createdAt: Int64
  /// People (`p`).
  public let people: Set<PublicKey>
  /// Conversations, by the event that began each one (`e`).
  public let threads: Set<EventID>
  /// Hashtags (`t`), in lower case.
  public let hashtags: Set<String>
  /// Words (`word`), in lower case.
  public let words: Set<String>

  /// The most people in a list, and the most conversations.
  public static let countMaximum = 10_000
  /// The most hashtags in a list, and the most words; further ones are ignored.
  public static let wordCountMaximum = 500
  /// Longest word that counts, in bytes.
  public static let wordByteCountMaximum = 128

  /// Reads a list. Invalid entries are skipped. The caller verifies the signature.
  ///
  /// - Parameters:
  ///   - event: the list.
  ///   - hidden: the decrypted entries of its content.
  /// - Throws: `wrongKind`.
  public init(_ event: Event, hidden: [[String]] = []) throws(KindFault) {
    try KindFault.expect(EventKind.mutes, of: event.kind)
    author = event.pubkey
    createdAt = event.createdAt
    // The hidden ones first: of a list that is too long, they are what its owner meant to keep for themselves.
    let tags = hidden + event.tags
    people = Set(tags.values(of: "p").lazy.compactMap { PublicKey($0) }.prefix(Self.countMaximum))
    threads = Set(tags.values(of: "e").lazy.compactMap { EventID($0) }.prefix(Self.countMaximum))
    hashtags = Self.words(tags.values(of: "t"))
    words = Self.words(tags.values(of: "word"))
  }

  private static func words(_ texts: [String]) -> Set<String> {
    Set(
      texts.lazy.filter { !$0.isEmpty && $0.utf8.count <= wordByteCountMaximum }.prefix(wordCountMaximum)
        .map { $0.lowercased() })
  }
}
