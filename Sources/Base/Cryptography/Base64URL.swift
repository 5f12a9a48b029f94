/// Base64 for URLs, without padding (RFC 4648, section 5, as used by RFC 7515): `-` and `_` for `+` and `/`. Reading
/// accepts only what writing produces, as with ``Base64``.
public enum Base64URL {
  /// `bytes` as text: four letters for each three bytes, and for a rest of one or two bytes one letter more than bytes.
  public static func text(of bytes: [UInt8]) -> String {
    String(
      decoding: Base64.encode(bytes).utf8.lazy.filter { $0 != UInt8(ascii: "=") }.map { letter in
        switch letter {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: letter
        }
      }, as: UTF8.self)
  }

  /// The bytes that `text` encodes; nil if it is not what writing produces.
  public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    var letters: [UInt8] = []
    letters.reserveCapacity(text.utf8.count + 2)
    for letter in text.utf8 {
      switch letter {
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
      case UInt8(ascii: "-"): letters.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): letters.append(UInt8(ascii: "/"))
      default: letters.append(letter)
      }
    }
    while !letters.count.isMultiple(of: 4) { letters.append(UInt8(ascii: "=")) }
    return Base64.decode(String(decoding: letters, as: UTF8.self))
  }
}
