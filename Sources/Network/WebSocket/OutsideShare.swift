/// The connections of a server that are outside, oldest first, and how many there may be.
///
/// A connection is outside from the moment its head was read until its client has authenticated. Connections outside
/// get only a part of all connections, so that clients inside do not wait for them. When the part is full, its oldest
/// connection gives way to the newest: an honest client needs only a moment to authenticate, and the connections of a
/// flood displace each other.
struct OutsideShare {
  /// The maximum number of connections that are outside at a time.
  let maximum: Int
  private var members: Set<UInt64> = []
  private var next: UInt64 = 0
  /// No member has a lower number.
  private var lowest: UInt64 = 0

  /// - Parameter maximum: at least 1.
  init(maximum: Int) { self.maximum = max(1, maximum) }

  /// The number of connections that are outside at present.
  var count: Int { members.count }

  /// A connection comes in, outside.
  ///
  /// - Returns: its number, and the connection that gives way to it, which is already removed.
  mutating func enter() -> (number: UInt64, displaced: UInt64?) {
    let displaced = members.count >= maximum ? takeOldest() : nil
    members.insert(next)
    next += 1
    return (next - 1, displaced)
  }

  /// A connection is inside, or gone. Does nothing for one that is already removed.
  mutating func leave(_ number: UInt64) { members.remove(number) }

  /// Whether this connection is outside.
  func contains(_ number: UInt64) -> Bool { members.contains(number) }

  /// Removes the oldest, which must give way.
  mutating func takeOldest() -> UInt64? {
    guard !members.isEmpty else { return nil }
    while lowest < next {
      lowest += 1
      if members.remove(lowest - 1) != nil { return lowest - 1 }
    }
    return nil
  }
}
