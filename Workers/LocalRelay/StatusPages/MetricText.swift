internal import Clocks

/// Metrics as text, in one of two forms: the text format of Prometheus (0.0.4), or OpenMetrics (1.0.0).
///
///     # HELP roost_store_events Events stored.
///     # TYPE roost_store_events gauge
///     roost_store_events 3
///
/// The samples are the same in both. In OpenMetrics a counter's family has its name without `_total`, a family of
/// seconds or bytes names its unit, and the text ends with `# EOF`. A family without samples is left out, with its
/// header.
struct MetricText {
  /// The type of a family.
  enum Kind: String {
    /// It only grows, and restarts at 0 with its process. Its name ends in `_total`.
    case counter
    /// It rises and falls.
    case gauge
    /// Facts in labels, with the value 1. Its name ends in `_info`. A gauge for Prometheus.
    case info
    /// Counts by upper bounds.
    case histogram
  }

  /// One sample.
  struct Sample {
    var labels: [(name: String, value: String)]
    var value: String

    /// A whole number.
    init(_ labels: [(name: String, value: String)] = [], _ value: some BinaryInteger) {
      self.labels = labels
      self.value = "\(value)"
    }

    /// A flag: 1 or 0.
    init(_ labels: [(name: String, value: String)] = [], _ isSo: Bool) { self.init(labels, isSo ? 1 : 0) }

    /// A time, in seconds, as Prometheus expects.
    init(_ labels: [(name: String, value: String)] = [], milliseconds: UInt64) {
      self.labels = labels
      value = MetricText.decimal(milliseconds, 1_000)
    }
  }

  /// One of several subjects with a sample each in a family, and the labels that identify it.
  struct Member<Value> {
    let labels: [(name: String, value: String)]
    let value: Value
  }

  private let form: Metrics.Form
  private var body = ""

  /// Most characters of a label's value: a relay's URL can be too long to read.
  static let labelCharacterMaximum = 300

  init(_ form: Metrics.Form = .prometheus) { self.form = form }

  /// The whole text.
  var text: String { form == .openMetrics ? body + "# EOF\n" : body }

  /// Adds a family.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    precondition((kind == .counter) == name.hasSuffix("_total"), "a counter's name ends in _total, and no other")
    guard !samples.isEmpty else { return }
    begin(name, kind, help)
    for sample in samples { line(name, sample.labels, sample.value) }
  }

  private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
    var (family, type) = (name, kind.rawValue)
    if form == .openMetrics {
      for suffix in ["_total", "_info"] where name.hasSuffix(suffix) { family = String(name.dropLast(suffix.count)) }
    } else if kind == .info {
      type = Kind.gauge.rawValue
    }
    body += "# HELP \(family) \(Self.escape(help, quote: form == .openMetrics))\n# TYPE \(family) \(type)\n"
    guard form == .openMetrics else { return }
    for unit in ["seconds", "bytes"] where family.hasSuffix("_\(unit)") { body += "# UNIT \(family) \(unit)\n" }
  }

  private mutating func line(_ name: String, _ labels: [(name: String, value: String)], _ value: String) {
    body += name
    if !labels.isEmpty {
      let texts = labels.map { "\($0.name)=\"\(Self.label($0.value))\"" }
      body += "{\(texts.joined(separator: ","))}"
    }
    body += " \(value)\n"
  }

  /// Adds a family of one sample without labels.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
    add(name, kind, help, [Sample([], value)])
  }

  /// Adds a family with one sample for each member; a member without a figure (nil) has no sample.
  mutating func add<Value, Figure: BinaryInteger>(
    _ name: String, _ kind: Kind, _ help: String, of members: [Member<Value>], _ figure: (Value) -> Figure?
  ) {
    add(name, kind, help, members.compactMap { member in figure(member.value).map { Sample(member.labels, $0) } })
  }

  /// The same for times. It has a name of its own, because a trailing closure has no label.
  mutating func addTimes<Value>(
    _ name: String, _ kind: Kind, _ help: String, of members: [Member<Value>], milliseconds: (Value) -> UInt64?
  ) {
    add(
      name, kind, help,
      members.compactMap { member in
        milliseconds(member.value).map { Sample(member.labels, milliseconds: $0) }
      })
  }

  /// Adds a histogram of seconds for each member: cumulative counts by `le`, their sum and their number. Before the
  /// first measurement all counts are 0.
  mutating func addHistogram(_ name: String, _ help: String, of members: [Member<LatencyHistogram>]) {
    guard !members.isEmpty else { return }
    begin(name, .histogram, help)
    for member in members {
      let counts = member.value.counts
      var sum: UInt64 = 0
      for (index, bound) in LatencyHistogram.boundsMicroseconds.enumerated() {
        sum &+= counts.isEmpty ? 0 : counts[index]
        line("\(name)_bucket", member.labels + [("le", Self.bound(bound))], "\(sum)")
      }
      line("\(name)_bucket", member.labels + [("le", "+Inf")], "\(member.value.count)")
      line("\(name)_sum", member.labels, Self.decimal(member.value.sumMicroseconds, 1_000_000))
      line("\(name)_count", member.labels, "\(member.value.count)")
    }
  }

  /// `0.0005`, `0.25`, `1.0`: the form of OpenMetrics, which is the label of the same series for Prometheus too.
  private static func bound(_ microseconds: UInt64) -> String {
    var text = decimal(microseconds, 1_000_000)
    while text.hasSuffix("0"), !text.hasSuffix(".0") { text.removeLast() }
    return text
  }

  /// A number of parts of a whole, a power of ten, as a decimal number with all its digits.
  private static func decimal(_ number: UInt64, _ parts: UInt64) -> String {
    "\(number / parts)." + "\(parts + number % parts)".dropFirst()
  }

  private static func label(_ value: String) -> String {
    escape(String(String.UnicodeScalarView(value.unicodeScalars.prefix(labelCharacterMaximum))), quote: true)
  }

  private static func escape(_ text: String, quote: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quote: result += "\\\""
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
