public import Frames

/// Turns frames into the bytes of a recording, and enforces its size limit and its secrets. It holds no bytes and does
/// no I/O.
///
///      magic "ROOSTREC"  version u16  0 u16  length u32  opening (JSON)          once
///      nanoseconds u64   kind u8  flags u8  0 u16  length u32  body              a record
///
/// All numbers are little-endian. The body of a frame is its 48-byte header and its payload; that of a gap, the number
/// of missing frames as u64; that of the end, JSON. At the size limit the end is written instead of the frame that does
/// not fit, so a file is never larger than requested and always contains why it ended.
public struct RecordingWriter: Sendable {
  /// Bytes returned so far.
  public private(set) var byteCount = 0
  /// Frames to the worker in these bytes.
  public private(set) var toWorkerCount: UInt64 = 0
  /// Frames from the worker in these bytes.
  public private(set) var fromWorkerCount: UInt64 = 0
  /// Frames that were left out because their bytes could not be written.
  public private(set) var missingCount: UInt64 = 0
  /// How it ended; nil while it continues.
  public private(set) var end: RecordingEnd?

  /// The maximum size of the file, in bytes.
  public let byteCountMaximum: Int
  private var untoldCount: UInt64 = 0

  /// The smallest limit: room for an opening and an end, in bytes.
  public static let byteCountMinimum = 256 << 10
  /// The largest limit, in bytes: a recording is read into memory to be replayed.
  public static let byteCountCeiling = 256 << 20
  /// The default limit, in bytes.
  public static let defaultByteCountMaximum = 64 << 20
  /// The longest text of an end, in bytes.
  private static let endTextByteCountMaximum = 400
  /// Reserved for a gap and the end; every byte of the end's text may be escaped.
  private static let reserveByteCount = 4 << 10

  /// A writer for a file of at most so many bytes, limited to between ``byteCountMinimum`` and ``byteCountCeiling``.
  public init(byteCountMaximum: Int = defaultByteCountMaximum) {
    self.byteCountMaximum = min(max(byteCountMaximum, Self.byteCountMinimum), Self.byteCountCeiling)
  }

  /// The first bytes of the file. Arguments and names that are too long are left out.
  public mutating func open(_ opening: RecordingOpening) -> [UInt8] {
    precondition(byteCount == 0, "a recording is opened once")
    var opening = opening
    var json = JSONPayload.encode(opening)
    if json.count > RecordingLayout.openingByteCountMaximum {
      opening.arguments = []
      opening.environment = []
      opening.methods = nil
      json = JSONPayload.encode(opening)
    }
    precondition(json.count <= RecordingLayout.openingByteCountMaximum, "names and paths are short")
    var bytes = RecordingLayout.magic
    bytes.append(little: RecordingLayout.version)
    bytes.append(little: UInt16(0))
    bytes.append(little: UInt32(json.count))
    byteCount = bytes.count + json.count
    return bytes + json
  }

  /// The bytes of a frame, with the gap before it, or the end instead of it; none when the recording has ended.
  ///
  /// With `isSecret` the payload is not written. A token in HELLO is never written, whatever `isSecret` says.
  public mutating func append(
    _ direction: RecordedFrame.Direction, _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, isSecret: Bool,
    nanoseconds: UInt64
  ) -> [UInt8] {
    precondition(byteCount > 0, "a recording begins with its opening")
    guard end == nil else { return [] }
    let kept = Self.kept(header, payload, isSecret: isSecret)
    let bodyByteCount = FrameHeader.byteCount + kept.payload.count
    let needed = RecordingLayout.recordHeadByteCount + bodyByteCount + Self.reserveByteCount
    guard byteCount + needed <= byteCountMaximum else {
      return finish(RecordingEnd(.size, "the recording has reached its \(byteCountMaximum) bytes"), nanoseconds)
    }
    var bytes = gapIfAny(nanoseconds)
    bytes.reserveCapacity(bytes.count + needed)
    let kind: RecordingLayout.Kind = direction == .toWorker ? .toWorker : .fromWorker
    bytes.appendRecordHead(nanoseconds, kind, flags: kept.flags, bodyByteCount: bodyByteCount)
    bytes.append(header: kept.header)
    bytes += kept.payload
    byteCount += bytes.count
    if direction == .toWorker { toWorkerCount += 1 } else { fromWorkerCount += 1 }
    return bytes
  }

  /// A frame is left out; the next record will contain the gap.
  public mutating func missed() {
    guard end == nil else { return }
    missingCount += 1
    untoldCount += 1
  }

  /// The last bytes; none when the recording has already ended.
  public mutating func finish(_ end: RecordingEnd, _ nanoseconds: UInt64) -> [UInt8] {
    guard self.end == nil else { return [] }
    var end = end
    end.text = String(decoding: end.text.utf8.prefix(Self.endTextByteCountMaximum), as: UTF8.self)
    self.end = end
    let json = JSONPayload.encode(end)
    var bytes = gapIfAny(nanoseconds)
    bytes.appendRecordHead(nanoseconds, .end, flags: 0, bodyByteCount: json.count)
    bytes += json
    byteCount += bytes.count
    return bytes
  }

  private mutating func gapIfAny(_ nanoseconds: UInt64) -> [UInt8] {
    guard untoldCount > 0 else { return [] }
    var bytes: [UInt8] = []
    bytes.appendRecordHead(nanoseconds, .gap, flags: 0, bodyByteCount: 8)
    bytes.append(little: untoldCount)
    untoldCount = 0
    return bytes
  }

  /// The parts of a frame that may be written to the file.
  private static func kept(
    _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, isSecret: Bool
  ) -> (header: FrameHeader, payload: [UInt8], flags: UInt8) {
    var header = header
    header.payloadByteCount = payload.count
    if isSecret { return (header, [], RecordingLayout.withheldFlag) }
    guard header.type == .hello else { return (header, Array(payload), 0) }
    // A payload that cannot be read cannot be searched for a token.
    guard let hello = try? JSONPayload.decode([String: JSONValue].self, from: payload) else {
      return (header, [], RecordingLayout.withheldFlag)
    }
    guard hello["token"] != nil else { return (header, Array(payload), 0) }
    let rest = JSONPayload.encode(hello.filter { $0.key != "token" })
    header.payloadByteCount = rest.count
    return (header, rest, RecordingLayout.tokenRemovedFlag)
  }
}

extension [UInt8] {
  fileprivate mutating func append(little value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func append(header: FrameHeader) {
    withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 8) { space in
      guard let base = space.baseAddress else { return }
      header.write(to: base)
      append(contentsOf: UnsafeRawBufferPointer(space))
    }
  }

  fileprivate mutating func appendRecordHead(
    _ nanoseconds: UInt64, _ kind: RecordingLayout.Kind, flags: UInt8, bodyByteCount: Int
  ) {
    append(little: nanoseconds)
    append(kind.rawValue)
    append(flags)
    append(little: UInt16(0))
    append(little: UInt32(bodyByteCount))
  }
}
