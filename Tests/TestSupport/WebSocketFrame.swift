// Frames as a peer of ours could send them, right or wrong. A library of frames would refuse to write most of what the
// tests need, and the one that the product uses could hide its own mistakes by making the same ones here.
//
//      0               1               2 …
//     +-+-----+-------+-+-------------+-----------------+-----------+---------
//     |F| RSV |opcode |M|  length 7   | 16 or 64 bits   | mask, if M| payload
//     +-+-----+-------+-+-------------+-----------------+-----------+---------

/// A frame of RFC 6455, 5.2.
public struct WebSocketFrame: Hashable, Sendable {
  /// 0 continuation, 1 text, 2 binary, 8 close, 9 ping, 10 pong.
  public var opcode: UInt8
  /// Unmasked.
  public var payload: [UInt8]
  /// Whether it is the last of its message.
  public var isFinal = true
  /// The three reserved bits, 0 to 7.
  public var reserved: UInt8 = 0
  /// Four bytes, as clients must have them and servers must not.
  public var mask: [UInt8]?

  /// A text in one frame, or its first fragment.
  public static func text(_ text: String, isFinal: Bool = true) -> WebSocketFrame {
    WebSocketFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
  }

  /// A close with a code, any, and a reason.
  public static func close(_ code: UInt16, _ reason: String = "") -> WebSocketFrame {
    WebSocketFrame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 255)] + reason.utf8)
  }

  /// A frame of these parts; nothing is checked.
  public init(opcode: UInt8, payload: [UInt8], isFinal: Bool = true, reserved: UInt8 = 0, mask: [UInt8]? = nil) {
    self.opcode = opcode
    self.payload = payload
    self.isFinal = isFinal
    self.reserved = reserved
    self.mask = mask
  }

  /// The frame as it is sent, with the shortest form of its length.
  public var bytes: [UInt8] {
    var bytes = [UInt8(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    switch payload.count {
    case ..<126: bytes.append(maskBit | UInt8(payload.count))
    case ..<65_536: bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    default: bytes += [maskBit | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    guard let mask else { return bytes + payload }
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  /// Takes the first frame off `input`, unmasked; nil when it is not whole.
  public init?(taking input: inout [UInt8]) {
    guard input.count >= 2 else { return nil }
    var position = 2
    var count = Int(input[1] & 127)
    if count >= 126 {
      let width = count == 126 ? 2 : 8
      guard input.count >= 2 + width else { return nil }
      count = input[2..<(2 + width)].reduce(0) { $0 << 8 | Int($1) }
      position += width
    }
    let isMasked = input[1] & 128 != 0
    guard input.count >= position + (isMasked ? 4 : 0) + count else { return nil }
    mask = isMasked ? Array(input[position..<(position + 4)]) : nil
    if isMasked { position += 4 }
    let key = mask ?? [0, 0, 0, 0]
    payload = input[position..<(position + count)].enumerated().map { $1 ^ key[$0 % 4] }
    opcode = input[0] & 15
    reserved = input[0] >> 4 & 7
    isFinal = input[0] & 128 != 0
    input.removeFirst(position + count)
  }

  /// The payload as text.
  public var text: String { String(decoding: payload, as: UTF8.self) }

  /// The code of a close; nil for other frames, and for a close without one.
  public var closeCode: UInt16? {
    opcode == 8 && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
  }
}
