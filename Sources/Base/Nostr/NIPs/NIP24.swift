// What an author says about themselves (kind 0, NIP-01 and NIP-24). The content is JSON that every client writes in its
// own way, so it is read field by field: a field that is not a text, or is too long to be serious, counts as missing.

internal import JSON

/// A profile. Every field is a stranger's text: do not trust it, and make it harmless before showing it.
public struct Profile: Hashable, Sendable {
  /// The name, which need not be unique.
  public var name: String?
  /// A longer name.
  public var displayName: String?
  /// A few sentences.
  public var about: String?
  /// The address of a picture.
  public var picture: String?
  /// The address of a wide picture.
  public var banner: String?
  /// The address of a page.
  public var website: String?
  /// The claimed internet identifier (NIP-05).
  public var nip05: String?
  /// A lightning address (LUD-16).
  public var lightningAddress: String?
  /// Whether it says that its author is a program.
  public var isBot: Bool

  /// The most bytes of content that are read.
  public static let contentByteCountMaximum = 256 << 10
  /// Longest name, in bytes of UTF-8.
  public static let nameByteCountMaximum = 512
  /// Longest address or identifier, in bytes.
  public static let addressByteCountMaximum = 4_096
  /// Longest text about the author, in bytes.
  public static let aboutByteCountMaximum = 64 << 10

  /// An empty profile.
  public init() { isBot = false }

  /// Reads the profile of an event of kind 0.
  ///
  /// If a field occurs twice, the last one counts, as for most readers. Empty texts count as missing.
  ///
  /// - Throws: `wrongKind`, `contentTooLarge`, or `badContent` if the content is not a JSON object.
  public init(_ event: Event) throws(KindFault) {
    try KindFault.expect(EventKind.metadata, of: event.kind)
    try self.init(content: event.content)
  }

  /// The same for a content alone.
  public init(content: String) throws(KindFault) {
    self.init()
    let bytes = Array(content.utf8)
    guard bytes.count <= Self.contentByteCountMaximum else {
      throw .contentTooLarge(byteCount: bytes.count, maximum: Self.contentByteCountMaximum)
    }
    let fault = bytes.withUnsafeBytes { bytes -> JSONFault? in
      do throws(JSONFault) {
        try read(bytes)
        return nil
      } catch {
        return error
      }
    }
    if let fault { throw .badContent(fault) }
  }

  private mutating func read(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) {
    var scanner = JSONScanner(bytes)
    guard try scanner.peek() == UInt8(ascii: "{") else { throw JSONFault(.expected("an object"), at: scanner.position) }
    var oldName: String?
    var oldDisplayName: String?
    var profile = self
    try scanner.forEachMember { name, scanner throws(JSONFault) in
      switch name {
      case "name": profile.name = try Self.text(&scanner, Self.nameByteCountMaximum)
      case "username": oldName = try Self.text(&scanner, Self.nameByteCountMaximum)
      case "display_name": profile.displayName = try Self.text(&scanner, Self.nameByteCountMaximum)
      case "displayName": oldDisplayName = try Self.text(&scanner, Self.nameByteCountMaximum)
      case "about": profile.about = try Self.text(&scanner, Self.aboutByteCountMaximum)
      case "picture": profile.picture = try Self.text(&scanner, Self.addressByteCountMaximum)
      case "banner": profile.banner = try Self.text(&scanner, Self.addressByteCountMaximum)
      case "website": profile.website = try Self.text(&scanner, Self.addressByteCountMaximum)
      case "nip05": profile.nip05 = try Self.text(&scanner, Self.addressByteCountMaximum)
      case "lud16": profile.lightningAddress = try Self.text(&scanner, Self.addressByteCountMaximum)
      case "bot":
        profile.isBot = try scanner.peek() == UInt8(ascii: "t")
        try scanner.skipValue()
      default: try scanner.skipValue()
      }
    }
    try scanner.expectEnd()
    profile.name = profile.name ?? oldName
    profile.displayName = profile.displayName ?? oldDisplayName
    self = profile
  }

  private static func text(_ scanner: inout JSONScanner, _ byteCountMaximum: Int) throws(JSONFault) -> String? {
    guard let text = try scanner.stringOrSkip(), text.utf8.count <= byteCountMaximum else { return nil }
    let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isSpace($0) }), let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return nil }
    return String(scalars[first...last])
  }

  /// The name to show: the display name, else the name, else the name of the internet identifier, else nil, and then a
  /// key is shown.
  public var bestName: String? {
    displayName ?? name ?? nip05.flatMap { InternetIdentifier($0) }.map { $0.name == "_" ? $0.domain : $0.name }
  }
}
