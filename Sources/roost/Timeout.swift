internal import ArgumentParser
internal import RoostOutput

/// A span of time on the command line: `30s`, `500ms`, `2m`, `1h`.
struct Timeout: ExpressibleByArgument, Sendable {
  /// In milliseconds.
  var milliseconds: UInt32

  init(milliseconds: UInt32) { self.milliseconds = milliseconds }

  init?(argument: String) {
    guard let milliseconds = Amount.milliseconds(reading: argument), milliseconds > 0 else { return nil }
    self.milliseconds = milliseconds
  }

  var defaultValueDescription: String { Amount.duration(milliseconds: UInt64(milliseconds)) }

  /// How long the supervisor may take to tell something.
  static let reading = Timeout(milliseconds: 10_000)
  /// How long it may take to bring a worker where it is sent; a drain is part of it.
  static let moving = Timeout(milliseconds: 120_000)
}
