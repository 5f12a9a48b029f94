// The samples of the last thirty days, one for each five minutes. Five minutes are the step at which a day has 288
// points, about as many as a small chart has pixels; thirty days of them are 8,640 samples, 1.2 MB in memory and
// 1.4 MB on disk. A longer step would hide a restart, a shorter one would cost more and show no more.
//
// The ring has a place for each five minutes of thirty days, and a sample goes to the place of its moment. So nothing
// moves when a sample is added, and a clock that was set back overwrites samples, at most all of them. A place whose
// sample is older than thirty days, or of the future, counts as empty: Roost was stopped, and the chart has a gap.

/// The ring of samples.
public struct FigureHistory: Sendable {
  /// Seconds between two samples.
  public static let periodSeconds: Int64 = 300
  /// Places of the ring.
  public static let placeCount = 30 * 24 * 12

  /// The moment of the sample in each place, or 0; empty before the first sample.
  private var moments: [Int64] = []
  private var covered: [UInt32] = []
  /// The figures of all places, one place after the other.
  private var values: [Int64] = []

  /// No samples.
  public init() {}

  /// The place of a moment.
  ///
  /// - Parameter seconds: since 1970; before that it is the first place.
  public static func place(of seconds: Int64) -> Int { Int(max(0, seconds) / periodSeconds % Int64(placeCount)) }

  /// Whether there is a sample for the five minutes in which a moment is.
  public func hasSample(at seconds: Int64) -> Bool {
    !moments.isEmpty && seconds > 0
      && moments[Self.place(of: seconds)] / Self.periodSeconds == seconds / Self.periodSeconds
  }

  /// A sample was taken, or read from the disk.
  public mutating func sampled(_ sample: FigureSample) {
    guard sample.at > 0 else { return }
    let width = Figure.allCases.count
    if moments.isEmpty {
      moments = Array(repeating: 0, count: Self.placeCount)
      covered = Array(repeating: 0, count: Self.placeCount)
      values = Array(repeating: FigureSample.missing, count: Self.placeCount * width)
    }
    let place = Self.place(of: sample.at)
    moments[place] = sample.at
    covered[place] = sample.coveredSeconds
    for (index, value) in sample.values.enumerated() { values[place * width + index] = value }
  }

  // MARK: Series

  /// How the samples of a span become one point.
  enum Summary {
    /// Their mean.
    case mean
    /// The latest: for what only grows or shrinks slowly, a mean would be a number that never was.
    case last
    /// The largest.
    case maximum
    /// What they count together, for each hour that they cover; nil below ``coveredMinimum``.
    case hourly
  }

  /// Seconds that must be covered for a figure of an hour: the first ones after a start say nothing of an hour.
  static let coveredMinimum = 60.0

  /// A span of time in equal steps that end with the step of a moment.
  struct Window: Hashable {
    let start: Int64
    let stepSeconds: Int64
    let count: Int

    /// - Parameters:
    ///   - now: in the last step.
    ///   - stepSeconds: a multiple of ``FigureHistory/periodSeconds``, so that a chart only moves from step to step.
    ///   - count: how many steps.
    init(until now: Int64, stepSeconds: Int64, count: Int) {
      precondition(stepSeconds > 0 && stepSeconds % periodSeconds == 0 && count > 0, "a step has whole samples")
      start = (now / stepSeconds + 1) * stepSeconds - stepSeconds * Int64(count)
      (self.stepSeconds, self.count) = (stepSeconds, count)
    }
  }

  /// A figure over time: a point for each step of the window; nil where there is no sample with this figure.
  func series(_ figure: Figure, _ summary: Summary, in window: Window) -> [Double?] {
    guard !moments.isEmpty else { return Array(repeating: nil, count: window.count) }
    let (width, step) = (Figure.allCases.count, Int(window.stepSeconds / Self.periodSeconds))
    return (0..<window.count).map { index in
      let start = window.start + Int64(index) * window.stepSeconds
      guard start >= 0 else { return nil }
      var (sum, count, most, seconds, last) = (0.0, 0, -Double.infinity, 0.0, 0.0)
      let first = Self.place(of: start)
      for offset in 0..<step {
        let place = (first + offset) % Self.placeCount
        guard moments[place] >= start, moments[place] < start + window.stepSeconds else { continue }
        let value = values[place * width + figure.rawValue]
        guard value != FigureSample.missing else { continue }
        sum += Double(value)
        count += 1
        most = max(most, Double(value))
        last = Double(value)
        seconds += Double(covered[place])
      }
      guard count > 0 else { return nil }
      switch summary {
      case .mean: return sum / Double(count)
      case .last: return last
      case .maximum: return most
      case .hourly: return seconds >= Self.coveredMinimum ? sum * 3_600 / seconds : nil
      }
    }
  }
}
