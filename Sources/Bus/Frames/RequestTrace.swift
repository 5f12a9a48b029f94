/// The number that connects all frames with one cause: the request of a program, and the requests that workers make
/// because of it. Never 0; as text 1 to 16 hexadecimal digits, as in logs and dead letters.
public struct RequestTrace: RawRepresentable, Hashable, Sendable, LosslessStringConvertible {
  /// The number, as a frame's header has it.
  public let rawValue: UInt64

  /// The trace with this number; nil for 0, which means no trace.
  public init?(rawValue: UInt64) {
    guard rawValue != 0 else { return nil }
    self.rawValue = rawValue
  }

  /// Reads 1 to 16 hexadecimal digits that are not all 0.
  public init?(_ text: String) {
    let isHexadecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
    guard isHexadecimal, let number = UInt64(text, radix: 16) else { return nil }
    self.init(rawValue: number)
  }

  /// A random trace: as good as certainly no other request has it.
  public static func random() -> RequestTrace { RequestTrace(number: UInt64.random(in: 1...UInt64.max)) }

  private init(number: UInt64) { rawValue = number }

  /// The digits, without zeros before them.
  public var description: String { String(rawValue, radix: 16) }
}
