internal import Frames

/// What a chart of the page shows.
struct ChartTopic: Sendable {
  /// One line of a chart.
  struct Line: Sendable {
    /// What it is, for its legend and for the head of its column.
    var name: String
    var figure: Figure
    var summary: FigureHistory.Summary
  }

  /// How a figure is written.
  enum Unit: Sendable {
    case count, hourly, milliseconds, bytes, thousandths

    /// `1,204`, `3.5`, `120 ms`, `31 MiB`, `98.2 %`.
    func text(_ value: Double) -> String {
      switch self {
      case .count, .hourly: value < 10 ? Self.decimal(value) : StatusPage.number(Int64(value.rounded()))
      case .milliseconds: value < 1_000 ? "\(Self.decimal(value)) ms" : "\(Self.decimal(value / 1_000)) s"
      case .bytes: Amount.bytes(UInt64(max(0, value)))
      case .thousandths: "\(Self.decimal(value / 10)) %"
      }
    }

    /// With at most one decimal.
    private static func decimal(_ value: Double) -> String {
      let tenths = Int64((value * 10).rounded())
      return tenths % 10 == 0 || tenths >= 1_000
        ? StatusPage.number((tenths + 5) / 10) : "\(tenths / 10).\(tenths % 10)"
    }
  }

  /// A part of the ids on the page.
  var id: String
  var title: String
  var unit: Unit
  /// Whether the chart begins at 0; otherwise at its lowest figure, for what is large and changes little.
  var isFromZero = true
  /// The upper end, where it is known; otherwise the highest figure.
  var top: Double?
  /// One or two lines.
  var lines: [Line]

  static let all: [ChartTopic] = [
    ChartTopic(
      id: "stored", title: "Events stored", unit: .count, isFromZero: false,
      lines: [Line(name: "events", figure: .storedEvents, summary: .last)]),
    ChartTopic(
      id: "new", title: "New events an hour", unit: .hourly,
      lines: [Line(name: "new events", figure: .newEvents, summary: .hourly)]),
    ChartTopic(
      id: "relays", title: "Relays connected", unit: .count,
      lines: [
        Line(name: "connected", figure: .openRelays, summary: .mean),
        Line(name: "wanted", figure: .wantedRelays, summary: .mean),
      ]),
    ChartTopic(
      id: "latency", title: "Answers of relays", unit: .milliseconds,
      lines: [
        Line(name: "half within", figure: .medianLatency, summary: .mean),
        Line(name: "nine of ten within", figure: .slowLatency, summary: .mean),
      ]),
    ChartTopic(
      id: "refusals", title: "Refusals of relays, an hour", unit: .hourly,
      lines: [
        Line(name: "refusals", figure: .refusals, summary: .hourly),
        Line(name: "failed connections", figure: .connectFailures, summary: .hourly),
      ]),
    ChartTopic(
      id: "queue", title: "Publish queue", unit: .count,
      lines: [
        Line(name: "on their way", figure: .queued, summary: .maximum),
        Line(name: "taken by no relay", figure: .unpublished, summary: .maximum),
      ]),
    ChartTopic(
      id: "mirror", title: "Completeness of yours", unit: .thousandths, top: 1_000,
      lines: [Line(name: "of the relays have sent everything", figure: .mirrored, summary: .mean)]),
    ChartTopic(
      id: "jobs", title: "Jobs", unit: .count,
      lines: [
        Line(name: "done by others", figure: .askedJobs, summary: .maximum),
        Line(name: "done for others", figure: .servedJobs, summary: .maximum),
      ]),
    ChartTopic(
      id: "clients", title: "Clients", unit: .count,
      lines: [Line(name: "connected", figure: .clients, summary: .maximum)]),
    ChartTopic(
      id: "memory", title: "Memory of all processes", unit: .bytes,
      lines: [Line(name: "resident", figure: .memory, summary: .maximum)]),
  ]
}
