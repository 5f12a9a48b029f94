import Frames

/// The frames of one read, taken one after the other. The payloads lie in the stream's read buffer until the read is
/// over.
///
/// A consumer gets the run, not the frame: what it needs for every frame (itself, the connection, the instant) it then
/// finds once a read. A small frame costs a few hundred nanoseconds in all, so a closure and its references each are
/// much.
struct FrameRun {
  private let reader: FrameReader
  private let bytes: UnsafeRawBufferPointer
  /// Bytes of the frames taken so far.
  private(set) var usedByteCount = 0

  init(_ bytes: UnsafeRawBufferPointer, reader: FrameReader) {
    self.bytes = bytes
    self.reader = reader
  }

  /// Takes the next whole frame; nil when the rest has not arrived.
  mutating func next() throws(FrameViolation) -> (header: FrameHeader, payload: UnsafeRawBufferPointer)? {
    switch try reader.next(in: UnsafeRawBufferPointer(rebasing: bytes[usedByteCount...])) {
    case .frame(let header, let payload):
      usedByteCount += header.frameByteCount
      return (header, payload)
    case .needsBytes: return nil
    }
  }
}
