internal import Wording

// A small chart as SVG. The picture has no text: it is stretched to the width that the page has, and text would be
// stretched with it. Its figures are in the words beside it, in its description for readers of a screen, and in a
// table.

/// A chart: the points of one or two lines over one window.
struct ChartPicture {
  let topic: ChartTopic
  let window: FigureHistory.Window
  /// The points of each line of the topic.
  let points: [[Double?]]

  /// The height of the picture's own coordinates; its width is the number of points.
  private static let height = 100.0

  init(_ topic: ChartTopic, _ history: FigureHistory, in window: FigureHistory.Window) {
    (self.topic, self.window) = (topic, window)
    points = topic.lines.map { history.series($0.figure, $0.summary, in: window) }
  }

  /// Whether there is anything to draw.
  var isEmpty: Bool { points.allSatisfy { $0.allSatisfy { $0 == nil } } }

  /// The lowest and the highest figure of the picture.
  private var ends: (low: Double, high: Double) {
    let all = points.joined().compactMap { $0 }
    let (low, high) = (all.min() ?? 0, all.max() ?? 0)
    return (topic.isFromZero ? 0 : low, topic.top ?? high)
  }

  // MARK: Words

  /// For each line its lowest and highest figure: `3 to 8`, or for two lines `connected 3 to 8; wanted 8`.
  var words: String { words { _ in "" } }

  /// The same with the last figure: `connected 3 to 8, last 7; wanted 8, last 8`.
  var longWords: String { words { ", last \(topic.unit.text($0))" } }

  private func words(_ end: (_ last: Double) -> String) -> String {
    zip(topic.lines, points).compactMap { line, points in
      let known = points.compactMap { $0 }
      guard let low = known.min(), let high = known.max(), let last = known.last else { return nil }
      let (first, second) = (topic.unit.text(low), topic.unit.text(high))
      let name = topic.lines.count > 1 ? "\(line.name) " : ""
      return name + (first == second ? first : "\(first) to \(second)") + end(last)
    }.joined(separator: "; ")
  }

  /// How many times there is nothing between two points: Roost was stopped.
  var gapCount: Int {
    let known = points.max { left, right in left.count { $0 != nil } < right.count { $0 != nil } } ?? []
    guard let first = known.firstIndex(where: { $0 != nil }), let last = known.lastIndex(where: { $0 != nil }) else {
      return 0
    }
    return (first..<last).count { known[$0] != nil && known[$0 + 1] == nil }
  }

  // MARK: The picture

  /// The picture, with its title and description.
  ///
  /// - Parameters:
  ///   - id: unique on the page.
  ///   - span: `the last 24 hours`.
  func markup(id: String, span: String) -> Markup {
    let gaps = gapCount
    let missing = gaps == 0 ? "" : "; \(gaps == 1 ? "one gap" : "\(gaps) gaps") without figures"
    // The second line is below the first one, which counts.
    let lines: [Markup] = points.enumerated().reversed().map { index, points in
      let kind = index == 0 ? "first" : "second"
      let line = path(points)
      let area: Markup = index == 0 ? "<path class=\"area\" d=\"\(Markup(trusted: self.area(points)))\"/>" : ""
      return "\(area)<path class=\"line \(kind)\" d=\"\(Markup(trusted: line))\"/>"
    }
    return """
      <svg role="img" aria-labelledby="\(id)-title \(id)-words" viewBox="0 0 \("\(window.count)") \
      \("\(Int(Self.height))")" preserveAspectRatio="none"><title id="\(id)-title">\(topic.title), \(span)</title>\
      <desc id="\(id)-words">\(longWords + missing)</desc>\(lines)</svg>
      """
  }

  /// The height of a figure in the picture, from the top.
  private func height(_ value: Double) -> Int {
    let (low, high) = ends
    // A line that never changes is in the middle, or at the bottom when it is 0.
    let share = high > low ? (value - low) / (high - low) : value == 0 ? 0 : 0.5
    return Int(((1 - min(1, max(0, share))) * (Self.height - 4)).rounded()) + 2
  }

  /// Points that follow each other without a gap: the first one's index, and their heights.
  private func runs(_ points: [Double?]) -> [(start: Int, heights: [Int])] {
    var runs: [(start: Int, heights: [Int])] = []
    for (index, point) in points.enumerated() {
      guard let point else { continue }
      if index > 0, points[index - 1] != nil {
        runs[runs.count - 1].heights.append(height(point))
      } else {
        runs.append((index, [height(point)]))
      }
    }
    return runs
  }

  /// Each run as a line of its own; a single point as a short line.
  private func path(_ points: [Double?]) -> String {
    runs(points).map { run in
      guard run.heights.count > 1 else { return "M\(run.start) \(run.heights[0])h1" }
      return Self.line(run)
    }.joined()
  }

  private func area(_ points: [Double?]) -> String {
    runs(points).map { run in
      let bottom = Int(Self.height)
      guard run.heights.count > 1 else { return "M\(run.start) \(bottom)V\(run.heights[0])h1V\(bottom)Z" }
      return Self.line(run) + "V\(bottom)H\(run.start)Z"
    }.joined()
  }

  /// Points on a straight line are left out but for its ends: `M0 98H143`.
  private static func line(_ run: (start: Int, heights: [Int])) -> String {
    var text = "M\(run.start) \(run.heights[0])"
    for (offset, height) in run.heights.enumerated().dropFirst() {
      let isFlat = height == run.heights[offset - 1]
      if isFlat, offset + 1 < run.heights.count, run.heights[offset + 1] == height { continue }
      text += isFlat ? "H\(run.start + offset)" : "L\(run.start + offset) \(height)"
    }
    return text
  }
}
