// Where the frames of a stream begin, so that close frames are read here and not by wslay.
//
// When wslay 1.1.1 checks that the reason of a close is UTF-8, it skips the two bytes of the code. But it skips two
// bytes of every piece of the payload that it receives, not only of the first. So a valid reason whose frame arrives in
// two reads may be rejected, and an invalid one accepted. Also, it knows the codes of RFC 6455 only: it takes "service
// restart" (1012) and "try again later" (1013), which IANA's registry has added, for violations. A close frame has at
// most 131 bytes; its first part waits, unread, until the rest has arrived.

/// Follows the headers of the other side's frames (RFC 6455, 5.2).
struct FrameBoundaries {
  /// Whether the other side masks its frames, as clients do.
  private let isMasked: Bool
  /// Bytes of the current frame's payload that have not arrived yet.
  private var payloadByteCount: UInt64 = 0
  /// The part that has arrived of an incomplete header.
  private var header: [UInt8] = []

  /// A final close frame without reserved bits; wslay gets every other form, and says at once what is wrong with it.
  private static let closeStart: UInt8 = 0x88
  /// The longest payload of a control frame.
  private static let controlByteCountMaximum = 125

  /// The boundaries of frames that go to `role`.
  init(to role: WebSocketRole) { isMasked = role == .server }

  /// Whether the bytes passed on so far end with a whole frame.
  var isBetweenFrames: Bool { payloadByteCount == 0 && header.isEmpty }

  /// How many of the bytes may go to wslay, at most `capacity`: all, or those before a close frame.
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

  /// The close frame at the beginning of the bytes, if it is complete: its length, and its payload unmasked.
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

  /// Whether the bytes that have arrived can be the beginning of a close frame. A frame that is too long, or has the
  /// wrong masking, is no such frame.
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
