internal import JSON
public import Nostr

// The searched parts of an event: what its author wrote for people to read. These are the content of kinds whose NIP
// says that it is text, and tags that name or describe; of profiles the names, the NIP-05 identifier and the `about`
// text. Not searched are encrypted contents (kinds 4, 13, 1059, the private part of lists), JSON and other code for
// programs (reposts, applications' data, receipts), and kinds that are unknown here, because their content may be
// either.

/// The searched parts of an event.
public struct SearchedText: Hashable, Sendable {
  /// Names and titles: a word in them counts more.
  public private(set) var title = SearchWords()
  /// The rest.
  public private(set) var body = SearchWords()

  /// If the index was made with another version, the words of all stored events are extracted again. To be raised with
  /// every change to what is searched, or how.
  public static let version: Int64 = 3

  /// Extracts the searched parts of an event; empty for a kind that is not searched.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - bytes: the text it was read from.
  public init(_ event: ScannedEvent, in bytes: UnsafeRawBufferPointer) {
    let hasText = Self.textKinds.contains(event.kind)
    if event.kind == EventKind.metadata {
      readProfile(event, bytes)
    } else if hasText || Self.namedKinds.contains(event.kind) {
      readTags(event, bytes)
      if hasText { Self.append(event.content, bytes, to: &body) }
    }
  }

  /// The same for an event's JSON.
  public init(json: [UInt8]) {
    self = json.withUnsafeBytes { bytes in
      do throws(EventFault) { return SearchedText(try ScannedEvent(bytes), in: bytes) } catch { return SearchedText() }
    }
  }

  private init() {}

  /// Whether the event has nothing to search.
  public var isEmpty: Bool { title.isEmpty && body.isEmpty }

  /// Whether these words occur in it, one after the other.
  public func contains(_ phrase: SearchWords) -> Bool { title.contains(phrase) || body.contains(phrase) }

  private mutating func readProfile(_ event: ScannedEvent, _ bytes: UnsafeRawBufferPointer) {
    // A profile that cannot be read has no words.
    do throws(KindFault) {
      let profile = try Profile(content: event.content.string(in: bytes))
      for text in [profile.name, profile.displayName, profile.nip05] { title.append(text ?? "") }
      body.append(profile.about ?? "")
    } catch { return }
  }

  private mutating func readTags(_ event: ScannedEvent, _ bytes: UnsafeRawBufferPointer) {
    var reader = TagReader(event, in: bytes)
    while reader.nextTag() {
      guard let name = reader.nextString(), name.content.count <= Self.tagNameByteCountMaximum else { continue }
      if Self.titleTags.contains(where: { name.equals($0, in: bytes) }) {
        if let text = reader.nextString() { Self.append(text, bytes, to: &title) }
      } else if Self.bodyTags.contains(where: { name.equals($0, in: bytes) }) {
        if let text = reader.nextString() { Self.append(text, bytes, to: &body) }
      }
    }
  }

  private static func append(_ text: JSONString, _ bytes: UnsafeRawBufferPointer, to words: inout SearchWords) {
    if text.hasEscapes { return words.append(text.string(in: bytes)) }
    words.append(utf8: UnsafeRawBufferPointer(rebasing: bytes[text.content]).bindMemory(to: UInt8.self))
  }

  private static let titleTags: [StaticString] = ["title", "subject", "name"]
  private static let bodyTags: [StaticString] = ["summary", "description", "about"]
  private static let tagNameByteCountMaximum = 16

  /// Kinds whose content is text for people, by their NIPs: notes (01), chats (C7, 28, 29, 53), threads (7D), pictures
  /// and videos (68, 71), polls (88), comments (22), code and its issues (34, C0), files (94), torrents (35),
  /// highlights (84), articles and wikis (23, 54), what is for sale (15 is JSON, 99), calendars (52), statuses (38),
  /// public messages (A4), live events (53).
  private static let textKinds: Set<UInt16> = [
    1, 9, 11, 20, 21, 22, 24, 42, 1_063, 1_068, 1_111, 1_311, 1_337, 1_617, 1_618, 1_621, 1_622, 2_003, 2_004, 9_802,
    30_023, 30_024, 30_041, 30_311, 30_315, 30_402, 30_403, 30_818, 31_922, 31_923, 31_924, 34_235, 34_236,
  ]

  /// Kinds of which only names and descriptions are for people: sets (NIP-51), badges, repositories, communities,
  /// groups.
  private static let namedKinds: Set<UInt16> = Set(30_000...30_009).union([
    30_015, 30_030, 30_040, 30_063, 30_267, 30_617, 34_550, 39_000, 39_089, 39_092,
  ])
}
