import Clocks

/// Durations as people say them: `40 ms`, `3.1 s`, `42 s`, `2 min 5 s`, `1 h 4 min`, `3 d 2 h`.
///
/// Seconds stay seconds up to two minutes, because the limits people compare them with are written in seconds.
func spoken(milliseconds: UInt64) -> String {
  switch milliseconds {
  case 0: return "0 s"
  case ..<100: return "\(milliseconds) ms"
  case ..<10_000:
    let tenths = milliseconds / 100
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
  case ..<120_000: return "\(milliseconds / 1_000) s"
  default: break
  }
  let seconds = milliseconds / 1_000
  let steps: [(unit: UInt64, name: String, part: UInt64, partName: String)] = [
    (86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"),
  ]
  for step in steps where seconds >= step.unit {
    let rest = seconds % step.unit / step.part
    return rest == 0
      ? "\(seconds / step.unit) \(step.name)" : "\(seconds / step.unit) \(step.name) \(rest) \(step.partName)"
  }
  return "\(seconds) s"
}

extension Duration {
  /// Whole milliseconds; 0 for a negative duration, the end of the scale for one that does not fit.
  var wholeMilliseconds: UInt64 {
    guard self > .zero else { return 0 }
    let (seconds, attoseconds) = components
    let (product, overflowed) = UInt64(seconds).multipliedReportingOverflow(by: 1_000)
    return overflowed ? .max : product &+ UInt64(attoseconds) / 1_000_000_000_000_000
  }

  /// The duration as people say it.
  var spoken: String { Supervision.spoken(milliseconds: wholeMilliseconds) }
}

extension Instant {
  /// The instant a duration later; stops at the end of time instead of wrapping.
  func later(by duration: Duration) -> Instant { advanced(milliseconds: duration.wholeMilliseconds) }

  /// How long from `earlier` to this instant, as people say it.
  func spoken(since earlier: Instant) -> String { Supervision.spoken(milliseconds: milliseconds(since: earlier)) }
}
