internal import FoundationEssentials
internal import Frames

/// One line of a worker's log: JSON on standard error, which the supervisor reads line by line.
///
/// `{"level":"info","category":"relay","message":"connected","fields":{"relay":"ws://…"}}`. The supervisor adds the
/// time and the worker's name, so that all times come from one clock.
struct LogLine: Codable {
  var level: String
  var category: String
  var message: String
  var fields: [String: String]?
}
