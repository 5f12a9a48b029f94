internal import Clocks

/// Subscription ids of one connection: a random prefix and a count, `k3v0q.1f`.
///
/// The count makes an id new on its connection for ever; the prefix keeps a relay, or a proxy that serves several of us
/// over one connection, from confusing this connection's ids with another's. At most 15 bytes, which a Swift `String`
/// holds without an allocation: an id is compared for each event that comes.
struct SubscriptionNames {
  private let prefix: String
  private var count: UInt64 = 0

  init(using generator: inout SeededGenerator) {
    let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
    prefix = String((0..<5).map { _ in alphabet[Int(generator.next() & 31)] }) + "."
  }

  /// An id that this connection has not had.
  mutating func next() -> String {
    count += 1
    // 36^9 ids fit; at a million a second that is three years on one connection.
    return prefix + String(count, radix: 36)
  }

  /// Whether an id was given out on this connection.
  func isOwn(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), let number = UInt64(name.dropFirst(prefix.count), radix: 36) else { return false }
    return number >= 1 && number <= count
  }
}
