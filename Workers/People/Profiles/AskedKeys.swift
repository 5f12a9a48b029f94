public import Clocks
public import Cryptography

/// When relays were last asked for each person. It outlives what is dropped from the ``ProfileMemory``, because asking
/// again costs more than its few bytes.
///
/// At most ``countMaximum`` people, in two halves: when the younger one is full it becomes the older one, and what was
/// in that is forgotten. So a person counts for at least half of the maximum of other people.
public struct AskedKeys: Sendable {
  /// The most people; those asked for longest ago are forgotten.
  public static let countMaximum = 131_072

  private var younger: [PublicKey: Instant] = [:]
  private var older: [PublicKey: Instant] = [:]
  private let halfMaximum: Int

  /// No person was asked for.
  public init(countMaximum: Int = Self.countMaximum) { halfMaximum = max(1, countMaximum / 2) }

  /// The number of people.
  public var count: Int { younger.count + older.count }

  /// When relays were asked for a person; nil: not that it is known.
  public subscript(key: PublicKey) -> Instant? { younger[key] ?? older[key] }

  /// Relays were asked for people.
  public mutating func asked(_ keys: [PublicKey], at moment: Instant) {
    for key in keys {
      older[key] = nil
      younger[key] = moment
      if younger.count >= halfMaximum { (older, younger) = (younger, [:]) }
    }
  }
}
