public import Cryptography
internal import Synchronization

/// Authors' keys whose point was computed, shared by the threads that verify: it saves an eighth of a verification for
/// an author that has signed before. Bounded like `RecentIDs`.
///
/// A lock, not a copy handed to each batch of checks and back: it is held for a look-up of some ten nanoseconds, and a
/// copy would be a megabyte each time one author is new.
public final class ParsedKeyCache: Sendable {
  /// Keys of one generation.
  public static let capacity = 4_096

  private struct Keys {
    var young: [PublicKey: ParsedPublicKey] = [:]
    var old: [PublicKey: ParsedPublicKey] = [:]
  }
  private let keys = Mutex(Keys())

  /// Knows no key.
  public init() {}

  /// The key's point; nil when the curve has no such point.
  public func parsed(_ key: PublicKey) -> ParsedPublicKey? {
    let known = keys.withLock { $0.young[key] ?? $0.old[key] }
    if let known { return known }
    guard let parsed = ParsedPublicKey(key) else { return nil }
    keys.withLock { keys in
      if keys.young.count >= Self.capacity {
        keys.old = keys.young
        keys.young = [:]
      }
      keys.young[key] = parsed
    }
    return parsed
  }
}
