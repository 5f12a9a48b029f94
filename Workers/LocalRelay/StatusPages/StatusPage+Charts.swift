internal import Frames
internal import Wording

// The page's charts: for each topic the last 24 hours and the last 30 days, the latest figures in words, and everything
// as tables. What a Roost does not have, such as jobs, has no chart. The part only changes with a new sample, so the
// local relay makes it once for each (``Charts``).

/// The part of the page that shows figures over time.
public struct Charts: Sendable {
  let markup: Markup

  /// No charts.
  public init() { markup = "" }

  /// The charts of a history.
  ///
  /// - Parameters:
  ///   - history: the samples.
  ///   - now: seconds since 1970.
  public init(_ history: FigureHistory, at now: Int64) { markup = StatusPage.charts(history, at: now) }
}

extension StatusPage {
  /// 24 hours in steps of ten minutes.
  private static func day(_ now: Int64) -> FigureHistory.Window { .init(until: now, stepSeconds: 600, count: 144) }
  /// 30 days in steps of four hours.
  private static func month(_ now: Int64) -> FigureHistory.Window { .init(until: now, stepSeconds: 14_400, count: 180) }

  static func charts(_ history: FigureHistory, at now: Int64) -> Markup {
    let cards: [Markup] = ChartTopic.all.compactMap { topic in
      let (day, month) = (
        ChartPicture(topic, history, in: day(now)), ChartPicture(topic, history, in: month(now))
      )
      return month.isEmpty && day.isEmpty ? nil : card(topic, day, month)
    }
    guard !cards.isEmpty else {
      return """
        <section class="card" id="charts"><h2>Over time</h2><p class="soft">The first figures come within five minutes.\
        </p></section>

        """
    }
    return """
      <section id="charts"><h2 class="over">Over time</h2>
      <div class="charts">
      \(cards)</div>
      \(tables(history, at: now))</section>

      """
  }

  private static func card(_ topic: ChartTopic, _ day: ChartPicture, _ month: ChartPicture) -> Markup {
    let latest: [Markup] = zip(topic.lines, day.points).enumerated().compactMap { index, pair in
      guard let last = pair.1.last(where: { $0 != nil }) ?? nil else { return nil }
      let key: Markup = topic.lines.count > 1 ? "<span class=\"key \(index == 0 ? "first" : "second")\"></span>" : ""
      return "<span class=\"latest\">\(key)<b>\(topic.unit.text(last))</b> \(pair.0.name)</span> "
    }
    return """
      <div class="card chart"><h3>\(topic.title)</h3><p class="legend">\(latest)</p>
      \(figure(topic, day, "day", "24 hours"))\(figure(topic, month, "month", "30 days"))</div>

      """
  }

  private static func figure(_ topic: ChartTopic, _ picture: ChartPicture, _ id: String, _ span: String) -> Markup {
    guard !picture.isEmpty else { return "<p class=\"soft small\">\(span): no figures</p>\n" }
    return """
      <figure>\(picture.markup(id: "\(topic.id)-\(id)", span: "the last \(span)"))<figcaption><b>\(span)</b> \
      \(picture.words)</figcaption></figure>

      """
  }

  // MARK: Tables

  private static func tables(_ history: FigureHistory, at now: Int64) -> Markup {
    let topics = ChartTopic.all.filter { !ChartPicture($0, history, in: month(now)).isEmpty }
    guard !topics.isEmpty else { return "" }
    return """
      <details class="card" id="tables"><summary>These figures as tables</summary>
      \(table(topics, history, .init(until: now, stepSeconds: 7_200, count: 12), "The last 24 hours, in UTC"))\
      \(table(topics, history, .init(until: now, stepSeconds: 86_400, count: 30), "The last 30 days, in UTC"))\
      </details>

      """
  }

  /// The newest row first. Rows without any figure are left out.
  private static func table(
    _ topics: [ChartTopic], _ history: FigureHistory, _ window: FigureHistory.Window, _ caption: String
  ) -> Markup {
    let columns = topics.flatMap { topic in
      topic.lines.map { line in (topic, line, history.series(line.figure, line.summary, in: window)) }
    }
    let heads: [Markup] = columns.map { topic, line, _ in
      "<th scope=\"col\">\(topic.lines.count == 1 ? topic.title : "\(topic.title): \(line.name)")</th>"
    }
    let rows: [Markup] = (0..<window.count).reversed().compactMap { index in
      guard columns.contains(where: { $0.2[index] != nil }) else { return nil }
      let time = CalendarTime.text(window.start + Int64(index) * window.stepSeconds)
      let name = window.stepSeconds >= 86_400 ? String(time.prefix(10)) : String(time.dropLast(3))
      let cells: [Markup] = columns.map { topic, _, points in
        "<td>\(points[index].map { topic.unit.text($0) } ?? "–")</td>"
      }
      return "<tr><th scope=\"row\">\(name)</th>\(cells)</tr>\n"
    }
    return """
      <h3>\(caption)</h3><div class="scroll" role="region" tabindex="0" aria-label="\(caption)"><table>
      <thead><tr><th scope="col">From</th>\(heads)</tr></thead>
      <tbody>
      \(rows)</tbody></table></div>

      """
  }
}
