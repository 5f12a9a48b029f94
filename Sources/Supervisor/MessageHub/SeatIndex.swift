public import Frames

/// The place of a peer at the hub; it is the seat in the peer's endpoints.
public struct SeatIndex: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// 0 is the supervisor; workers and clients have 1 … 4,095.
  public let number: Int

  init(_ number: Int) { self.number = number }

  /// The seat of this endpoint; an earlier peer may have left it since.
  public init(of endpoint: Endpoint) { number = endpoint.seat }

  /// The supervisor's own.
  public static var supervisor: SeatIndex { SeatIndex(0) }

  /// The number.
  public var description: String { "\(number)" }

  /// By number.
  public static func < (left: SeatIndex, right: SeatIndex) -> Bool { left.number < right.number }
}
