import TestSupport
import Testing

@testable import WebSocket

// The framing of both roles, bytes in and bytes out, without a connection.

@Suite struct FrameCodecTests {
  @Test(
    "A close is found good or bad wherever its frame is split, and whatever comes in front of it, masked or not",
    arguments: [WebSocketRole.client, .server])
  func splitClose(role: WebSocketRole) {
    let good = Frame.close(1001, "Пока ✓ zum nächsten Mal")
    let bad = Frame(opcode: 8, payload: [3, 0xE9, 0x61, 0x62, 0xFF, 0x63, 0x64, 0x65])
    let before: [Frame?] = [
      nil, Frame.text("a"), Frame(opcode: 9, payload: [0x88, 20]),
      Frame(opcode: 2, payload: .init(repeating: 0x88, count: 300)),
      Frame(opcode: 2, payload: .init(repeating: 0x88, count: 70_000)),
    ]
    // A close is held back until it is whole: its header, its mask if it has one, and 125 bytes.
    let heldMaximum = role == .server ? 131 : 127
    for front in before.map({ $0?.bytes(to: role) ?? [] }) {
      for (frame, ending) in [
        (good, FrameCodec.Ending.closedByPeer(code: 1001, reason: "Пока ✓ zum nächsten Mal")),
        (bad, .violation(code: 1007)),
      ] {
        let stream = front + frame.bytes(to: role)
        for split in max(0, front.count - 4)...stream.count {
          let codec = FrameCodec(role: role, messageByteCountMaximum: 100_000)
          let used = stream[..<split].withUnsafeBytes { codec.receive($0) }
          #expect(used >= min(split, front.count) && split - used < heldMaximum)
          let rest = stream[used...].withUnsafeBytes { codec.receive($0) }
          #expect(codec.ending == ending && used + rest == stream.count, "split at \(split) of \(stream.count)")
        }
      }
    }
  }

  @Test("The codes of a close that may be sent are taken and sent back, and no others")
  func closeCodes() {
    let good: [UInt16] = [
      1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ]
    let bad: [UInt16] = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535]
    for code in good + bad {
      for role in [WebSocketRole.client, .server] {
        let codec = FrameCodec(role: role, messageByteCountMaximum: 1_000)
        let frame = Frame.close(code, "why").bytes(to: role)
        _ = frame.withUnsafeBytes { codec.receive($0) }
        let isGood = good.contains(code)
        #expect(codec.ending == (isGood ? .closedByPeer(code: code, reason: "why") : .violation(code: 1002)), "\(code)")
        var output = codec.takeOutput()
        #expect(Frame(taking: &output)?.closeCode == (isGood ? code : 1002) && output.isEmpty, "\(code)")
      }
    }
  }

  @Test("Empty frames, the largest control frames and messages in very many pieces are as good as any")
  func oddButGood() {
    let largest = [UInt8](repeating: 0x7A, count: 125)
    var stream = Frame(opcode: 9, payload: largest).masked + Frame.text("", isFinal: false).masked
    for letter in "several" {
      stream += Frame(opcode: 0, payload: [], isFinal: false).masked
      stream += Frame(opcode: 0, payload: Array("\(letter)".utf8), isFinal: false).masked
      stream += Frame(opcode: 10, payload: largest).masked
    }
    stream += Frame(opcode: 0, payload: []).masked + Frame(opcode: 2, payload: []).masked
    for size in [1, 2, 13, stream.count] {
      let codec = FrameCodec(role: .server, messageByteCountMaximum: 1_000)
      var texts: [String] = []
      codec.onMessage = { _, bytes in texts.append(String(decoding: bytes, as: UTF8.self)) }
      for start in stride(from: 0, to: stream.count, by: size) {
        let piece = Array(stream[start..<min(start + size, stream.count)])
        #expect(piece.withUnsafeBytes { codec.receive($0) } == piece.count)
      }
      #expect(texts == ["several", ""] && codec.ending == nil)
      var output = codec.takeOutput()
      #expect(Frame(taking: &output) == Frame(opcode: 10, payload: largest) && output.isEmpty)
    }
    // RFC 6455 wants the shortest form of a length.
    for long in [[0x82, 0xFE, 0, 125], [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]] as [[UInt8]] {
      let codec = FrameCodec(role: .server, messageByteCountMaximum: 100_000)
      let frame = long + [UInt8](repeating: 0, count: 70_000)
      _ = frame.withUnsafeBytes { codec.receive($0) }
      #expect(codec.ending == .violation(code: 1002))
    }
  }
}

extension Frame {
  /// As the other side of a role sends it.
  fileprivate func bytes(to role: WebSocketRole) -> [UInt8] { role == .server ? masked : bytes }
}
