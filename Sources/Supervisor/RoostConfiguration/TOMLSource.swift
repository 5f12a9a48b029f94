/// A place in a text.
package struct TOMLPlace: Hashable, Sendable {
  /// Counted from 1.
  package let line: Int
  /// In code points, counted from 1.
  package let column: Int
}

/// Why a text is not TOML, and where. The reader stops at the first fault: what comes after it would be guesswork.
package struct TOMLFault: Error, Hashable, Sendable {
  /// Where the fault is; for a string or bracket that is never closed, where it begins.
  package let place: TOMLPlace
  /// What is wrong, for people, on one line.
  package let message: String
}

/// The bytes of a text, known to be UTF-8 without control characters, and the places in it.
///
/// TOML allows control characters nowhere, neither in strings nor in comments. Refusing them before anything is read
/// means that no later rule has to consider them, and that the complaint about a file that is not text says so, instead
/// of pointing at where it stops making sense.
struct TOMLSource: Sendable {
  let bytes: [UInt8]
  /// Where each line begins.
  private let lineStarts: [Int]

  /// - Throws: a ``TOMLFault`` if the bytes are not UTF-8, or contain a control character that is neither a tab nor
  ///   part of a line's end, which is LF or CR LF.
  init(_ bytes: [UInt8]) throws(TOMLFault) {
    self.bytes = bytes
    lineStarts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: bytes.span)
    } catch {
      throw fault("this is not UTF-8", at: error.byteOffsets.lowerBound)
    }
    for (offset, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x7F {
      switch byte {
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"): continue
      case UInt8(ascii: "\r"):
        guard offset + 1 < bytes.count, bytes[offset + 1] == UInt8(ascii: "\n") else {
          throw fault("a carriage return that ends no line; lines end with a line feed", at: offset)
        }
      default: throw fault("a control character, \(TOMLSource.codePoint(UInt32(byte))); not a text file?", at: offset)
      }
    }
  }

  /// The line of the byte at `offset`, counted from 1. The end of the text counts as a byte.
  func line(at offset: Int) -> Int {
    var low = 0
    var high = lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return low + 1
  }

  /// Line and column of the byte at `offset`.
  func place(at offset: Int) -> TOMLPlace {
    let line = line(at: offset)
    var start = lineStarts[line - 1]
    if start == 0, offset >= TOMLSource.byteOrderMark.count, bytes.starts(with: TOMLSource.byteOrderMark) {
      start = TOMLSource.byteOrderMark.count
    }
    // Bytes that continue a code point do not count as columns.
    return TOMLPlace(line: line, column: bytes[start..<offset].count { $0 & 0xC0 != 0x80 } + 1)
  }

  /// U+FEFF, with which some editors begin a file.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  func fault(_ message: String, at offset: Int) -> TOMLFault {
    TOMLFault(place: place(at: offset), message: message)
  }

  /// What is at `offset`, as a complaint names it. A character outside ASCII is named by number too: it may look like
  /// something else, or like nothing.
  func description(at offset: Int) -> String {
    guard offset < bytes.count else { return "the end of the file" }
    if bytes[offset] == UInt8(ascii: "\n") || bytes[offset] == UInt8(ascii: "\r") { return "the end of the line" }
    guard let scalar = String(decoding: bytes[offset...].prefix(4), as: UTF8.self).unicodeScalars.first else {
      return ""
    }
    switch scalar {
    case "\t": return "a tab"
    case _ where scalar.isASCII: return "'\(scalar)'"
    case "\u{2018}"..."\u{201F}":
      return "'\(scalar)' (\(TOMLSource.codePoint(scalar.value))); strings take straight quotes, \" or '"
    case "\u{A1}"..."\u{24F}": return "'\(scalar)' (\(TOMLSource.codePoint(scalar.value)))"
    default: return TOMLSource.codePoint(scalar.value)
    }
  }

  /// `U+00E9`
  static func codePoint(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
