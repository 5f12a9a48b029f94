/// The supervisor's methods and topics by name, as in the access table.
enum SupervisorMethod {
  static let status = "supervisor.status"
  static let start = "supervisor.start"
  static let stop = "supervisor.stop"
  static let restart = "supervisor.restart"
  static let hold = "supervisor.hold"
  static let attach = "supervisor.attach"
  static let reload = "supervisor.reload"
  static let logs = "supervisor.logs"
  static let logLevel = "supervisor.log-level"
  static let why = "supervisor.why"
  static let deadLetters = "supervisor.dead-letters"
  static let record = "supervisor.record"
  static let doctor = "supervisor.doctor"
  /// The topic of state changes.
  static let events = "supervisor.events"
}
