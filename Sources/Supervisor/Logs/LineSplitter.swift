internal import Glibc

// Bytes become lines here, before anything is known about them.
//
// A worker's output comes in pieces of any size, may hold any bytes, and may never hold a newline. The splitter
// searches for newlines only: the rest of the work (text, JSON, levels) is done only for lines that are kept, so a
// flood costs one `memchr` a line. A line inside one piece is passed on in place; only a line that spans pieces is
// copied.
//
// A line over the limit is passed on as soon as it passes the limit, so that an endless line is seen at once; the rest
// up to its newline is counted and dropped. Where the pieces begin and end does not affect the lines.

/// A line as it arrived, without its newline. Its bytes are valid only during the call that passes it on.
public struct SplitLine {
  /// The bytes, at most as many as the splitter's limit.
  public let bytes: UnsafeRawBufferPointer
  /// Whether the line was longer than the limit.
  public let isCut: Bool

  /// The text at the end of a line that was cut.
  public static let cutMark = " … (cut)"

  /// The line as text: bytes that are not UTF-8 become U+FFFD, control characters stay, a cut line ends with
  /// ``cutMark``.
  public var text: String {
    guard isCut else { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: bytes.dropLast(splitCharacterByteCount), as: UTF8.self) + Self.cutMark
  }

  /// How many bytes at the end belong to a character that the cut has split.
  private var splitCharacterByteCount: Int {
    for back in 1...3 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      // A continuation byte: its leading byte is further back.
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF5 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1
      return length > back ? back : 0
    }
    return 0
  }
}

/// Cuts one stream of bytes into lines.
public struct LineSplitter: Sendable {
  /// The longest line kept whole, in bytes, unless the configuration says otherwise.
  public static let lineByteCountMaximum = 16 << 10

  /// Lines that were longer than the limit.
  public private(set) var cutLineCount: UInt64 = 0
  /// Bytes of such lines that were dropped.
  public private(set) var cutByteCount: UInt64 = 0

  private let limit: Int
  /// The beginning of a line whose newline has not arrived.
  private var partial: [UInt8] = []
  /// The current line was passed on, cut; its rest is dropped.
  private var isSkipping = false

  /// A splitter at the beginning of a line. `lineByteCountMaximum` is at least 1.
  public init(lineByteCountMaximum: Int = Self.lineByteCountMaximum) {
    precondition(lineByteCountMaximum > 0, "a line holds at least one byte")
    limit = lineByteCountMaximum
  }

  /// Takes the next bytes and passes on every line that they complete, in order.
  public mutating func received(_ bytes: UnsafeRawBufferPointer, _ handOver: (SplitLine) -> Void) {
    var rest = bytes
    while let base = rest.baseAddress, rest.count > 0 {
      guard let found = memchr(base, Int32(UInt8(ascii: "\n")), rest.count) else {
        keep(rest, handOver)
        return
      }
      let end = UnsafeRawPointer(found) - base
      finishLine(UnsafeRawBufferPointer(rebasing: rest[..<end]), handOver)
      rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
    }
  }

  /// The stream has ended: passes on a last line without a newline.
  public mutating func ended(_ handOver: (SplitLine) -> Void) {
    if !partial.isEmpty { handOverPartial(isCut: false, handOver) }
    isSkipping = false
  }

  private mutating func finishLine(_ tail: UnsafeRawBufferPointer, _ handOver: (SplitLine) -> Void) {
    if isSkipping {
      cutByteCount += UInt64(tail.count)
      isSkipping = false
      return
    }
    let room = limit - partial.count
    let isCut = tail.count > room
    let kept = UnsafeRawBufferPointer(rebasing: tail.prefix(room))
    if isCut { countCut(tail.count - room) }
    guard !partial.isEmpty else {
      handOver(SplitLine(bytes: kept, isCut: isCut))
      return
    }
    partial.append(contentsOf: kept)
    handOverPartial(isCut: isCut, handOver)
  }

  /// Takes bytes of a line that they do not complete.
  private mutating func keep(_ piece: UnsafeRawBufferPointer, _ handOver: (SplitLine) -> Void) {
    if isSkipping {
      cutByteCount += UInt64(piece.count)
      return
    }
    let room = limit - partial.count
    partial.append(contentsOf: piece.prefix(room))
    guard piece.count > room else { return }
    countCut(piece.count - room)
    isSkipping = true
    handOverPartial(isCut: true, handOver)
  }

  private mutating func countCut(_ byteCount: Int) {
    cutLineCount += 1
    cutByteCount += UInt64(byteCount)
  }

  private mutating func handOverPartial(isCut: Bool, _ handOver: (SplitLine) -> Void) {
    partial.withUnsafeBytes { handOver(SplitLine(bytes: $0, isCut: isCut)) }
    // Keeps the memory of an ordinary line for the next one.
    partial.removeAll(keepingCapacity: partial.capacity <= 2 * Self.lineByteCountMaximum)
  }
}
