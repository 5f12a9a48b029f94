// Fuzz entry for the frame reader, the first code that touches what a peer sends. `Scripts/fuzz.sh` builds and runs it.
//
// corpus: frames
//
// The input is a stream. It is read twice: whole, and in pieces whose sizes come from a generator seeded by the input
// itself, so a finding can be repeated. Both readings must give the same frames and the same violation, must never ask
// for bytes that are there already, and every frame written again must give the bytes it was read from.
import Frames

/// What reading a stream came to: where each frame ended, and the violation that stopped it, if one did.
private struct Outcome: Equatable {
  var frames: [FrameHeader] = []
  var consumedByteCount = 0
  var violation: FrameViolation?
}

/// Small limits are reached by small inputs, so the bounds are tried and not only the middle.
private let reader = FrameReader(lengthMaximum: 4_096)

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFrameReader(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let stream = UnsafeRawBufferPointer(start: start, count: count)
  var whole = Outcome()
  _ = read(stream, into: &whole)
  checkRewriting(of: whole.frames, gives: stream)
  precondition(readInPieces(stream) == whole, "a stream reads the same at every split")
  return 0
}

/// Reads every frame that is whole from where `outcome` stands; returns how many bytes the next one needs.
private func read(_ bytes: UnsafeRawBufferPointer, into outcome: inout Outcome) -> Int {
  while true {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[outcome.consumedByteCount...])
    do throws(FrameViolation) {
      switch try reader.next(in: rest) {
      case .frame(let header, let payload):
        precondition(payload.count == header.payloadByteCount, "a frame has the payload it announces")
        precondition(header.frameByteCount <= 4 + reader.lengthMaximum, "a frame is within the limit")
        outcome.frames.append(header)
        outcome.consumedByteCount += header.frameByteCount
      case .needsBytes(let needed):
        precondition(needed > rest.count, "a reader waits only for what is missing")
        precondition(needed <= 4 + reader.lengthMaximum, "a reader never waits for more than the limit")
        return needed
      }
    } catch {
      outcome.violation = error
      return 0
    }
  }
}

private func readInPieces(_ stream: UnsafeRawBufferPointer) -> Outcome {
  var outcome = Outcome()
  var state = stream.reduce(UInt64(stream.count)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  var arrived = 0
  while true {
    _ = read(UnsafeRawBufferPointer(rebasing: stream[..<arrived]), into: &outcome)
    if outcome.violation != nil || arrived == stream.count { return outcome }
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    // Mostly bytes and headers, sometimes several frames at once.
    let piece = 1 + Int(truncatingIfNeeded: state >> 33) % (state >> 62 == 0 ? 300 : 17)
    arrived = min(arrived + piece, stream.count)
  }
}

private func checkRewriting(of frames: [FrameHeader], gives stream: UnsafeRawBufferPointer) {
  var start = 0
  withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 8) { header in
    guard let base = header.baseAddress else { return }
    for frame in frames {
      frame.write(to: base)
      let original = stream[start..<start + FrameHeader.byteCount]
      precondition(header.elementsEqual(original), "a frame is written as it was read")
      start += frame.frameByteCount
    }
  }
}
