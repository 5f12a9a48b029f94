import Bus
import RoostConfiguration
import Contracts
import Frames
import Glibc
import LinuxSystem

/// What roostd shows where it was started: what is starting, what to type next, then the notable lines of the log.
enum Console {
  /// The first lines on the terminal.
  static func greet(_ configuration: SupervisorConfiguration) {
    let enabled = configuration.workers.filter(\.enabled)
    let names = enabled.map { $0.name == $0.role ? $0.name : "\($0.name) (\($0.role))" }
    let socket = configuration.supervisor.socket
    let roost = command(socket: socket)
    RoostdCommand.say(
      """
      roostd \(RoostVersion.text) with \(configuration.file)
        starting  \(names.isEmpty ? "no workers: none is enabled" : names.joined(separator: ", "))
        socket    \(socket)
        logs      \(configuration.supervisor.logDirectory ?? "in no files: here, or in the journal")
      In another terminal, in this folder:
        \(roost) status       how the workers are
        \(roost) logs -f      what they say
        \(roost) --help       all that can be asked
      Ctrl-C stops everything, in order.

      """)
  }

  /// `roost` as it can be typed where roostd was started: from beside roostd, and told of the socket where it would not
  /// find it by itself.
  private static func command(socket: String) -> String {
    let own = CommandLine.arguments.first ?? ""
    let program = own.lastIndex(of: "/").map { "\(own[..<$0])/roost" } ?? "roost"
    return isFound(socket) ? program : "ROOST_SOCKET=\(shellWord(socket)) \(shellWord(program))"
  }

  /// Whether `roost`, started here, comes to this socket: in another terminal, which has what this one has in its
  /// environment, but no ROOST_SOCKET, since that is what it would be told.
  private static func isFound(_ socket: String) -> Bool {
    var environment: [String: String] = [:]
    for name in BusSocket.variables {
      if let value = getenv(name) { environment[name] = String(cString: value) }
    }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let folder = getcwd(&buffer, buffer.count).map { String(cString: $0) } ?? ""
    let places = BusSocket.candidates(environment: environment).map { $0.hasPrefix("/") ? $0 : folder + "/" + $0 }
    return places.first { $0 == socket || access($0, F_OK) == 0 } == socket
  }

  /// One line of the log, for people.
  static func write(_ record: LogRecord) {
    let clock = record.time.dropFirst(11).prefix(8)
    let fields = (record.fields ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    let line = "\(clock) \(record.worker) \(record.level) \(record.category): \(record.message)\(fields)"
    // A worker's line must not steer the terminal.
    RoostdCommand.say(ControlCharacters.escaped(line))
  }
}

/// `text` as one word of a shell's command line.
func shellWord(_ text: String) -> String {
  let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%=")
  guard text.isEmpty || !text.allSatisfy(plain.contains) else { return text }
  // A quote inside quotes: end them, an escaped quote, begin them again.
  return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
