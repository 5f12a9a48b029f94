/// Cuts a byte stream into frames, in place.
///
/// A reader holds no bytes: the caller keeps one buffer, appends what arrives, and requests the next frame at an
/// offset. The length field is checked before it is used, so a peer cannot make the caller reserve memory for bytes
/// that it only announces.
public struct FrameReader: Sendable {
  /// The largest length field accepted, in bytes.
  public var lengthMaximum: Int

  /// Default limit of the length field: 1 MiB.
  public static let defaultLengthMaximum = 1 << 20
  /// The maximum on which a connection may agree: 16 MiB.
  public static let lengthCeiling = 16 << 20

  /// A reader for a connection with this limit, which is limited to between 44 bytes and 16 MiB.
  public init(lengthMaximum: Int = FrameReader.defaultLengthMaximum) {
    self.lengthMaximum = min(max(lengthMaximum, FrameHeader.lengthMinimum), FrameReader.lengthCeiling)
  }

  /// What the start of some bytes contains.
  @frozen
  public enum Step {
    /// A whole frame: its header, and the payload inside the caller's bytes.
    case frame(FrameHeader, payload: UnsafeRawBufferPointer)
    /// The rest has not arrived; a frame needs at least this many bytes in all.
    case needsBytes(Int)
  }

  /// Reads the frame at the start of `bytes`. Nothing is copied or consumed.
  ///
  /// - Throws: ``FrameViolation`` as soon as the bytes show one, even before the frame is complete.
  @inlinable
  public func next(in bytes: UnsafeRawBufferPointer) throws(FrameViolation) -> Step {
    guard bytes.count >= 4, let base = bytes.baseAddress else { return .needsBytes(4) }
    let length = UInt32(littleEndian: base.loadUnaligned(as: UInt32.self))
    guard length >= UInt32(FrameHeader.lengthMinimum), length <= UInt32(lengthMaximum) else {
      throw .length(length, maximum: lengthMaximum)
    }
    let frameByteCount = 4 + Int(length)
    if bytes.count < frameByteCount {
      if bytes.count >= 8 { _ = try FrameHeader(checkingStartOf: base) }
      return .needsBytes(frameByteCount)
    }
    let payloadByteCount = frameByteCount - FrameHeader.byteCount
    let header = try FrameHeader(reading: base, payloadByteCount: payloadByteCount)
    return .frame(header, payload: UnsafeRawBufferPointer(start: base + FrameHeader.byteCount, count: payloadByteCount))
  }
}

extension FrameHeader {
  /// Checks version, type and flags in the first 8 bytes of a frame that is still arriving.
  @usableFromInline
  init(checkingStartOf bytes: UnsafeRawPointer) throws(FrameViolation) {
    var whole: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &whole) { $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: 8)) }
    let result = withUnsafeBytes(of: &whole) { buffer -> Result<FrameHeader, FrameViolation> in
      guard let base = buffer.baseAddress else { return .failure(.version(0)) }
      do throws(FrameViolation) { return .success(try FrameHeader(reading: base, payloadByteCount: 0)) } catch {
        return .failure(error)
      }
    }
    self = try result.get()
  }
}
