import Configuration
import Contracts
import Glibc
import LinuxSystem

/// What roostd shows where it was started: what is starting, what to type next, then the notable lines of the log.
enum Console {
  /// The first lines on the terminal.
  static func greet(_ configuration: SupervisorConfiguration) {
    let enabled = configuration.workers.filter(\.enabled)
    let names = enabled.map { $0.name == $0.role ? $0.name : "\($0.name) (\($0.role))" }
    let socket = configuration.supervisor.socket
    RoostdCommand.say(
      """
      roostd \(RoostVersion.text) with \(configuration.file)
        starting  \(names.isEmpty ? "no workers: none is enabled" : names.joined(separator: ", "))
        socket    \(socket)
        logs      \(configuration.supervisor.logDirectory)
      In another terminal:
        roost status          how the workers are (ROOST_SOCKET=\(socket) from elsewhere)
        roost logs -f         what they say
        roost call relay.request '{"relay":"ws://127.0.0.1:7777","filters":[{"kinds":[1],"limit":5}]}'
      Ctrl-C stops everything, in order.

      """)
  }

  /// One line of the log, for people.
  static func write(_ record: LogRecord) {
    let clock = record.time.dropFirst(11).prefix(8)
    let fields = (record.fields ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    let line = "\(clock) \(record.worker) \(record.level) \(record.category): \(record.message)\(fields)"
    RoostdCommand.say(withoutControls(line))
  }

  /// A worker's line must not steer the terminal.
  private static func withoutControls(_ line: String) -> String {
    String(String.UnicodeScalarView(line.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "\u{FFFD}" : $0 }))
  }
}
