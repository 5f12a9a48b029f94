/// The text format of Prometheus metrics: its exposition format 0.0.4.
///
///     # HELP roost_store_events Events stored.
///     # TYPE roost_store_events gauge
///     roost_store_events 3
///
/// A family without samples is left out, with its header.
struct MetricText {
  /// The type of a family.
  enum Kind: String {
    /// It only grows, and restarts at 0 with its process. Its name ends in `_total`.
    case counter
    /// It rises and falls.
    case gauge
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
      let rest = "\(milliseconds % 1_000)"
      value = "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
  }

  /// One of several subjects with a sample each in a family, and the labels that identify it.
  struct Member<Value> {
    let labels: [(name: String, value: String)]
    let value: Value
  }

  private(set) var text = ""

  /// Most characters of a label's value: a relay's URL can be too long to read.
  static let labelCharacterMaximum = 300

  /// Adds a family.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    precondition(kind == .gauge || name.hasSuffix("_total"), "a counter's name ends in _total")
    guard !samples.isEmpty else { return }
    text += "# HELP \(name) \(Self.escape(help, quote: false))\n# TYPE \(name) \(kind.rawValue)\n"
    for sample in samples {
      text += name
      if !sample.labels.isEmpty {
        let labels = sample.labels.map { "\($0.name)=\"\(Self.label($0.value))\"" }
        text += "{\(labels.joined(separator: ","))}"
      }
      text += " \(sample.value)\n"
    }
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
