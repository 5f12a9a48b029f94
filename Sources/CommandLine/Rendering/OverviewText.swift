public import Contracts

/// What `roost` alone prints.
public enum OverviewText {
  /// A running Roost: what needs attention, how much is done at present, and where clients connect. The addresses are
  /// those of the local relay; the list is empty if it does not run.
  public static func lines(
    _ status: SupervisorStatus, sending: SendingState?, _ result: DoctorResult, addresses: [String], _ style: Style
  ) -> [String] {
    var lines = StatusTable.summary(status, sending: sending, style) + DoctorText.short(result, style)
    if let first = addresses.first {
      let page = first.hasPrefix("ws") ? "http" + first.dropFirst(2) : first
      lines += ["", "Clients connect to \(first); the status page is \(page)/."]
    }
    return lines
      + style.prose(
        "'roost feed' reads, 'roost publish' writes; 'roost status' shows each worker; 'roost help' all commands.")
  }

  /// No Roost runs.
  public static func absent(_ style: Style) -> [String] {
    [
      style.paint("Roost is not running here.", .strong),
      "  roost setup        starts it, and asks whose account; also the first time",
      "  roostd --help      starts it by hand, with a supervisor.conf of your choice",
      "  roost help         lists all commands",
    ]
  }
}
