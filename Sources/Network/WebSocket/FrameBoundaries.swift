// Where the frames of a stream begin, so that close frames are read here and not by wslay.
//
// wslay 1.1.1 leaves out the code, two bytes, when it looks whether the reason of a close is UTF-8: of every piece that
// it was given, and not of the first only. So a good reason whose frame comes in two reads may look bad, and a bad one
// good. And it knows the codes of RFC 6455 only: to be told "service restart" (1012) or "try again later" (1013), which
// IANA's registry has since, it takes for a violation. A close frame has at most 131 bytes; what has come of it waits,
// unread, until the rest is there.

/// Follows the headers of the other side's frames (RFC 6455, 5.2).
struct FrameBoundaries {
  /// Whether the other side masks its frames, as clients do.
  private let isMasked: Bool
  /// Bytes of the present frame's payload that are still to come.
  private var payloadByteCount: UInt64 = 0
  /// What has come of a header that is not whole.
  private var header: [UInt8] = []

  /// A final close frame without reserved bits; any other form is left to wslay, which says at once what is wrong.
  private static let closeStart: UInt8 = 0x88
  /// Longest payload of a control frame.
  private static let controlByteCountMaximum = 125

  /// Of the frames that go to `role`.
  init(to role: WebSocketRole) { isMasked = role == .server }

  /// Whether what has gone on ends with a frame.
  var isBetweenFrames: Bool { payloadByteCount == 0 && header.isEmpty }

  /// How many of the bytes may go on to wslay, at most `capacity`: all, or those in front of a close frame.
  mutating func pass(_ input: UnsafeRawBufferPointer, capacity: Int) -> Int {
    let end = min(capacity, input.count)
    var position = 0
    while position < end {
      if payloadByteCount > 0 {
        let count = Int(min(payloadByteCount, UInt64(end - position)))
        payloadByteCount -= UInt64(count)
        position += count
      } else if header.isEmpty, mayBeClose(input[position...]) {
        return position
      } else {
        header.append(input[position])
        position += 1
        takeHeader()
      }
    }
    return end
  }

  /// The close frame that the bytes begin with, if it is whole: its length, and its payload unmasked.
  func closeFrame(in input: UnsafeRawBufferPointer) -> (byteCount: Int, payload: [UInt8])? {
    guard isBetweenFrames, input.count >= 2, mayBeClose(input[...]) else { return nil }
    let headerByteCount = isMasked ? 6 : 2
    let byteCount = headerByteCount + Int(input[1] & 0x7F)
    guard input.count >= byteCount else { return nil }
    let payload = input[headerByteCount..<byteCount].enumerated().map { index, byte in
      isMasked ? byte ^ input[2 + (index & 3)] : byte
    }
    return (byteCount, payload)
  }

  /// Whether what begins there is a close frame as far as it has come. One that is too long, or not masked as it should
  /// be, is none.
  private func mayBeClose(_ rest: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard rest.first == Self.closeStart else { return false }
    guard let length = rest.dropFirst().first else { return true }
    return Int(length & 0x7F) <= Self.controlByteCountMaximum && (length & 0x80 != 0) == isMasked
  }

  private mutating func takeHeader() {
    guard header.count >= 2 else { return }
    let lengthByteCount =
      switch header[1] & 0x7F {
      case 126: 2
      case 127: 8
      default: 0
      }
    let maskByteCount = header[1] & 0x80 == 0 ? 0 : 4
    guard header.count == 2 + lengthByteCount + maskByteCount else { return }
    payloadByteCount =
      lengthByteCount == 0
      ? UInt64(header[1] & 0x7F) : header[2..<(2 + lengthByteCount)].reduce(0) { $0 << 8 | UInt64($1) }
    header.removeAll(keepingCapacity: true)
  }
}
