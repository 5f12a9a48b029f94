/// An emoji with an image of its own (NIP-30): `:name:` in a text, and a tag `["emoji", name, image]`.
public struct CustomEmoji: Hashable, Sendable {
  /// Its name, without colons.
  public let name: String
  /// The URL of its image. A stranger's, unless it was typed.
  public let image: String

  /// Longest name, in bytes.
  public static let nameByteCountMaximum = 50
  /// Longest URL of an image, in bytes.
  public static let imageByteCountMaximum = 2_048

  /// An emoji.
  ///
  /// - Parameters:
  ///   - text: its name, with or without colons.
  ///   - image: the URL of its image.
  /// - Throws: `badEmoji`.
  public init(named text: String, image: String) throws(TemplateFault) {
    let name = text.hasPrefix(":") && text.hasSuffix(":") && text.count > 2 ? String(text.dropFirst().dropLast()) : text
    let isLink = ["https://", "http://"].contains(where: image.hasPrefix)
    guard Self.isName(name), isLink, image.utf8.count <= Self.imageByteCountMaximum,
      !image.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F })
    else { throw .badEmoji }
    (self.name, self.image) = (name, image)
  }

  /// The emoji that a whole text is; nil if it has another form, or no tag has its image.
  public init?(named text: String, in tags: [[String]]) {
    guard text.utf8.count > 2, text.hasPrefix(":"), text.hasSuffix(":") else { return nil }
    let name = String(text.dropFirst().dropLast())
    let tag = tags.named("emoji").first { $0.count > 2 && $0[1].hasSameBytes(as: name) }
    // `try?`: a name or an image of another form makes it no emoji.
    guard let tag, let emoji = try? CustomEmoji(named: name, image: tag[2]) else { return nil }
    self = emoji
  }

  /// `:name:`
  public var text: String { ":\(name):" }
  /// `["emoji", name, image]`
  public var tag: [String] { ["emoji", name, image] }

  private static func isName(_ name: String) -> Bool {
    (1...nameByteCountMaximum).contains(name.utf8.count)
      && name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2D || $0 == 0x5F }
  }
}
