/// Cuts input into lines, in whatever pieces it arrives. A line above the limit is not kept: it is reported as too
/// long, and the rest of it is skipped.
public struct InputLineSplitter: Sendable {
  /// A line of input.
  public enum Line: Sendable, Equatable {
    /// Its bytes, without the newline.
    case text([UInt8], number: Int)
    /// More bytes than the limit.
    case tooLong(number: Int)
  }

  private let byteCountMaximum: Int
  private var rest: [UInt8] = []
  private var number = 1
  private var isSkipping = false

  /// A splitter for lines of at most this many bytes.
  public init(byteCountMaximum: Int) { self.byteCountMaximum = byteCountMaximum }

  /// The lines that end in these bytes. A carriage return before the newline is not part of the line; blank lines are
  /// left out.
  public mutating func received(_ bytes: [UInt8]) -> [Line] {
    var lines: [Line] = []
    var left = bytes[...]
    while let newline = left.firstIndex(of: 0x0A) {
      append(left[..<newline], to: &lines)
      endLine(&lines)
      left = left[left.index(after: newline)...]
    }
    append(left, to: &lines)
    return lines
  }

  /// The input has ended: the last line, if it had no newline.
  public mutating func ended() -> [Line] {
    var lines: [Line] = []
    endLine(&lines)
    return lines
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>, to lines: inout [Line]) {
    guard !isSkipping else { return }
    guard rest.count + bytes.count <= byteCountMaximum else {
      isSkipping = true
      rest = []
      lines.append(.tooLong(number: number))
      return
    }
    rest += bytes
  }

  private mutating func endLine(_ lines: inout [Line]) {
    if rest.last == 0x0D { rest.removeLast() }
    if !rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { lines.append(.text(rest, number: number)) }
    rest = []
    isSkipping = false
    number += 1
  }
}
