internal import CUtf8proc

// A searched word is rarely written as the text has it: É for é, ＡＢＣ for abc, ﬁ for fi. So both are brought into one
// form before they are compared: compatibility forms and case are folded (Unicode's NFKC and case folding), and accents
// are removed. Only accents from U+0300 … U+036F are removed, which people often omit in most languages that have them,
// and the points of Hebrew and Arabic, which are written for learners and in scripture. The marks of Devanagari, the
// hamza of Arabic and the voicing of kana make a different letter.
//
// It is in this module with the passphrases because only one module imports utf8proc, which has Unicode's tables.

/// Text in the form in which words are compared.
public struct FoldedText: Sendable {
  /// The role of a character when text is split into words.
  public enum CharacterClass: Sendable {
    /// Part of a word.
    case letter
    /// A word of one character: characters of scripts without blanks between words, pictures, and currency signs.
    case word
    /// Between words.
    case gap
  }

  /// The characters, as code points.
  public let scalars: [Int32]

  /// Folds a text.
  ///
  /// - Parameter utf8: UTF-8; invalid UTF-8 becomes an empty text.
  public init(_ utf8: UnsafeBufferPointer<UInt8>) {
    var characters = [Int32](repeating: 0, count: utf8.count)
    var count = utf8proc_decompose(utf8.baseAddress, utf8.count, &characters, characters.count, Self.decomposed)
    if count > characters.count {
      characters = [Int32](repeating: 0, count: count)
      count = utf8proc_decompose(utf8.baseAddress, utf8.count, &characters, characters.count, Self.decomposed)
    }
    guard count > 0 else {
      scalars = []
      return
    }
    characters.removeSubrange(count...)
    characters.removeAll { Self.isOptionalMark($0) }
    let composed = utf8proc_normalize_utf32(&characters, characters.count, Self.composed)
    characters.removeSubrange(max(0, composed)...)
    scalars = characters
  }

  /// Accents; points and cantillation of Hebrew; vowels, doubling and Quranic signs of Arabic, and the Arabic sign that
  /// only makes a word longer.
  private static func isOptionalMark(_ scalar: Int32) -> Bool {
    switch scalar {
    case 0x300...0x36F, 0x591...0x5BD, 0x5BF, 0x5C1...0x5C2, 0x5C4...0x5C5, 0x5C7, 0x610...0x61A, 0x640,
      0x64B...0x652, 0x656...0x65F, 0x670, 0x6D6...0x6DC, 0x6DF...0x6E4, 0x6E7...0x6E8, 0x6EA...0x6ED:
      true
    default: false
    }
  }

  /// The role of a character.
  public static func characterClass(_ scalar: Int32) -> CharacterClass {
    switch utf8proc_category(scalar) {
    case UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT, UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_LO,
      UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ME, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NL,
      UTF8PROC_CATEGORY_NO:
      isUnspaced(scalar) ? .word : .letter
    // Not in ASCII: `$` is between words like all ASCII signs, as in SQLite's tokeniser. Mathematical signs are also
    // between words, since people type - for − and / for ⁄. Skin tones are of category Sk, so they make no difference.
    case UTF8PROC_CATEGORY_SO, UTF8PROC_CATEGORY_SC: scalar >= 0x80 ? .word : .gap
    default: reservedPictures.contains(scalar) ? .word : .gap
    }
  }

  /// Code points that Unicode reserves for pictures: those of next year are words before utf8proc knows them.
  private static let reservedPictures: ClosedRange<Int32> = 0x1F900...0x1FAFF

  /// Thai and Lao, Burmese, Khmer, kana, and ideographs.
  private static func isUnspaced(_ scalar: Int32) -> Bool {
    switch scalar {
    case 0xE00...0xEFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3005...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF,
      0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
      true
    default: false
    }
  }

  private static let decomposed = utf8proc_option_t(
    rawValue: UTF8PROC_STABLE.rawValue | UTF8PROC_DECOMPOSE.rawValue | UTF8PROC_COMPAT.rawValue
      | UTF8PROC_CASEFOLD.rawValue | UTF8PROC_IGNORE.rawValue)
  private static let composed = utf8proc_option_t(
    rawValue: UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue)
}
