import Contracts
import Frames
import Testing

@Suite("The limit of an event")
struct EventLimitTests {
  @Test("leaves room for all that stands around one, and follows a narrower frame but no wider one")
  func room() {
    #expect(EventLimit.byteCountMaximum() == 1_044_480)
    #expect(EventLimit.byteCountMaximum(frameLimit: FrameReader.lengthCeiling) == 1_044_480)
    #expect(EventLimit.byteCountMaximum(frameLimit: 64 << 10) == 61_440)
    // A run with the name of a relay, the longest there is.
    var run: [UInt8] = []
    IngestRecord.append(.relayName, receivedNanoseconds: 0, [UInt8](repeating: 0, count: 200), to: &run)
    IngestRecord.append(.event, receivedNanoseconds: 0, [], to: &run)
    #expect(FrameHeader.lengthMinimum + run.count < EventLimit.surroundingByteCount)
  }
}
