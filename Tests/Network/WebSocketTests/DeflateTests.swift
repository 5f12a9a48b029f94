import TestSupport
import Testing

@testable import WebSocket

/// permessage-deflate (RFC 7692), as a codec and as an offer. Data is the RFC's own, or made by ``DeflateWriter``.
@Suite struct DeflateTests {
  // 7.2.3: "Hello" in one fixed block; in two; stored; in a final block; and again, by reference to the first.
  private let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
  private let twice: [UInt8] = [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]
  private let stored: [UInt8] = [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]
  private let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
  private let again: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]

  private func compressed(_ payload: [UInt8], opcode: UInt8 = 1) -> [UInt8] {
    Frame(opcode: opcode, payload: payload, reserved: 4).bytes
  }

  @Test("Every form of the RFC's example reads as Hello, in pieces of any size and among plain messages")
  func vectors() {
    let frames =
      compressed(hello) + compressed(twice) + Frame.text("plain").bytes + compressed(stored) + compressed(again)
      + compressed(final) + compressed(again)
    for size in [1, 2, 3, 7, frames.count] {
      let reading = Reading(frames, piece: size)
      #expect(reading.texts == ["Hello", "Hello", "plain", "Hello", "Hello", "Hello", "Hello"], "\(reading)")
      #expect(reading.ending == nil)
    }
  }

  @Test("A message is split into frames anywhere, with control frames between, and only its first frame has the bit")
  func fragments() {
    for cut in 0...hello.count {
      let frames =
        Frame(opcode: 1, payload: Array(hello[..<cut]), isFinal: false, reserved: 4).bytes
        + Frame(opcode: 9, payload: [1]).bytes + Frame(opcode: 0, payload: [], isFinal: false).bytes
        + Frame(opcode: 0, payload: Array(hello[cut...])).bytes + Frame.text("plain").bytes
      #expect(Reading(frames).texts == ["Hello", "plain"], "cut at \(cut)")
    }
  }

  @Test("An empty message is one byte, and none at all is no message")
  func empty() {
    #expect(Reading(compressed([0]) + compressed(hello)).texts == ["", "Hello"])
    #expect(Reading(compressed([])).ending == .violation(code: 1002))
    #expect(Reading(compressed(hello) + compressed([])).ending == .violation(code: 1002))
    #expect(Reading(Frame.text("").bytes).texts == [""])
  }

  @Test("After a final block the next one goes on with the same window, in the same message and in the next")
  func finalBlocks() {
    // A final block, and behind it in the same message one that refers to it.
    #expect(Reading(compressed(final.dropLast() + again)).texts == ["HelloHello"])
    // As some send it: without the empty block that stands in for the flush.
    #expect(Reading(compressed(final.dropLast()) + compressed(again)).texts == ["Hello", "Hello"])
    // A hundred thousand final blocks, each with nothing in it.
    let many = [UInt8]((0..<100_000).map { _ in [0x03, 0x00] }.joined()) + [0x00]
    #expect(Reading(compressed(many), maximum: 1 << 20).texts == [""])
  }

  @Test("Without a window to be kept each message stands alone")
  func noWindow() {
    let alone = DeflateAgreement(keepsWindow: false)
    #expect(Reading(compressed(hello) + compressed(hello), agreement: alone).texts == ["Hello", "Hello"])
    let reading = Reading(compressed(hello) + compressed(again), agreement: alone)
    #expect(reading.texts == ["Hello"] && reading.ending == .violation(code: 1002))
  }

  @Test("A smaller window is enough for who keeps to it, and who does not is found out")
  func smallWindow() {
    var writer = DeflateWriter()
    writer.literals(Array("Hello".utf8))
    writer.run(byteCount: 258 * 4)
    var next = DeflateWriter()
    // 1,037 bytes back, where the first message begins, is farther than a window of 2^10 goes.
    next.match(length: 5, distance: .d1025plus(12))
    let messages = compressed(writer.message()) + compressed(next.message())
    #expect(Reading(messages, maximum: 4_096).texts.last == "Hello")
    for bits in 8...10 {
      let agreement = DeflateAgreement(keepsWindow: true, windowBits: bits)
      let reading = Reading(messages, agreement: agreement, maximum: 4_096)
      #expect(reading.messages.count == 1 && reading.ending == .violation(code: 1002), "\(bits) bits: \(reading)")
      #expect(Reading(compressed(hello) + compressed(again), agreement: agreement).texts == ["Hello", "Hello"])
    }
  }

  @Test("A message is held to its bound inflated, to the byte; a bomb ends the connection with 1009")
  func bombs() {
    for excess in 0...1 {
      var writer = DeflateWriter()
      writer.literals([0x61])
      writer.run(byteCount: 258 * 3)
      writer.literals([UInt8](repeating: 0x61, count: excess))
      let reading = Reading(compressed(writer.message()), maximum: 775)
      #expect(reading.texts.map(\.utf8.count) == (excess == 0 ? [775] : []))
      #expect(reading.ending == (excess == 0 ? nil : .violation(code: 1009)))
    }
    // Fifteen megabytes in a hundred kilobytes, under a bound of one, alone and behind a good message.
    var writer = DeflateWriter()
    writer.literals([0x61])
    writer.run(byteCount: 258 * 60_000)
    let bomb = compressed(writer.message())
    #expect(Reading(bomb, maximum: 1 << 20).ending == .violation(code: 1009))
    #expect(Reading(compressed(hello) + bomb + compressed(hello), maximum: 1 << 20).texts == ["Hello"])
    // What is longer than anything that could inflate to the bound is not even collected.
    let header: [UInt8] = [0xC1, 127, 0, 0, 0, 0, 0, 0x20, 0, 0, 0]
    #expect(Reading(header, maximum: 1 << 20).ending == .violation(code: 1009))
  }

  @Test(
    "Data that is not deflate, or stops in the middle, ends the connection with 1002; a text that is not UTF-8 with 1007"
  )
  func garbage() {
    let bad: [[UInt8]] = [
      [0xFF, 0xFF, 0xFF, 0xFF], [0x07], [0x00, 0x05, 0x00, 0xFA, 0xFE, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
      Array(hello.dropLast(3)), [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65], again, hello + [0x55],
    ]
    for payload in bad {
      let reading = Reading(compressed(payload) + compressed(hello))
      #expect(reading.ending == .violation(code: 1002) && reading.texts.isEmpty, "\(payload): \(reading)")
    }
    let notText: [UInt8] = [0x00, 0x02, 0x00, 0xFD, 0xFF, 0xC3, 0x28, 0x00]
    #expect(Reading(compressed(notText)).ending == .violation(code: 1007))
    #expect(Reading(compressed(notText, opcode: 2)).messages == [[0xC3, 0x28]])
    // Half a character in each of two frames is a whole one.
    let parts = Frame(opcode: 1, payload: [0x00, 0x02, 0x00, 0xFD, 0xFF, 0xC3], isFinal: false, reserved: 4).bytes
    #expect(Reading(parts + Frame(opcode: 0, payload: [0xA9, 0x00]).bytes).texts == ["é"])
  }

  @Test("The reserved bits mean nothing where nothing was agreed on, and nothing on control frames and continuations")
  func reservedBits() {
    let frames: [(Frame, [UInt8])] = [
      (Frame(opcode: 1, payload: hello, reserved: 2), []), (Frame(opcode: 1, payload: hello, reserved: 6), []),
      (Frame(opcode: 9, payload: [], reserved: 4), []), (Frame(opcode: 8, payload: [3, 232], reserved: 4), []),
      (Frame(opcode: 0, payload: hello, reserved: 4), Frame(opcode: 1, payload: [], isFinal: false, reserved: 4).bytes),
    ]
    for (frame, before) in frames {
      #expect(Reading(before + frame.bytes).ending == .violation(code: 1002), "\(frame)")
    }
    #expect(Reading(compressed(hello), agreement: nil).ending == .violation(code: 1002))
  }

  @Test("What was read ahead of a hold is inflated after it, in order, and found bad after it")
  func holds() {
    let frames = compressed(hello) + compressed(again) + compressed(again) + Frame.text("plain").bytes
    #expect(Reading(frames, holds: true).texts == ["Hello", "Hello", "Hello", "plain"])
    let bad = compressed(hello) + compressed(again) + compressed([0x07]) + compressed(hello) + Frame.close(1000).bytes
    for holds in [false, true] {
      let reading = Reading(bad, holds: holds)
      #expect(reading.texts == ["Hello", "Hello"] && reading.ending == .violation(code: 1002), "\(reading)")
    }
  }

  @Test("An answer to the offer is taken or refused as the RFC has it")
  func answers() {
    let good: [(String, DeflateAgreement)] = [
      ("permessage-deflate", DeflateAgreement()),
      ("permessage-deflate ; client_no_context_takeover", DeflateAgreement()),
      ("permessage-deflate;server_no_context_takeover", DeflateAgreement(keepsWindow: false)),
      ("permessage-deflate; server_max_window_bits=10", DeflateAgreement(windowBits: 10)),
      (
        "permessage-deflate; server_max_window_bits=\"8\"; server_no_context_takeover; client_no_context_takeover",
        DeflateAgreement(keepsWindow: false, windowBits: 8)
      ),
    ]
    for (answer, agreement) in good { #expect(DeflateAgreement(answer: answer) == agreement, "\(answer)") }
    for answer in [
      "x-webkit-deflate-frame", "permessage-deflate, permessage-deflate", "permessage-deflate;", "",
      "permessage-deflate; unknown", "permessage-deflate; client_max_window_bits=15",
      "permessage-deflate; client_max_window_bits", "permessage-deflate; server_max_window_bits",
      "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
      "permessage-deflate; server_max_window_bits=08", "permessage-deflate; server_max_window_bits=\"10",
      "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; server_max_window_bits=+9",
      "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
    ] { #expect(DeflateAgreement(answer: answer) == nil, "\(answer)") }
  }
}

/// What a codec makes of frames.
private struct Reading: CustomStringConvertible {
  var messages: [[UInt8]] = []
  var ending: FrameCodec.Ending?

  var texts: [String] { messages.map { String(decoding: $0, as: UTF8.self) } }
  var description: String { "\(texts.map { $0.prefix(40) }), \(ending.map { "\($0)" } ?? "no ending")" }

  /// - Parameter holds: whether the consumer holds after each message.
  init(
    _ frames: [UInt8], agreement: DeflateAgreement? = DeflateAgreement(), maximum: Int = 300, piece: Int = .max,
    holds: Bool = false
  ) {
    let codec = FrameCodec(role: .client, messageByteCountMaximum: maximum, compression: agreement)
    var messages: [[UInt8]] = []
    codec.onMessage = { [unowned codec] _, bytes in
      messages.append(Array(bytes))
      if holds { codec.hold() }
    }
    var rest = frames[...]
    var left = 0
    while !rest.isEmpty {
      let part = Array(rest.prefix(piece == .max ? rest.count : left + piece))
      let used = part.withUnsafeBytes { codec.receive($0) }
      rest = rest.dropFirst(used)
      while codec.isHolding { codec.release() }
      left = part.count - used
      if used == 0, part.count == frames.count { break }
    }
    self.messages = messages
    ending = codec.ending
  }
}

/// Writes deflate data with fixed codes (RFC 1951, 3.2.6), as few bits as a test needs to say something.
private struct DeflateWriter {
  /// Distances whose code is written out.
  enum Distance {
    /// 1,025 and so many more, below 256.
    case d1025plus(Int)
  }

  private var bytes: [UInt8] = []
  private var bits = 0
  private var bitCount = 0

  /// Begins a block that is not final.
  init() { append(0b010, 3) }

  private mutating func append(_ value: Int, _ count: Int) {
    bits |= value << bitCount
    bitCount += count
    while bitCount >= 8 {
      bytes.append(UInt8(bits & 255))
      bits >>= 8
      bitCount -= 8
    }
  }

  /// A code stands with its highest bit first.
  private mutating func code(_ value: Int, _ count: Int) {
    for bit in (0..<count).reversed() { append(value >> bit & 1, 1) }
  }

  /// Letters below 144.
  mutating func literals(_ letters: [UInt8]) { for letter in letters { code(0x30 + Int(letter), 8) } }

  /// The last letter so often again; a multiple of 258.
  mutating func run(byteCount: Int) {
    for _ in 0..<(byteCount / 258) {
      code(0b1100_0101, 8)
      code(0, 5)
    }
  }

  /// A copy of 3 to 10 bytes.
  mutating func match(length: Int, distance: Distance) {
    code(length - 2, 7)
    guard case .d1025plus(let more) = distance else { return }
    code(20, 5)
    append(more, 9)
  }

  /// The message: the block's end, and the empty block's first byte.
  func message() -> [UInt8] {
    var copy = self
    copy.code(0, 7)
    copy.append(0, 3)
    if copy.bitCount > 0 { copy.append(0, 8 - copy.bitCount) }
    return copy.bytes
  }
}
