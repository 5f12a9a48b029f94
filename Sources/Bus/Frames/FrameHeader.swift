/// The 48 bytes before every payload of RBP/1, little-endian.
///
///      0        4 5 6   8        12       16               24               32       36  38  40              48
///     ┌────────┬─┬─┬───┬────────┬────────┬────────────────┬────────────────┬────────┬───┬───┬────────────────┐
///     │ length │v│t│flg│ destin.│ source │ id             │ re             │ ttl    │att│mth│ trace          │
///     └────────┴─┴─┴───┴────────┴────────┴────────────────┴────────────────┴────────┴───┴───┴────────────────┘
///
/// `length` counts the bytes after itself: 44 for an empty payload. Python: `struct.Struct("<IBBHIIQQIHHQ")`.
public struct FrameHeader: Hashable, Sendable {
  /// Bytes of the payload, 0 … the connection's frame limit less 44.
  public var payloadByteCount: Int
  /// What kind of frame it is.
  public var type: FrameType
  /// Flag bits.
  public var flags: FrameFlags
  /// Where the frame goes.
  public var destination: Endpoint
  /// Where it came from; 0 from a peer, written by the hub.
  public var source: Endpoint
  /// The sender's number for the frame, increasing on its connection; 0 where nobody will refer to it.
  public var id: UInt64
  /// The id this frame answers or refers to. A REQUEST or EVENT refers to none: see ``callerRole``.
  public var re: UInt64
  /// Milliseconds left; 0 = no limit.
  public var ttlMilliseconds: UInt32
  /// 1 at the first delivery; written by the hub, echoed in the answer.
  public var attempt: UInt16
  /// Method or topic, by its number in the registry.
  public var method: UInt16
  /// Ties together what was caused by one thing; 0 = the hub assigns one.
  public var trace: UInt64

  /// A header with everything that is not named at zero.
  @inlinable
  public init(
    type: FrameType, flags: FrameFlags = [], destination: Endpoint = .hub, source: Endpoint = .hub, id: UInt64 = 0,
    re: UInt64 = 0, ttlMilliseconds: UInt32 = 0, attempt: UInt16 = 0, method: UInt16 = 0, trace: UInt64 = 0,
    payloadByteCount: Int = 0
  ) {
    self.payloadByteCount = payloadByteCount
    self.type = type
    self.flags = flags
    self.destination = destination
    self.source = source
    self.id = id
    self.re = re
    self.ttlMilliseconds = ttlMilliseconds
    self.attempt = attempt
    self.method = method
    self.trace = trace
  }

  /// Bytes of a header.
  public static let byteCount = 48
  /// The protocol version in byte 4.
  public static let version: UInt8 = 1
  /// The smallest value of the length field.
  public static let lengthMinimum = 44

  /// Bytes of header and payload together.
  @inlinable
  public var frameByteCount: Int { FrameHeader.byteCount + payloadByteCount }

  /// Reads the header at the start of `bytes`, which must hold at least 48 bytes whose length field was already
  /// checked.
  ///
  /// - Throws: ``FrameViolation`` for an unknown version, type or flag.
  @inlinable
  public init(reading bytes: UnsafeRawPointer, payloadByteCount: Int) throws(FrameViolation) {
    let version = bytes.load(fromByteOffset: 4, as: UInt8.self)
    guard version == FrameHeader.version else { throw .version(version) }
    let number = bytes.load(fromByteOffset: 5, as: UInt8.self)
    guard let type = FrameType(rawValue: number) else { throw .unknownType(number) }
    let flags = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    guard flags & ~FrameFlags.known.rawValue == 0 else { throw .unknownFlags(flags) }
    self.payloadByteCount = payloadByteCount
    self.type = type
    self.flags = FrameFlags(rawValue: flags)
    destination = Endpoint(rawValue: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
    source = Endpoint(rawValue: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)))
    id = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    re = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    ttlMilliseconds = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 32, as: UInt32.self))
    attempt = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 36, as: UInt16.self))
    method = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 38, as: UInt16.self))
    trace = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self))
  }

  /// Writes the 48 bytes at `bytes`.
  @inlinable
  public func write(to bytes: UnsafeMutableRawPointer) {
    bytes.storeBytes(
      of: UInt32(truncatingIfNeeded: FrameHeader.lengthMinimum + payloadByteCount).littleEndian, as: UInt32.self)
    bytes.storeBytes(of: FrameHeader.version, toByteOffset: 4, as: UInt8.self)
    bytes.storeBytes(of: type.rawValue, toByteOffset: 5, as: UInt8.self)
    bytes.storeBytes(of: flags.rawValue.littleEndian, toByteOffset: 6, as: UInt16.self)
    bytes.storeBytes(of: destination.rawValue.littleEndian, toByteOffset: 8, as: UInt32.self)
    bytes.storeBytes(of: source.rawValue.littleEndian, toByteOffset: 12, as: UInt32.self)
    bytes.storeBytes(of: id.littleEndian, toByteOffset: 16, as: UInt64.self)
    bytes.storeBytes(of: re.littleEndian, toByteOffset: 24, as: UInt64.self)
    bytes.storeBytes(of: ttlMilliseconds.littleEndian, toByteOffset: 32, as: UInt32.self)
    bytes.storeBytes(of: attempt.littleEndian, toByteOffset: 36, as: UInt16.self)
    bytes.storeBytes(of: method.littleEndian, toByteOffset: 38, as: UInt16.self)
    bytes.storeBytes(of: trace.littleEndian, toByteOffset: 40, as: UInt64.self)
  }
}

// A REQUEST and an EVENT answer nothing, so their `re` is free on the way from the hub to whom they are for. The hub
// writes there which role its sender has: a receiver that must know need not have heard of the sender before, from a
// registry that may still be under way.
//
//      63           47      40 39                             0
//     ┌──────────────┬────────┬────────────────────────────────┐
//     │      0       │  role  │               0                │   re of a REQUEST or an EVENT from the hub
//     └──────────────┴────────┴────────────────────────────────┘
//
// Not in the low bits, where somebody who looks at `re` before the type would take it for the id of a request of his
// own, and not in the highest, so that a program whose numbers are floating point reads it exactly.

extension FrameHeader {
  /// Bits of ``re`` below the role's number.
  @usableFromInline static let callerRoleShift: UInt64 = 40

  /// The greatest number that the eight bits of ``re`` have room for; no role has it.
  @usableFromInline static let callerRoleMaximum: UInt16 = 0xFF

  /// The number of the role of who sent this REQUEST or EVENT, as the hub wrote it; 0 is the supervisor itself. What a
  /// peer writes there is replaced. Of no other type has it a meaning. Bits 40 to 47 of ``re``: a number above 255,
  /// which no role has, is written as 255.
  @inlinable
  public var callerRole: UInt16 {
    get { UInt16(truncatingIfNeeded: re >> FrameHeader.callerRoleShift) & FrameHeader.callerRoleMaximum }
    set { re = UInt64(min(newValue, FrameHeader.callerRoleMaximum)) << FrameHeader.callerRoleShift }
  }
}
