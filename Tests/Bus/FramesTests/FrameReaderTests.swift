// What a peer sends is not to be believed before it is checked: the length before anything is made of it, and version,
// type and flags as soon as their bytes are there.
import Clocks
import Frames
import TestSupport
import Testing

@Suite("A frame reader")
struct FrameReaderTests {
  @Test("finds the same frames wherever the stream is split", arguments: seeds(8))
  func findsSameFramesAtEverySplit(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let samples = (0..<4).map { _ in Sample.random(payloadMaximum: 60, using: &random) }
    let stream = samples.flatMap(\.bytes)
    for split in 0...stream.count {
      var frames = FrameStream()
      try frames.append(stream[..<split])
      try frames.append(stream[split...])
      #expect(frames.samples == samples, "split at byte \(split)")
      #expect(frames.rest.isEmpty)
    }
  }

  @Test("finds the same frames byte by byte, and none of them early", arguments: seeds(8))
  func findsSameFramesByteByByte(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let samples = (0..<6).map { _ in Sample.random(payloadMaximum: 90, using: &random) }
    var frames = FrameStream()
    for sample in samples {
      let count = frames.samples.count
      for byte in sample.bytes {
        #expect(frames.samples.count == count)
        try frames.append([byte])
      }
      #expect(frames.samples.count == count + 1)
    }
    #expect(frames.samples == samples)
  }

  @Test("says how many bytes the frame needs, from its length field on")
  func saysHowManyBytesAreNeeded() {
    let payload = [UInt8](repeating: 7, count: 10)
    let whole = Sample(header: FrameHeader(type: .event, payloadByteCount: 10), payload: payload).bytes
    for count in 0..<4 { #expect(Reading(Array(whole[..<count])) == .needsBytes(4)) }
    for count in 4..<whole.count { #expect(Reading(Array(whole[..<count])) == .needsBytes(58)) }
  }

  @Test("accepts lengths from 44 to its limit and refuses their neighbours")
  func holdsBoundsOfLength() {
    let reader = FrameReader(lengthMaximum: 1_000)
    #expect(Reading(lengthField(44), by: reader) == .needsBytes(48))
    #expect(Reading(lengthField(1_000), by: reader) == .needsBytes(1_004))
    for length: UInt32 in [0, 1, 4, 43, 1_001, 65_536, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] {
      #expect(Reading(lengthField(length), by: reader) == .violation(.length(length, maximum: 1_000)))
    }
  }

  @Test("refuses a length on its four bytes alone, whatever follows")
  func refusesLengthEarly() {
    let announced = lengthField(UInt32(FrameReader.defaultLengthMaximum) + 1)
    let expected = Reading.violation(.length(1_048_577, maximum: 1_048_576))
    #expect(Reading(announced) == expected)
    #expect(Reading(announced + [UInt8](repeating: 0, count: 100)) == expected)
  }

  @Test("keeps its limit between an empty payload and 16 MiB")
  func keepsLimitInBounds() {
    #expect(FrameReader(lengthMaximum: 0).lengthMaximum == FrameHeader.lengthMinimum)
    #expect(FrameReader(lengthMaximum: -1).lengthMaximum == FrameHeader.lengthMinimum)
    #expect(FrameReader(lengthMaximum: .max).lengthMaximum == FrameReader.lengthCeiling)
    #expect(FrameReader().lengthMaximum == 1 << 20)
  }

  @Test("refuses every version but 1 as soon as eight bytes are there")
  func refusesOtherVersions() {
    for version in UInt8.min ... .max where version != 1 {
      #expect(atEveryCount(from: 8, of: frame(version: version)) { $0 == .violation(.version(version)) })
    }
  }

  @Test("refuses every type that is not in the table as soon as eight bytes are there")
  func refusesUnknownTypes() {
    for type in UInt8.min ... .max where FrameType(rawValue: type) == nil {
      #expect(atEveryCount(from: 8, of: frame(type: type)) { $0 == .violation(.unknownType(type)) })
    }
  }

  @Test("refuses every flag without a meaning, alone and beside known ones")
  func refusesUnknownFlags() {
    for bit in 0..<16 where !FrameFlags.known.contains(FrameFlags(rawValue: 1 << bit)) {
      for flags in [UInt16(1) << bit, UInt16(1) << bit | FrameFlags.known.rawValue] {
        #expect(atEveryCount(from: 8, of: frame(flags: flags)) { $0 == .violation(.unknownFlags(flags)) })
      }
    }
  }

  @Test("tells a violation by the stable word of the protocol")
  func tellsViolationByWord() {
    #expect(FrameViolation.length(3, maximum: 9).code == .badLength)
    #expect(FrameViolation.version(2).code == .badVersion)
    #expect(FrameViolation.unknownType(99).code == .unknownType)
    #expect(FrameViolation.unknownFlags(0x8001).code == .unknownFlags)
    #expect(FrameViolation.unknownFlags(0x8001).message == "flag bits 0x8000 have no meaning")
    #expect(FrameViolation.rule(.noCredit, "two frames over").code == .noCredit)
  }

  /// The length field alone.
  private func lengthField(_ length: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
  }

  /// An EVENT with four payload bytes in which one field is replaced.
  private func frame(version: UInt8 = 1, type: UInt8 = 24, flags: UInt16 = 0) -> [UInt8] {
    lengthField(48) + [version, type, UInt8(truncatingIfNeeded: flags), UInt8(truncatingIfNeeded: flags >> 8)]
      + [UInt8](repeating: 0, count: 44)
  }

  /// Whether every beginning of `bytes` with at least `least` of them is read as `expected` says.
  private func atEveryCount(from least: Int, of bytes: [UInt8], _ expected: (Reading) -> Bool) -> Bool {
    (least...bytes.count).allSatisfy { expected(Reading(Array(bytes[..<$0]))) }
  }
}

/// A reader with the buffer that its owner keeps: bytes go in, whole frames come out, the rest waits.
private struct FrameStream {
  private(set) var samples: [Sample] = []
  private(set) var rest: [UInt8] = []

  mutating func append(_ bytes: some Collection<UInt8>) throws {
    rest += bytes
    while true {
      switch Reading(rest) {
      case .frame(let sample):
        samples.append(sample)
        rest.removeFirst(sample.header.frameByteCount)
      case .needsBytes(let count):
        // A reader that asks for what is there already would make its owner wait for ever.
        #expect(count > rest.count)
        return
      case .violation(let violation): throw violation
      }
    }
  }
}
