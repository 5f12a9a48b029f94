public import Cryptography
internal import JSON

/// The parts of an event that filters need, extracted once: small enough to keep in memory.
public struct IndexedEvent: Sendable {
  /// The event's id.
  public let id: EventID
  /// Its author.
  public let pubkey: PublicKey
  /// Seconds since 1970.
  public let createdAt: Int64
  /// Its kind.
  public let kind: UInt16
  /// The first value of each tag whose name is one letter (NIP-01), in the order of the text; at most
  /// ``tagCountMaximum``.
  public let tags: [Tag]

  /// A tag that filters can match.
  public struct Tag: Hashable, Sendable {
    /// Its name.
    public let letter: TagLetter
    /// Its first value.
    public let value: TagValue

    /// A tag.
    public init(_ letter: TagLetter, _ value: TagValue) {
      self.letter = letter
      self.value = value
    }
  }

  /// The most tags of one event that are indexed; a follow list has some thousands. Later tags are kept, but tag
  /// filters do not find them.
  public static let tagCountMaximum = 10_000

  /// An event of these parts.
  public init(id: EventID, pubkey: PublicKey, createdAt: Int64, kind: UInt16, tags: [Tag]) {
    self.id = id
    self.pubkey = pubkey
    self.createdAt = createdAt
    self.kind = kind
    self.tags = tags
  }

  /// Extracts what filters need from `event`.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - bytes: the text it was read from.
  public init(_ event: ScannedEvent, in bytes: UnsafeRawBufferPointer) {
    id = event.id
    pubkey = event.pubkey
    createdAt = event.createdAt
    kind = event.kind
    var tags: [Tag] = []
    var reader = TagReader(event, in: bytes)
    while tags.count < Self.tagCountMaximum, reader.nextTag() {
      guard let name = reader.nextString(), let letter = name.tagLetter(in: bytes), let value = reader.nextString()
      else {
        continue
      }
      tags.append(Tag(letter, value.tagValue(in: bytes)))
    }
    self.tags = tags
  }
}

extension JSONString {
  /// The letter, if the value is one letter.
  func tagLetter(in bytes: UnsafeRawBufferPointer) -> TagLetter? {
    if hasEscapes { return TagLetter(string(in: bytes)) }
    return content.count == 1 ? TagLetter(bytes[content.lowerBound]) : nil
  }

  /// The value's bytes. The scanner has refused lone surrogates in events.
  func tagValue(in bytes: UnsafeRawBufferPointer) -> TagValue {
    hasEscapes ? TagValue(string(in: bytes)) : TagValue(utf8: Array(bytes[content]))
  }
}
