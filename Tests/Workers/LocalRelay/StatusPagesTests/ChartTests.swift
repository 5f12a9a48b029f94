import Testing

@testable import StatusPages

/// A history of thirty days in which Roost was stopped for a day and a half.
func makeHistory(until end: Int64, days: Int64 = 30) -> FigureHistory {
  var history = FigureHistory()
  let count = days * 288
  for index in 0..<count where !(count * 2 / 5..<count * 2 / 5 + 432).contains(index) {
    var sample = FigureSample(at: end - (count - 1 - index) * 300, coveredSeconds: 300)
    let wave = index % 288 < 144 ? index % 144 : 144 - index % 144
    sample[.storedEvents] = 200_000 + index * 7
    sample[.newEvents] = 20 + wave / 3
    sample[.clients] = index % 5
    sample[.wantedRelays] = 12
    sample[.openRelays] = 12 - (index % 97 < 4 ? index % 5 : 0)
    sample[.medianLatency] = 80 + wave
    sample[.slowLatency] = 400 + wave * 5 + index % 211
    sample[.refusals] = index % 50 == 0 ? 9 : 0
    sample[.connectFailures] = index % 30 == 0 ? 2 : 0
    sample[.queued] = index % 60 < 5 ? 6 : 0
    sample[.unpublished] = index / 2_000
    sample[.mirrored] = min(1_000, 300 + index)
    sample[.memory] = (300 << 20) + wave << 18
    history.sampled(sample)
  }
  return history
}

@Suite("A chart")
struct ChartTests {
  private let now: Int64 = 1_700_000_000
  private let topic = ChartTopic(
    id: "clients", title: "Clients", unit: .count, lines: [.init(name: "connected", figure: .clients, summary: .mean)])

  private func history(_ values: [Int64?]) -> FigureHistory {
    var history = FigureHistory()
    for (index, value) in values.enumerated() {
      guard let value else { continue }
      var sample = FigureSample(at: now - now % 300 - Int64(values.count - 1 - index) * 300)
      sample[.clients] = value
      history.sampled(sample)
    }
    return history
  }

  private func picture(_ values: [Int64?]) -> ChartPicture {
    ChartPicture(topic, history(values), in: .init(until: now, stepSeconds: 300, count: values.count))
  }

  @Test("draws each run as a line of its own, and nothing between two of them")
  func drawsRuns() {
    let html = picture([0, 10, nil, nil, 5, nil, 10, 10, 10]).markup(id: "x", span: "the last hour").html
    #expect(html.contains(#"class="line first" d="M0 98L1 2M4 50h1M6 2H8""#))
    #expect(html.contains(#"class="area" d="M0 98L1 2V100H0ZM4 100V50h1V100ZM6 2H8V100H6Z""#))
    #expect(html.contains("<title id=\"x-title\">Clients, the last hour</title>"))
    #expect(html.contains(">0 to 10, last 10; 2 gaps without figures</desc>"))
  }

  @Test("that never changes is a level line, at the bottom when it is 0")
  func drawsLevels() {
    #expect(picture([0, 0, 0]).markup(id: "x", span: "").html.contains("d=\"M0 98H2\""))
    #expect(picture([7, 7, 7]).markup(id: "x", span: "").html.contains("d=\"M0 2H2\""))
    #expect(picture([nil, nil]).isEmpty && picture([7, 7]).words == "7")
  }

  @Test("of two lines says which is which in words, and draws the second one dashed")
  func tellsLinesApart() {
    let html = StatusPage.html(makeSnapshot(), Charts(makeHistory(until: now), at: now))
    #expect(html.contains("<h3>Relays connected</h3>") && html.contains("class=\"line second\""))
    #expect(html.contains("</span><b>12</b> wanted</span>"))
    #expect(html.contains("<h3>Completeness of yours</h3>") && html.contains("<b>100 %</b>"))
    #expect(!html.contains("<h3>Jobs</h3>"))
  }

  @Test("has its figures in a table, the newest first, with a dash where Roost was stopped")
  func hasTables() throws {
    let html = StatusPage.html(makeSnapshot(), Charts(makeHistory(until: now), at: now))
    let tables = html.split(separator: "<table>").dropFirst()
    #expect(tables.map { $0.split(separator: "<tr><th scope=\"row\">").count - 1 } == [12, 29])
    #expect(tables.last?.contains("2023-11-14") == true)
    #expect(!Charts(FigureHistory(), at: now).markup.html.contains("<table>"))
    #expect(Charts(FigureHistory(), at: now).markup.html.contains("within five minutes"))
  }

  @Test("of thirty days, with every topic, keeps the page below 128 KiB, and each of its numbers is finite")
  func isBounded() {
    let html = StatusPage.html(makeSnapshot(), Charts(makeHistory(until: now), at: now))
    #expect(html.utf8.count < 128 << 10, "\(html.utf8.count) bytes")
    #expect(!html.contains("nan") && !html.contains("inf "))
  }

  @Test(
    "writes figures briefly",
    arguments: [
      (ChartTopic.Unit.count, 0.0, "0"), (.count, 3.46, "3.5"), (.count, 1_234.4, "1,234"),
      (.milliseconds, 120, "120 ms"), (.milliseconds, 1_540, "1.5 s"), (.thousandths, 982, "98.2 %"),
      (.thousandths, 1_000, "100 %"), (.bytes, 33_000_000, "31 MiB"), (.hourly, 9.96, "10"),
    ])
  func writesFigures(unit: ChartTopic.Unit, value: Double, text: String) {
    #expect(unit.text(value) == text)
  }
}
