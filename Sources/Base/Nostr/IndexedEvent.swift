public import Cryptography
internal import JSON

/// What filters look at, taken out of an event once: small enough to keep in memory, and all that matching needs.
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

  /// A tag that filters can ask for.
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

  /// Most tags of one event that are indexed: a contact list has some thousands. What stands behind them is kept but
  /// not found by a tag filter.
  public static let tagCountMaximum = 10_000

  /// An event of these parts.
  public init(id: EventID, pubkey: PublicKey, createdAt: Int64, kind: UInt16, tags: [Tag]) {
    self.id = id
    self.pubkey = pubkey
    self.createdAt = createdAt
    self.kind = kind
    self.tags = tags
  }

  /// Takes out of `event` what filters look at.
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
  /// The letter, when the value is one letter.
  func tagLetter(in bytes: UnsafeRawBufferPointer) -> TagLetter? {
    if hasEscapes { return TagLetter(string(in: bytes)) }
    return content.count == 1 ? TagLetter(bytes[content.lowerBound]) : nil
  }

  /// The value's bytes. The scanner has refused lone surrogates in events.
  func tagValue(in bytes: UnsafeRawBufferPointer) -> TagValue {
    hasEscapes ? TagValue(string(in: bytes)) : TagValue(utf8: Array(bytes[content]))
  }
}
