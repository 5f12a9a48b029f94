// Frames made of a seed, and bytes written as hex, for the tests of this folder.
import Clocks
import Frames

/// A frame as a test holds it: its header and its payload.
struct Sample: Equatable {
  var header: FrameHeader
  var payload: [UInt8]

  /// Any valid header with a payload of up to `payloadMaximum` random bytes.
  static func random(payloadMaximum: Int, using random: inout SeededGenerator) -> Sample {
    let count = Int.random(in: 0...payloadMaximum, using: &random)
    let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    let flags = FrameFlags(rawValue: UInt16.random(in: 0...0xFFFF, using: &random)).intersection(.known)
    let header = FrameHeader(
      type: FrameType.allCases.randomElement(using: &random) ?? .hello, flags: flags,
      destination: Endpoint(rawValue: .random(in: 0 ... .max, using: &random)),
      source: Endpoint(rawValue: .random(in: 0 ... .max, using: &random)), id: .random(in: 0 ... .max, using: &random),
      re: .random(in: 0 ... .max, using: &random), ttlMilliseconds: .random(in: 0 ... .max, using: &random),
      attempt: .random(in: 0 ... .max, using: &random), method: .random(in: 0 ... .max, using: &random),
      trace: .random(in: 0 ... .max, using: &random), payloadByteCount: payload.count)
    return Sample(header: header, payload: payload)
  }

  /// The frame as it travels.
  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    bytes.withUnsafeMutableBytes { buffer in
      if let base = buffer.baseAddress { header.write(to: base) }
    }
    return bytes + payload
  }
}

/// The step a reader takes at the start of some bytes, with the payload copied out of them.
enum Reading: Equatable {
  case frame(Sample)
  case needsBytes(Int)
  case violation(FrameViolation)

  init(_ bytes: [UInt8], by reader: FrameReader = FrameReader()) {
    self = bytes.withUnsafeBytes { Reading(inPlace: $0, by: reader) }
  }

  init(inPlace bytes: UnsafeRawBufferPointer, by reader: FrameReader = FrameReader()) {
    do throws(FrameViolation) {
      switch try reader.next(in: bytes) {
      case .frame(let header, let payload): self = .frame(Sample(header: header, payload: Array(payload)))
      case .needsBytes(let count): self = .needsBytes(count)
      }
    } catch {
      self = .violation(error)
    }
  }
}

/// The bytes of a text of hex digits; blanks are skipped.
func bytes(hex text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  precondition(digits.count.isMultiple(of: 2), "hex digits come in pairs")
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
