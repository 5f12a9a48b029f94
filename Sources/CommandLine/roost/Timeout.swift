internal import ArgumentParser
internal import Frames
internal import Rendering

/// A span of time on the command line, always with its unit: `30s`, `500ms`, `2m`, `1h`.
struct Timeout: Sendable, CustomStringConvertible {
  /// In milliseconds.
  var milliseconds: UInt32

  init(milliseconds: UInt32) { self.milliseconds = milliseconds }

  /// As typed.
  @Sendable init(reading text: String) throws {
    guard let milliseconds = Amount.milliseconds(reading: text) else {
      let isNumber = !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
      throw ValidationError(
        isNumber
          ? "A time has a unit: \(text)s for seconds, or \(text)ms, \(text)m, \(text)h."
          : "A time is a whole number and its unit, at most 49 days: 30s, 500ms, 2m, 1h.")
    }
    guard milliseconds > 0 else { throw ValidationError("The timeout must be greater than 0.") }
    self.milliseconds = milliseconds
  }

  var description: String { Amount.duration(milliseconds: UInt64(milliseconds)) }

  /// How long the supervisor may take to answer a request that only reads.
  static let reading = Timeout(milliseconds: 10_000)
  /// How long it may take to bring a worker into another state, including a drain.
  static let moving = Timeout(milliseconds: 120_000)
}
