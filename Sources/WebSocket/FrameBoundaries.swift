// Where the frames of a stream begin, so that a close frame is given to wslay whole.
//
// wslay 1.1.1 leaves out the code, two bytes, when it looks whether the reason of a close is UTF-8: of every piece that
// it was given, and not of the first only. So a good reason whose frame comes in two reads may look bad, and a bad one
// good. A close frame has at most 131 bytes; what has come of it waits, unread, until the rest is there.

/// Follows the headers of the other side's frames (RFC 6455, 5.2).
struct FrameBoundaries {
  /// Whether the other side masks its frames, as clients do.
  private let isMasked: Bool
  /// Bytes of the present frame's payload that are still to come.
  private var payloadByteCount: UInt64 = 0
  /// What has come of a header that is not whole.
  private var header: [UInt8] = []

  /// A final close frame without reserved bits; of any other form wslay says at once what is wrong.
  private static let closeStart: UInt8 = 0x88
  /// Longest payload of a control frame.
  private static let controlByteCountMaximum = 125

  /// Of the frames that go to `role`.
  init(to role: WebSocketRole) { isMasked = role == .server }

  /// Whether what has gone on ends with a frame.
  var isBetweenFrames: Bool { payloadByteCount == 0 && header.isEmpty }

  /// How many of the bytes may go on, at most `capacity`: all, or those in front of a close frame that is not whole
  /// yet.
  mutating func pass(_ input: UnsafeRawBufferPointer, capacity: Int) -> Int {
    let end = min(capacity, input.count)
    var position = 0
    while position < end {
      if payloadByteCount > 0 {
        let count = Int(min(payloadByteCount, UInt64(end - position)))
        payloadByteCount -= UInt64(count)
        position += count
      } else if header.isEmpty, !isWhole(input[position...], isFirst: position == 0, room: end - position) {
        return position
      } else {
        header.append(input[position])
        position += 1
        takeHeader()
      }
    }
    return end
  }

  /// Whether what begins there is no close frame, or one that has come and goes in whole. What is in front of it goes
  /// first, if it does not.
  private func isWhole(_ rest: Slice<UnsafeRawBufferPointer>, isFirst: Bool, room: Int) -> Bool {
    guard rest.first == Self.closeStart else { return true }
    guard let length = rest.dropFirst().first else { return false }
    // One that is too long, or not masked as it should be, is a violation at once.
    let payloadByteCount = Int(length & 0x7F)
    guard payloadByteCount <= Self.controlByteCountMaximum, (length & 0x80 != 0) == isMasked else { return true }
    let byteCount = 2 + (isMasked ? 4 : 0) + payloadByteCount
    return rest.count >= byteCount && (isFirst || room >= byteCount)
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
