internal import Frames

/// Cuts the bytes of a recording into records, whatever pieces the bytes arrive in. Every length is checked before it
/// is used.
///
/// The bytes are foreign: a recording may come from another machine, or be damaged. A part that cannot be read is a
/// ``RecordingFault`` with its offset; nothing after it is read.
public struct RecordingReader: Sendable {
  /// The opening of the recording, once it has been read.
  public private(set) var opening: RecordingOpening?

  private var bytes: [UInt8] = []
  private var offset = 0
  /// Bytes of the file before `bytes`.
  private var discardedCount = 0
  private var hasEnded = false

  /// Consumed bytes are dropped when there are this many.
  private static let usedByteCountMaximum = 1 << 20

  /// A reader at the start of a file.
  public init() {}

  /// The number of bytes that are not a complete record yet.
  public var restByteCount: Int { bytes.count - offset }

  /// The next bytes of the file.
  public mutating func append(_ more: some Sequence<UInt8>) {
    if offset >= Self.usedByteCountMaximum {
      bytes.removeFirst(offset)
      discardedCount += offset
      offset = 0
    }
    bytes.append(contentsOf: more)
  }

  /// The next record; nil when not all of its bytes have arrived.
  public mutating func next() throws(RecordingFault) -> RecordingEntry? {
    if opening == nil, !(try readOpening()) { return nil }
    guard restByteCount > 0 else { return nil }
    if hasEnded { throw fault("bytes follow the end of the recording") }
    guard restByteCount >= RecordingLayout.recordHeadByteCount else { return nil }
    let nanoseconds = number(at: 0, as: UInt64.self)
    guard let kind = RecordingLayout.Kind(rawValue: bytes[offset + 8]) else {
      throw fault("kind \(bytes[offset + 8]) is not in the table")
    }
    let flags = bytes[offset + 9]
    let reserved = number(at: 10, as: UInt16.self)
    guard reserved == 0 else { throw fault("the field behind the flags is \(reserved), and must be 0") }
    let bodyByteCount = Int(number(at: 12, as: UInt32.self))
    try check(kind, flags, bodyByteCount)
    guard restByteCount - RecordingLayout.recordHeadByteCount >= bodyByteCount else { return nil }
    let start = offset + RecordingLayout.recordHeadByteCount
    let record = try read(kind, flags, bytes[start..<(start + bodyByteCount)], nanoseconds)
    offset = start + bodyByteCount
    return record
  }

  private mutating func readOpening() throws(RecordingFault) -> Bool {
    let magic = RecordingLayout.magic
    guard bytes.prefix(magic.count).elementsEqual(magic.prefix(bytes.count)) else { throw .notARecording }
    guard bytes.count >= RecordingLayout.fileHeadByteCount else { return false }
    let version = number(at: 8, as: UInt16.self)
    guard version == RecordingLayout.version else { throw .version(version) }
    let reserved = number(at: 10, as: UInt16.self)
    guard reserved == 0 else { throw .opening("the field behind the version is \(reserved), and must be 0") }
    let length = Int(number(at: 12, as: UInt32.self))
    guard length <= RecordingLayout.openingByteCountMaximum else { throw .opening("it has \(length) bytes") }
    let end = RecordingLayout.fileHeadByteCount + length
    guard bytes.count >= end else { return false }
    do throws(Refusal) {
      opening = try JSONPayload.decode(
        RecordingOpening.self, from: bytes[RecordingLayout.fileHeadByteCount..<end])
    } catch { throw .opening(error.message) }
    offset = end
    return true
  }

  private func check(_ kind: RecordingLayout.Kind, _ flags: UInt8, _ bodyByteCount: Int) throws(RecordingFault) {
    let isFrame = kind == .toWorker || kind == .fromWorker
    let known = isFrame ? RecordingLayout.withheldFlag | RecordingLayout.tokenRemovedFlag : 0
    guard flags & ~known == 0 else { throw fault("flags \(flags) have no meaning") }
    let allowed =
      switch kind {
      case .toWorker, .fromWorker: FrameHeader.byteCount...RecordingLayout.bodyByteCountMaximum
      case .gap: 8...8
      case .end: 2...RecordingLayout.openingByteCountMaximum
      }
    guard allowed.contains(bodyByteCount) else { throw fault("a body of \(bodyByteCount) bytes cannot be") }
  }

  private mutating func read(
    _ kind: RecordingLayout.Kind, _ flags: UInt8, _ body: ArraySlice<UInt8>, _ nanoseconds: UInt64
  ) throws(RecordingFault) -> RecordingEntry {
    switch kind {
    case .gap:
      return .gap(
        nanoseconds: nanoseconds, missingCount: number(at: RecordingLayout.recordHeadByteCount, as: UInt64.self))
    case .end:
      do throws(Refusal) {
        let end = try JSONPayload.decode(RecordingEnd.self, from: body)
        hasEnded = true
        return .end(nanoseconds: nanoseconds, end)
      } catch { throw fault(error.message) }
    case .toWorker: return .frame(try frame(.toWorker, flags, body, nanoseconds))
    case .fromWorker: return .frame(try frame(.fromWorker, flags, body, nanoseconds))
    }
  }

  private func frame(
    _ direction: RecordedFrame.Direction, _ flags: UInt8, _ body: ArraySlice<UInt8>, _ nanoseconds: UInt64
  ) throws(RecordingFault) -> RecordedFrame {
    let isWithheld = flags & RecordingLayout.withheldFlag != 0
    let length = Int(number(at: RecordingLayout.recordHeadByteCount, as: UInt32.self))
    let payloadByteCount = length - FrameHeader.lengthMinimum
    let keptByteCount = body.count - FrameHeader.byteCount
    guard isWithheld ? keptByteCount == 0 && payloadByteCount >= 0 : keptByteCount == payloadByteCount else {
      throw fault("the frame's header speaks of \(payloadByteCount) bytes, and \(keptByteCount) follow")
    }
    let result = body.withUnsafeBytes { bytes -> Result<FrameHeader, FrameViolation> in
      guard let base = bytes.baseAddress else { return .failure(.version(0)) }
      do throws(FrameViolation) {
        return .success(try FrameHeader(reading: base, payloadByteCount: payloadByteCount))
      } catch { return .failure(error) }
    }
    do throws(FrameViolation) {
      return RecordedFrame(
        nanoseconds: nanoseconds, direction: direction, header: try result.get(),
        payload: Array(body.dropFirst(FrameHeader.byteCount)), isWithheld: isWithheld,
        isTokenRemoved: flags & RecordingLayout.tokenRemovedFlag != 0)
    } catch { throw fault(error.message) }
  }

  private func number<Number: FixedWidthInteger>(at place: Int, as type: Number.Type) -> Number {
    bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset + place, as: type)) }
  }

  private func fault(_ reason: String) -> RecordingFault { .record(offset: discardedCount + offset, reason) }
}
