internal import CZlib

// The messages of one connection, inflated (RFC 7692, 7.2.2).
//
// The input is whole messages. Their size is bounded before this point, and the output is bounded here: zlib writes 16
// KB at a time, and the first byte above the bound ends the message. So a kilobyte that would become a megabyte costs
// no memory above the bound, and little time.
//
// zlib takes 7 KB for its tables and, once something was written, the window, 32 KB at 15 bits. Both are allocated at
// the first compressed message; if no window must be kept, they are freed at the end of the message.
//
// A message may contain a block with BFINAL, after which zlib accepts no more input. The next block continues with the
// same window (7.2.3.4). `inflateResetKeep` restarts zlib and keeps the window, at the price of a few assignments.
// Saving and restoring the window, as zlib's manual suggests, costs microseconds, and a megabyte can contain half a
// million such blocks.

/// Inflates the messages of one connection, in their order.
final class Inflater {
  /// Why a message cannot be inflated.
  enum Failure: Error {
    /// It is longer than allowed.
    case overLimit
    /// It is not deflate data, or does not end where it should.
    case malformed
  }

  private let agreement: DeflateAgreement
  /// Bytes of one message, inflated.
  var byteCountMaximum: Int
  private var stream: UnsafeMutablePointer<z_stream>?
  /// Whether nothing was read after a final block.
  private var isAtStart = true

  private static let roundByteCount = 16 << 10
  /// The end of every message, which is not sent: an empty block.
  private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
  /// zlib's sign in `data_type`: between two blocks, at a whole byte, with no final block begun.
  private static let atBoundary: Int32 = 128

  /// - Parameter byteCountMaximum: bytes of one message, inflated.
  init(_ agreement: DeflateAgreement, byteCountMaximum: Int) {
    self.agreement = agreement
    self.byteCountMaximum = byteCountMaximum
  }

  deinit { end() }

  /// Inflates one message, the payloads of all its frames together. After a failure the inflater must not be used
  /// again.
  func inflate(_ message: UnsafeRawBufferPointer) throws(Failure) -> [UInt8] {
    // An empty message has one byte (7.2.3.6).
    guard message.count > 0 else { throw .malformed }
    let stream = self.stream ?? begin()
    self.stream = stream
    var output: [UInt8] = []
    try read(message, from: stream, to: &output)
    if !isAtStart {
      // An array's own memory: zlib reads through the pointer within the call only.
      var result: Result<Void, Failure> = .success(())
      Self.tail.withUnsafeBytes { tail in
        do throws(Failure) { try read(tail, from: stream, to: &output) } catch { result = .failure(error) }
      }
      try result.get()
    }
    guard isAtStart || stream.pointee.data_type == Self.atBoundary else { throw .malformed }
    if !agreement.keepsWindow { end() }
    return output
  }

  /// The same as ``inflate(_:)``, for an array.
  func inflated(_ message: [UInt8]) -> Result<[UInt8], Failure> {
    message.withUnsafeBytes { bytes in
      do throws(Failure) { return .success(try inflate(bytes)) } catch { return .failure(error) }
    }
  }

  private func read(
    _ input: UnsafeRawBufferPointer, from stream: UnsafeMutablePointer<z_stream>, to output: inout [UInt8]
  ) throws(Failure) {
    // zlib does not write to its input; its type is older than const.
    stream.pointee.next_in = UnsafeMutableRawPointer(mutating: input.baseAddress)?
      .assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(input.count)
    defer { stream.pointee.next_in = nil }
    var status = Z_OK
    var isFull = false
    let round = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.roundByteCount)
    defer { round.deallocate() }
    while stream.pointee.avail_in > 0 || isFull {
      isAtStart = false
      stream.pointee.next_out = round
      stream.pointee.avail_out = UInt32(Self.roundByteCount)
      status = CZlib.inflate(stream, Z_SYNC_FLUSH)
      let count = Self.roundByteCount - Int(stream.pointee.avail_out)
      guard output.count + count <= byteCountMaximum else { throw .overLimit }
      output.append(contentsOf: UnsafeBufferPointer(start: round, count: count))
      isFull = stream.pointee.avail_out == 0
      switch status {
      case Z_OK: break
      case Z_STREAM_END:
        inflateResetKeep(stream)
        isAtStart = true
        isFull = false
      // No more output comes from this input; zlib reports that only at one more call.
      case Z_BUF_ERROR where stream.pointee.avail_in == 0: isFull = false
      default: throw .malformed
      }
    }
  }

  private func begin() -> UnsafeMutablePointer<z_stream> {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // zlib cannot write for a window of 8 bits: it uses 9, and so do the servers that use zlib.
    let status = roost_inflate_start(stream, Int32(max(agreement.windowBits, 9)))
    precondition(status == Z_OK, "zlib could not allocate its state")
    isAtStart = true
    return stream
  }

  private func end() {
    guard let stream else { return }
    inflateEnd(stream)
    stream.deallocate()
    self.stream = nil
  }
}
