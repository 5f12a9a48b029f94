/// The path from the top of a file to one value: `worker.relay.relays[2]`.
struct ConfigurationPath: Hashable, Sendable, CustomStringConvertible {
  /// One step down.
  enum Step: Hashable, Sendable {
    /// Into a table.
    case key(String)
    /// Into an array, counted from 0.
    case index(Int)
  }

  /// The steps from the top.
  var steps: [Step]

  /// The top of the file.
  static let top = ConfigurationPath(steps: [])

  init(steps: [Step]) { self.steps = steps }

  /// A path through tables only.
  init(_ keys: String...) { steps = keys.map(Step.key) }

  /// This path and one more step.
  func appending(_ step: Step) -> ConfigurationPath { ConfigurationPath(steps: steps + [step]) }

  /// This path and one more key.
  func appending(_ key: String) -> ConfigurationPath { appending(.key(key)) }

  /// The path one step up; the top stays at the top.
  var parent: ConfigurationPath { ConfigurationPath(steps: Array(steps.dropLast())) }

  /// The path as TOML writes it, with array indices in brackets.
  var description: String {
    var result = ""
    for step in steps {
      switch step {
      case .key(let key): result += (result.isEmpty ? "" : ".") + ConfigurationPath.written(key)
      case .index(let index): result += "[\(index)]"
      }
    }
    return result
  }

  /// `key` as TOML writes it: bare if its characters allow that, else in quotes.
  static func written(_ key: String) -> String {
    let isBare =
      !key.isEmpty
      && key.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return isBare ? key : ConfigurationValue.quoted(key)
  }
}
