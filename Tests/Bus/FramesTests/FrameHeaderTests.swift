// The layout is a promise to programs in other languages, so it is held against bytes that another language made:
// Python's `struct.Struct("<IBBHIIQQIHHQ")`, packing (44 + payload, 1, type, flags, destination, source, id, re, ttl,
// attempt, method, trace).
import Clocks
import Frames
import TestSupport
import Testing

@Suite("A frame header")
struct FrameHeaderTests {
  /// A frame and the bytes Python packs for it.
  struct Vector: CustomTestStringConvertible {
    var testDescription: String
    var sample: Sample
    var hex: String
  }

  static let vectors = [
    Vector(
      testDescription: "a HELLO with every other field at zero",
      sample: Sample(header: FrameHeader(type: .hello), payload: []),
      hex: """
        2c000000010100000000000000000000 00000000000000000000000000000000 00000000000000000000000000000000
        """),
    Vector(
      testDescription: "a REQUEST to role 3 with a JSON payload",
      sample: Sample(
        header: FrameHeader(
          type: .request, flags: [.atMostOnce, .raw], destination: Endpoint(role: 3), id: 0x0102_0304_0506_0708,
          ttlMilliseconds: 30_000, method: 0x0207, trace: 0xA1A2_A3A4_A5A6_A7A8, payloadByteCount: 7),
        payload: Array(#"{"a":1}"#.utf8)),
      hex: """
        33000000011004010300008000000000 08070605040302010000000000000000 3075000000000702a8a7a6a5a4a3a2a1
        7b2261223a317d
        """),
    Vector(
      testDescription: "a GAP with a different byte in every place",
      sample: Sample(
        header: FrameHeader(
          type: .gap, flags: .known, destination: Endpoint(rawValue: 0xFFFE_FDFC),
          source: Endpoint(rawValue: 0x7BFB_FAF9), id: 0xF8F7_F6F5_F4F3_F2F1, re: 0xE8E7_E6E5_E4E3_E2E1,
          ttlMilliseconds: 0xD4D3_D2D1, attempt: 0xC2C1, method: 0xB2B1, trace: 0x9897_9695_9493_9291),
        payload: []),
      hex: """
        2c000000011d0f01fcfdfefff9fafb7b f1f2f3f4f5f6f7f8e1e2e3e4e5e6e7e8 d1d2d3d4c1c2b1b29192939495969798
        """),
    Vector(
      testDescription: "a RESPONSE from seat 5 in its first turn to seat 7 in its second, more to come",
      sample: Sample(
        header: FrameHeader(
          type: .response, flags: .more, destination: Endpoint(seat: 7, turn: 2), source: Endpoint(seat: 5, turn: 1),
          id: 9, re: 8, attempt: 2, method: 17, trace: .max, payloadByteCount: 5),
        payload: [0, 1, 2, 3, 4]),
      hex: """
        31000000011101000720000005100000 09000000000000000800000000000000 0000000002001100ffffffffffffffff
        0001020304
        """),
  ]

  @Test("The caller's role is in bits 40 to 47, and bits above say nothing of it")
  func callerRole() {
    var header = FrameHeader(type: .request)
    header.callerRole = 64
    #expect(header.re == 64 << 40)
    header.re |= 0xFFFF << 48 | 0xFF_FFFF_FFFF
    #expect(header.callerRole == 64)
    header.callerRole = 0x102
    #expect(header.re == 255 << 40 && header.callerRole == 255, "no role has it, and nobody is taken for role 2")
  }

  @Test("is written as the bytes that Python's struct packs", arguments: vectors)
  func isWrittenAsPythonPacks(_ vector: Vector) {
    #expect(vector.sample.bytes == bytes(hex: vector.hex))
  }

  @Test("is read from the bytes that Python's struct packs", arguments: vectors)
  func isReadAsPythonPacks(_ vector: Vector) {
    #expect(Reading(bytes(hex: vector.hex)) == .frame(vector.sample))
  }

  @Test("is read back as it was written", arguments: seeds(16))
  func isReadBackAsWritten(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let sample = Sample.random(payloadMaximum: 600, using: &random)
      #expect(Reading(sample.bytes) == .frame(sample))
    }
  }

  @Test("is read at any alignment", arguments: seeds(4))
  func isReadAtAnyAlignment(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let sample = Sample.random(payloadMaximum: 40, using: &random)
    for offset in 0..<16 {
      let shifted = [UInt8](repeating: 0xEE, count: offset) + sample.bytes
      let reading = shifted.withUnsafeBytes { buffer in
        Reading(inPlace: UnsafeRawBufferPointer(rebasing: buffer[offset...]))
      }
      #expect(reading == .frame(sample), "at offset \(offset)")
    }
  }

  @Test("names its types by the numbers of the protocol's table")
  func namesTypesByNumber() {
    let numbers: [(FrameType, UInt8)] = [
      (.hello, 1), (.welcome, 2), (.ready, 3), (.registry, 4), (.ping, 5), (.pong, 6), (.credit, 7), (.drain, 8),
      (.goodbye, 9), (.fatal, 10), (.status, 11), (.extend, 12), (.config, 13), (.request, 16), (.response, 17),
      (.error, 18), (.cancel, 19), (.progress, 20), (.event, 24), (.ack, 25), (.nack, 26), (.subscribe, 27),
      (.unsubscribe, 28), (.gap, 29),
    ]
    #expect(numbers.count == FrameType.allCases.count)
    for (type, number) in numbers { #expect(type.rawValue == number) }
  }

  @Test("spends credit for work, never for an end of work or for the connection itself")
  func spendsCreditForWorkOnly() {
    let spending = FrameType.allCases.filter { $0.spendsCredit(flags: []) }
    #expect(spending == [.request, .progress, .event, .subscribe, .unsubscribe, .gap])
    #expect(FrameType.response.spendsCredit(flags: .more))
    for type in FrameType.allCases where type.isTerminal(flags: []) { #expect(!type.spendsCredit(flags: [])) }
  }

  @Test("ends a request by ERROR and by the last RESPONSE only")
  func endsRequest() {
    #expect(FrameType.allCases.filter { $0.isTerminal(flags: []) } == [.response, .error])
    #expect(FrameType.allCases.filter { $0.isTerminal(flags: .more) } == [.error])
  }
}
