/// Which connections of a server are outside, oldest first, and how many there may be.
///
/// A connection is outside from the moment its head was read until its client has shown itself. Such connections get a
/// part of all, so that clients inside do not wait for them. When the part is full, its oldest connection gives way to
/// the newest: an honest client needs a moment to show itself, and connections of a flood displace each other.
struct OutsideShare {
  /// Most connections that are outside at a time.
  let maximum: Int
  private var members: Set<UInt64> = []
  private var next: UInt64 = 0
  /// No member has a lower number.
  private var lowest: UInt64 = 0

  /// - Parameter maximum: at least 1.
  init(maximum: Int) { self.maximum = max(1, maximum) }

  /// Connections that are outside now.
  var count: Int { members.count }

  /// One more is outside.
  ///
  /// - Returns: its number, and the one that gives way to it, which has left.
  mutating func enter() -> (number: UInt64, displaced: UInt64?) {
    let displaced = members.count >= maximum ? takeOldest() : nil
    members.insert(next)
    next += 1
    return (next - 1, displaced)
  }

  /// One is inside, or gone. Nothing happens for one that has left.
  mutating func leave(_ number: UInt64) { members.remove(number) }

  /// Whether it is outside.
  func contains(_ number: UInt64) -> Bool { members.contains(number) }

  /// Takes out the oldest, which is to give way.
  mutating func takeOldest() -> UInt64? {
    guard !members.isEmpty else { return nil }
    while lowest < next {
      lowest += 1
      if members.remove(lowest - 1) != nil { return lowest - 1 }
    }
    return nil
  }
}
