internal import Clocks

/// Subscription ids of one connection: a random prefix and a count, `k3v0q.1f`.
///
/// The count makes each id new on its connection. The prefix keeps a relay, or a proxy that serves several clients over
/// one connection, from confusing the ids of this connection with others. An id has at most 15 bytes, which a Swift
/// `String` holds without an allocation: the session compares an id for each event that comes.
struct SubscriptionNames {
  private let prefix: String
  private var count: UInt64 = 0

  init(using generator: inout SeededGenerator) {
    let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
    prefix = String((0..<5).map { _ in alphabet[Int(generator.next() & 31)] }) + "."
  }

  /// An id that this connection has not had, without its prefix where the relay takes only shorter ones.
  mutating func next(lengthMaximum: Int? = nil) -> String {
    count += 1
    // 36^9 ids fit; at a million a second that is three years on one connection.
    let number = String(count, radix: 36)
    return lengthMaximum.map { $0 < prefix.utf8.count + number.utf8.count } ?? false ? number : prefix + number
  }

  /// Whether this connection has used the id.
  func isOwn(_ name: String) -> Bool {
    let digits = name.hasPrefix(prefix) ? name.dropFirst(prefix.count) : name[...]
    guard let number = UInt64(digits, radix: 36) else { return false }
    return number >= 1 && number <= count
  }
}
