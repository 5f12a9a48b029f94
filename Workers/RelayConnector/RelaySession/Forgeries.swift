/// The different events of a relay that the store has rejected: a relay may send one bad event again and again.
public struct Forgeries: Sendable {
  /// How many there were. One that comes again after ``rememberedMaximum`` others counts again.
  public private(set) var count: UInt64 = 0
  private var recent: [String] = []

  /// The ids that are remembered, the last ones.
  public static let rememberedMaximum = 64

  /// None yet.
  public init() {}

  /// An event with this id was rejected.
  public mutating func note(_ id: String) {
    guard !recent.contains(id) else { return }
    count += 1
    recent.append(id)
    if recent.count > Self.rememberedMaximum { recent.removeFirst() }
  }
}
