public import JSON

/// Walks through the tags of a scanned event without copying them.
///
///     var reader = TagReader(event, in: bytes)
///     while reader.nextTag() {
///       guard let name = reader.nextString(), let value = reader.nextString() else { continue }
///     }
///
/// The buffer must be the one the event was read from, unchanged: the scanner has checked every byte already.
public struct TagReader {
  private let bytes: UnsafeRawBufferPointer
  private let end: Int
  private var position: Int
  private var isInside = false

  /// A reader at the first tag.
  public init(_ event: ScannedEvent, in bytes: UnsafeRawBufferPointer) { self.init(tags: event.tags, in: bytes) }

  init(tags: Range<Int>, in bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    position = tags.lowerBound + 1
    end = tags.upperBound - 1
  }

  /// Goes to the next tag; false after the last one.
  public mutating func nextTag() -> Bool {
    while isInside { _ = nextString() }
    while position < end {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "[") {
        isInside = true
        return true
      }
    }
    return false
  }

  /// The next string of this tag: first its name, then its value, then the others; nil after the last one.
  public mutating func nextString() -> JSONString? {
    guard isInside else { return nil }
    while position < end {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "]") { break }
      if byte == UInt8(ascii: "\"") { return string() }
    }
    isInside = false
    return nil
  }

  /// All tags from here on, as owned text.
  mutating func strings() -> [[String]] {
    var tags: [[String]] = []
    while nextTag() {
      var tag: [String] = []
      while let text = nextString() { tag.append(text.string(in: bytes)) }
      tags.append(tag)
    }
    return tags
  }

  private mutating func string() -> JSONString {
    let start = position
    var hasEscapes = false
    while bytes[position] != UInt8(ascii: "\"") {
      if bytes[position] == UInt8(ascii: "\\") {
        hasEscapes = true
        position += 1
      }
      position += 1
    }
    position += 1
    return JSONString(content: start..<(position - 1), hasEscapes: hasEscapes, isCanonical: !hasEscapes)
  }
}
