/// An exponentially weighted moving average: each further sample counts an eighth, as in TCP's round-trip time (RFC
/// 6298). The first sample is the first average.
public struct MovingAverage: Hashable, Sendable {
  /// How many times a new sample fits into the average.
  public static let weight = 8.0

  private var average: Double?

  /// No samples.
  public init() {}

  /// The average, rounded; nil before the first sample.
  public var value: UInt64? { average.map { UInt64($0.rounded()) } }

  /// Adds a sample.
  public mutating func add(_ sample: UInt64) {
    average = average.map { $0 + (Double(sample) - $0) / Self.weight } ?? Double(sample)
  }
}
