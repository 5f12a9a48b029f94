/// The 48 bytes before every payload of RBP/1, little-endian.
///
///      0        4 5 6   8        12       16               24               32       36  38  40              48
///     ┌────────┬─┬─┬───┬────────┬────────┬────────────────┬────────────────┬────────┬───┬───┬────────────────┐
///     │ length │v│t│flg│ destin.│ source │ id             │ re             │ ttl    │att│mth│ trace          │
///     └────────┴─┴─┴───┴────────┴────────┴────────────────┴────────────────┴────────┴───┴───┴────────────────┘
///
/// `length` counts the bytes after itself: 44 for an empty payload. Python: `struct.Struct("<IBBHIIQQIHHQ")`.
public struct FrameHeader: Hashable, Sendable {
  /// Bytes of the payload, from 0 to the connection's frame limit minus 44.
  public var payloadByteCount: Int
  /// The type of the frame.
  public var type: FrameType
  /// Flag bits.
  public var flags: FrameFlags
  /// The destination of the frame.
  public var destination: Endpoint
  /// The origin of the frame; a peer sends 0, and the hub writes it.
  public var source: Endpoint
  /// The sender's number for the frame, increasing on its connection; 0 when no frame will refer to it.
  public var id: UInt64
  /// The id of the frame that this one answers or refers to. A REQUEST or EVENT refers to none: see ``callerRole``.
  public var re: UInt64
  /// Milliseconds left; 0 = no limit.
  public var ttlMilliseconds: UInt32
  /// 1 at the first delivery; written by the hub, echoed in the answer.
  public var attempt: UInt16
  /// The method or topic, by its number in the registry.
  public var method: UInt16
  /// Connects all frames with the same cause; 0 = the hub assigns one.
  public var trace: UInt64

  /// A header in which everything that is not given is zero.
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

  /// Reads the header at the start of `bytes`, which must hold at least 48 bytes with a length field that was already
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

// A REQUEST and an EVENT answer nothing, so their `re` is free on the way from the hub to the receiver. The hub writes
// the role of the sender there. A receiver that needs the role then does not depend on a registry that names the sender
// and may still be on its way.
//
//      63           47      40 39                             0
//     ┌──────────────┬────────┬────────────────────────────────┐
//     │      0       │  role  │               0                │   re of a REQUEST or an EVENT from the hub
//     └──────────────┴────────┴────────────────────────────────┘
//
// It is not in the low bits, where a program that reads `re` before the type would take it for the id of its own
// request, and not in the highest bits, so that a program with floating-point numbers reads it exactly.

extension FrameHeader {
  /// Bits of ``re`` below the role's number.
  @usableFromInline static let callerRoleShift: UInt64 = 40

  /// The greatest number that the eight bits of ``re`` can hold; no role has it.
  @usableFromInline static let callerRoleMaximum: UInt16 = 0xFF

  /// The number of the role of the sender of this REQUEST or EVENT, as the hub wrote it; 0 is the supervisor itself.
  /// The hub replaces what a peer writes there. It has no meaning in frames of other types. Bits 40 to 47 of ``re``: a
  /// number above 255, which no role has, is written as 255.
  @inlinable
  public var callerRole: UInt16 {
    get { UInt16(truncatingIfNeeded: re >> FrameHeader.callerRoleShift) & FrameHeader.callerRoleMaximum }
    set { re = UInt64(min(newValue, FrameHeader.callerRoleMaximum)) << FrameHeader.callerRoleShift }
  }
}
