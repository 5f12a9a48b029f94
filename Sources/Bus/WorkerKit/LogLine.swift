internal import FoundationEssentials
internal import Frames

/// One line of a worker's log as it travels: JSON on standard error, which the supervisor reads line by line.
///
/// `{"level":"info","category":"relay","message":"connected","fields":{"relay":"ws://…"}}`. Time and worker are the
/// supervisor's to add: it is the one clock.
struct LogLine: Codable {
  var level: String
  var category: String
  var message: String
  var fields: [String: String]?
}
