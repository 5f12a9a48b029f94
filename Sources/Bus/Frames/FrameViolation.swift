/// What a peer did that RBP/1 forbids. A FATAL frame names it, and the connection is closed; other messages of the peer
/// and all other peers are not affected.
public enum FrameViolation: Error, Hashable, Sendable {
  /// A length below 44 or above the connection's limit.
  case length(UInt32, maximum: Int)
  /// A version byte that is not 1.
  case version(UInt8)
  /// A type that is not in the table.
  case unknownType(UInt8)
  /// A flag bit without a meaning.
  case unknownFlags(UInt16)
  /// Anything else: a stable word from ``RefusalCode`` and a sentence.
  case rule(RefusalCode, String)

  /// The stable word for the FATAL frame.
  public var code: RefusalCode {
    switch self {
    case .length: .badLength
    case .version: .badVersion
    case .unknownType: .unknownType
    case .unknownFlags: .unknownFlags
    case .rule(let code, _): code
    }
  }

  /// A sentence for the peer's author.
  public var message: String {
    switch self {
    case .length(let length, let maximum):
      "length \(length) is outside \(FrameHeader.lengthMinimum) … \(maximum) (bytes after the length field)"
    case .version(let version): "version \(version) is not \(FrameHeader.version)"
    case .unknownType(let number): "frame type \(number) is not in the table"
    case .unknownFlags(let flags):
      "flag bits 0x\(String(flags & ~FrameFlags.known.rawValue, radix: 16)) have no meaning"
    case .rule(_, let message): message
    }
  }
}
