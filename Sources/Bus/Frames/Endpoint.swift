/// An address on the bus: the hub, one connection, or a role with any of its members.
///
///     31 30 … 12  11 … 0
///     ┌─┬─────────┬──────┐
///     │0│ turn    │ seat │   a connection: the seat, and which turn of it (0 is the hub)
///     ├─┼─────────┴──────┤
///     │1│ role number    │   any member of a role
///     └─┴────────────────┘
///
/// A worker keeps its seat across restarts, and with it its mailbox: a frame to an earlier turn of the seat reaches the
/// present one. A client's seat is later given to other clients, so a frame to an old turn there is answered with
/// `gone`.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  /// The 32 bits in a header.
  public var rawValue: UInt32

  /// An endpoint from the bits in a header.
  @inlinable
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The connection on `seat` (1 … 4,095) in its `turn`.
  @inlinable
  public init(seat: Int, turn: UInt32) {
    precondition(seat > 0 && seat <= Endpoint.seatMaximum, "a seat is a number from 1 to 4095")
    rawValue = UInt32(truncatingIfNeeded: seat) | ((turn & 0x7FFFF) << 12)
  }

  /// Any member of the role with this number.
  @inlinable
  public init(role: UInt16) { rawValue = 0x8000_0000 | UInt32(role) }

  /// The hub itself; in a header from a peer, also "not given".
  @inlinable
  public static var hub: Endpoint { Endpoint(rawValue: 0) }
  /// The highest seat number.
  public static let seatMaximum = 4_095

  /// The seat of a connection's endpoint.
  @inlinable
  public var seat: Int { Int(rawValue & 0xFFF) }
  /// The turn of the seat, 19 bits.
  @inlinable
  public var turn: UInt32 { rawValue >> 12 & 0x7FFFF }
  /// The role's number, if this addresses a role.
  @inlinable
  public var role: UInt16? {
    rawValue & 0x8000_0000 == 0 ? nil : UInt16(truncatingIfNeeded: rawValue & 0x7FFF_FFFF)
  }

  /// For people: `hub`, `role 3` or `7.2` (seat and turn).
  public var description: String {
    if let role { return "role \(role)" }
    return self == .hub ? "hub" : "\(seat).\(rawValue >> 12)"
  }
}
