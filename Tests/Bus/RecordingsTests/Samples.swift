import Frames
import Recordings

/// Pieces that the tests put together.
enum Samples {
  static let opening = RecordingOpening(
    worker: "example", role: "example", generation: 3, isFromStart: true, program: "example", arguments: ["--flag"],
    environment: ["HOME"], sandbox: "off", time: "2026-03-01T12:00:00.000Z", version: "0.1.0")

  static let caller = Endpoint(seat: 9, turn: 1)

  static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  static func hello(_ more: String = "") -> [UInt8] {
    bytes(#"{"name":"example","role":"example","pid":7\#(more)}"#)
  }

  static func request(_ id: UInt64, method: UInt16 = 0x4000) -> FrameHeader {
    FrameHeader(
      type: .request, destination: Endpoint(seat: 1, turn: 1), source: caller, id: id, attempt: 1, method: method)
  }

  static func answer(_ id: UInt64, _ type: FrameType = .response, flags: FrameFlags = []) -> FrameHeader {
    FrameHeader(type: type, flags: flags, destination: caller, re: id, attempt: 1, method: 0x4000)
  }

  /// A recording of these frames, a millisecond apart, written and read again.
  static func recording(
    _ frames: [(RecordedFrame.Direction, FrameHeader, String)], opening: RecordingOpening = Samples.opening
  ) throws -> Recording {
    var writer = RecordingWriter()
    var bytes = writer.open(opening)
    for (number, frame) in frames.enumerated() {
      bytes += Array(frame.2.utf8).withUnsafeBytes {
        writer.append(frame.0, frame.1, $0, isSecret: false, nanoseconds: UInt64(number) * 1_000_000)
      }
    }
    bytes += writer.finish(RecordingEnd(.asked, "enough"), UInt64(frames.count) * 1_000_000)
    return try Recording(reading: bytes)
  }

  /// HELLO, WELCOME, READY.
  static let start: [(RecordedFrame.Direction, FrameHeader, String)] = [
    (.fromWorker, FrameHeader(type: .hello), String(decoding: hello(), as: UTF8.self)),
    (.toWorker, FrameHeader(type: .welcome), #"{"endpoint":1}"#), (.fromWorker, FrameHeader(type: .ready), ""),
  ]
}
