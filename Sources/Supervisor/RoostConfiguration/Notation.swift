import Frames

/// How one kind of value is written in the file: the way to parse it, with its bounds, and the way to write it back.
///
/// Bounds are here and not in the structures, so that a complaint can name them and a test can compare the
/// documentation with them. Writing a value and reading it again gives an equal value; a test checks that for every
/// key.
struct Notation<Value: Sendable & Hashable>: Sendable {
  /// Takes a value from the file; throws everything that is wrong with it.
  let parse: @Sendable (ConfigurationValue, NotationContext) throws(Complaints) -> Value
  /// Writes a value in the form of the file.
  let render: @Sendable (Value) -> ConfigurationValue
}

/// What a notation needs to know in addition to the value.
struct NotationContext: Sendable {
  let surroundings: ConfigurationSurroundings
  /// The configuration file's directory, which relative paths are relative to.
  let directory: String
}

/// One thing wrong with a value, or with something inside it.
struct Complaint: Sendable, Hashable {
  /// The path from the value to the part that is wrong; empty for the value itself.
  var steps: [ConfigurationPath.Step] = []
  var message: String
  var nearest: String?
}

/// Everything that is wrong with one value; never empty.
struct Complaints: Error, Sendable, Hashable {
  var list: [Complaint]

  init(_ list: [Complaint]) { self.list = list }
  init(_ message: String, nearest: String? = nil) { list = [Complaint(message: message, nearest: nearest)] }

  /// The complaint that another kind of value was expected.
  static func wrongKind(_ value: ConfigurationValue, expected: String) -> Complaints {
    switch value {
    case .array, .table: Complaints("expected \(expected), but this is \(value.kind)")
    default: Complaints("expected \(expected), but \(value) is \(value.kind)")
    }
  }
}

extension Notation where Value == Int {
  /// A bare whole number.
  static func integer(_ bounds: ClosedRange<Int>) -> Notation {
    Notation { value, _ throws(Complaints) in
      guard case .integer(let number) = value else { throw .wrongKind(value, expected: "a whole number") }
      guard number >= bounds.lowerBound else { throw Complaints("\(number) is below the least, \(bounds.lowerBound)") }
      guard number <= bounds.upperBound else { throw Complaints("\(number) is above the most, \(bounds.upperBound)") }
      return number
    } render: {
      .integer($0)
    }
  }

  /// A number of bytes: `65536` or `"64KiB"`.
  static func size(_ bounds: ClosedRange<Int>) -> Notation {
    Notation { value, _ throws(Complaints) in
      let bytes =
        switch value {
        case .integer(let number): number
        case .string(let text): try ByteSize.parse(text)
        default: throw .wrongKind(value, expected: ByteSize.expected)
        }
      guard bytes >= bounds.lowerBound else {
        throw Complaints("\(ByteSize.text(bytes)) is below the least, \(ByteSize.text(bounds.lowerBound))")
      }
      guard bytes <= bounds.upperBound else {
        throw Complaints("\(ByteSize.text(bytes)) is above the most, \(ByteSize.text(bounds.upperBound))")
      }
      return bytes
    } render: {
      $0.isMultiple(of: 1_024) && $0 > 0 ? .string(ByteSize.text($0)) : .integer($0)
    }
  }

  /// A duration kept as whole milliseconds, for settings that are sent as JSON.
  static func milliseconds(_ bounds: ClosedRange<Duration>) -> Notation {
    let durations = Notation<Duration>.duration(bounds)
    return Notation { value, context throws(Complaints) in
      TimeSpan.milliseconds(try durations.parse(value, context))
    } render: {
      durations.render(.milliseconds($0))
    }
  }
}

extension Notation where Value == Duration {
  /// A string with a unit: `"500ms"`, `"10s"`, `"2m"`, `"1h"`.
  static func duration(_ bounds: ClosedRange<Duration>) -> Notation {
    Notation { value, _ throws(Complaints) in
      guard case .string(let text) = value else { throw .wrongKind(value, expected: TimeSpan.expected) }
      let duration = try TimeSpan.parse(text)
      guard duration >= bounds.lowerBound else {
        throw Complaints("\(TimeSpan.text(duration)) is below the least, \(TimeSpan.text(bounds.lowerBound))")
      }
      guard duration <= bounds.upperBound else {
        throw Complaints("\(TimeSpan.text(duration)) is above the most, \(TimeSpan.text(bounds.upperBound))")
      }
      return duration
    } render: {
      .string(TimeSpan.text($0))
    }
  }
}

extension Notation where Value == Bool {
  /// `true` or `false`.
  static let flag = Notation { value, _ throws(Complaints) in
    guard case .boolean(let flag) = value else { throw .wrongKind(value, expected: "true or false") }
    return flag
  } render: {
    .boolean($0)
  }
}

extension Notation {
  /// One of a few words.
  static func choice(_ type: Value.Type) -> Notation where Value: RawRepresentable<String> & CaseIterable {
    Notation { value, _ throws(Complaints) in
      let words = Value.allCases.map(\.rawValue)
      let expected = "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
      guard case .string(let word) = value else { throw .wrongKind(value, expected: expected) }
      guard let choice = Value(rawValue: word) else {
        throw Complaints("\(value) is not \(expected)", nearest: NearestName.find(word, among: words))
      }
      return choice
    } render: {
      .string($0.rawValue)
    }
  }

  /// A value, or the word `"none"`.
  static func optional<Wrapped>(_ notation: Notation<Wrapped>) -> Notation where Value == Wrapped? {
    Notation { value, context throws(Complaints) in
      value == .string("none") ? nil : try notation.parse(value, context)
    } render: {
      $0.map(notation.render) ?? .string("none")
    }
  }

  /// Values in order; collects the complaints about all elements.
  static func list<Element>(
    of element: Notation<Element>, _ expected: String, count bounds: ClosedRange<Int> = 0...Limits.listCountMaximum
  ) -> Notation where Value == [Element] {
    Notation { value, context throws(Complaints) in
      guard case .array(let values) = value else { throw .wrongKind(value, expected: "an array of \(expected)") }
      guard bounds.contains(values.count) else {
        throw Complaints("\(values.count) entries; \(bounds.lowerBound) to \(bounds.upperBound) are possible")
      }
      var result: [Element] = []
      var complaints: [Complaint] = []
      for (index, value) in values.enumerated() {
        do throws(Complaints) {
          result.append(try element.parse(value, context))
        } catch {
          complaints += error.list.map { complaint in
            var complaint = complaint
            complaint.steps.insert(.index(index), at: 0)
            return complaint
          }
        }
      }
      guard complaints.isEmpty else { throw Complaints(complaints) }
      return result
    } render: {
      .array($0.map(element.render))
    }
  }
}

/// Bounds of the file as a whole.
enum Limits {
  /// How many entries one array may have.
  static let listCountMaximum = 4_096
  /// The maximum number of workers. The hub has 4,095 seats; the rest is for clients.
  static let workerCountMaximum = 1_024
  /// How long one string may be, in UTF-8 bytes.
  static let textByteCountMaximum = 4_096
}
