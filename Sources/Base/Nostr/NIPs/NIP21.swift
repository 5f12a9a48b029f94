// `nostr:` in front of an entity (NIP-21), alone or in the middle of a text.

extension NostrEntity {
  /// Reads `nostr:` and an entity; the scheme may be in either case.
  public init(uri: String) throws(EntityFault) {
    guard uri.hasNostrScheme else { throw .noScheme }
    try self.init(uri.withoutNostrScheme)
  }

  /// `nostr:npub1…`; nil for an entity that cannot be written (``text``).
  public var uri: String? { text.map { "nostr:" + $0 } }
}

/// An entity that a text refers to.
public struct NostrReference: Hashable, Sendable {
  /// Its place in the text, including `nostr:`.
  public let range: Range<String.Index>
  /// The entity that it refers to.
  public let entity: NostrEntity

  /// The most references that are found in one text.
  public static let countMaximum = 500

  /// Finds the references in `text`, in order, up to ``countMaximum``.
  ///
  /// A reference ends at the first character that is not an ASCII letter or digit. If the text there is not an entity,
  /// or is a secret key, it is not a reference. The running time is proportional to the text.
  public static func find(in text: String) -> [NostrReference] {
    var references: [NostrReference] = []
    let bytes = text.utf8
    var start = bytes.startIndex
    while references.count < countMaximum, let colon = bytes[start...].firstIndex(of: UInt8(ascii: ":")) {
      let next = bytes.index(after: colon)
      let end = bytes[next...].firstIndex { !$0.isLetterOrDigit } ?? bytes.endIndex
      start = end > next ? end : next
      guard let scheme = bytes.index(colon, offsetBy: -schemeName.count, limitedBy: bytes.startIndex),
        bytes[scheme..<colon].lazy.map({ $0 | 0x20 }).elementsEqual(schemeName),
        scheme == bytes.startIndex || !bytes[bytes.index(before: scheme)].isLetterOrDigit,
        bytes.distance(from: next, to: end) <= NostrEntity.characterCountMaximum
      else { continue }
      do throws(EntityFault) {
        references.append(NostrReference(range: scheme..<end, entity: try NostrEntity(String(text[next..<end]))))
      } catch {
        // A word after "nostr:" that is not an entity is an ordinary word.
        continue
      }
    }
    return references
  }

  fileprivate static let schemeName = Array("nostr".utf8)
}

extension String {
  /// Whether it begins with `nostr:`.
  fileprivate var hasNostrScheme: Bool {
    utf8.prefix(NostrReference.schemeName.count).lazy.map { $0 | 0x20 }.elementsEqual(NostrReference.schemeName)
      && utf8.dropFirst(NostrReference.schemeName.count).first == UInt8(ascii: ":")
  }

  /// The rest after `nostr:`, or the whole text without it.
  var withoutNostrScheme: String {
    hasNostrScheme ? String(self[utf8.index(startIndex, offsetBy: NostrReference.schemeName.count + 1)...]) : self
  }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool { (self | 0x20) &- 0x61 < 26 || self &- 0x30 < 10 }
}
