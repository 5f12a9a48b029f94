// Frames as they are sent (RFC 6455, 5.2). A message is complete when it is sent, so it goes in one frame; a frame is
// its header and its payload, and writing one needs no state. wslay writes its own replies, pongs and closes. The
// exception is the reply to a protocol error: wslay would send a close without a code.

/// Which side of a connection is ours.
enum WebSocketRole {
  /// Masks what it sends, and accepts unmasked frames only.
  case client
  /// Sends unmasked frames, and accepts masked ones only.
  case server
}

/// Writes frames one after the other.
enum FrameWriter {
  /// The kind of a frame.
  enum Opcode: UInt8 {
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
  }

  /// Appends a final frame.
  ///
  /// - Parameters:
  ///   - isCompressed: sets RSV1, as permessage-deflate requires.
  ///   - mask: four unpredictable bytes (10.3); nil for a server's frame.
  static func append(
    _ opcode: Opcode, isCompressed: Bool = false, _ payload: UnsafeRawBufferPointer, mask: UInt32?,
    to output: inout [UInt8]
  ) {
    output.append(0x80 | (isCompressed ? 0x40 : 0) | opcode.rawValue)
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    switch payload.count {
    case ..<126: output.append(maskBit | UInt8(payload.count))
    case ..<65_536:
      output.append(maskBit | 126)
      appendBigEndian(UInt16(payload.count), to: &output)
    default:
      output.append(maskBit | 127)
      appendBigEndian(UInt64(payload.count), to: &output)
    }
    guard let mask else {
      output.append(contentsOf: payload)
      return
    }
    appendBigEndian(mask, to: &output)
    let start = output.count
    output.append(contentsOf: payload)
    output.withUnsafeMutableBytes { bytes in
      for index in start..<bytes.count {
        bytes[index] ^= UInt8(truncatingIfNeeded: mask >> (24 - 8 * UInt32((index - start) & 3)))
      }
    }
  }

  private static func appendBigEndian<Word: FixedWidthInteger>(_ word: Word, to output: inout [UInt8]) {
    withUnsafeBytes(of: word.bigEndian) { output.append(contentsOf: $0) }
  }
}
