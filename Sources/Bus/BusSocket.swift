public import EventLoop
public import Frames

/// Where the supervisor's socket is.
public enum BusSocket {
  /// The variables of the environment that say where, besides `ROOST_SOCKET`.
  public static let variables = ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME"]

  /// The places looked at, in order: `ROOST_SOCKET` alone if it is set; the run directory of an installed Roost, which
  /// is in its state directory on a machine without `XDG_RUNTIME_DIR`; that of a checkout.
  public static func candidates(environment: [String: String]) -> [String] {
    if let path = environment["ROOST_SOCKET"], !path.isEmpty { return [path] }
    var paths: [String] = []
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let run = variable("XDG_RUNTIME_DIR") {
      paths.append(run + "/roost/roost.sock")
    } else if let state = variable("XDG_STATE_HOME") ?? variable("HOME").map({ $0 + "/.local/state" }) {
      paths.append(state + "/roost/run/roost.sock")
    }
    paths.append("run/roost.sock")
    return paths
  }

  /// Connects to the first place where somebody listens.
  ///
  /// - Throws: a refusal `no-supervisor` that names every place tried and why it was not there.
  @EventLoopActor
  public static func connect(
    path: String?, environment: [String: String]
  ) async throws(Refusal) -> ByteStream {
    var tried: [String] = []
    for candidate in path.map({ [$0] }) ?? candidates(environment: environment) {
      do throws(LoopFault) {
        return try await ByteStream.connect(path: candidate)
      } catch {
        tried.append("\(error)")
      }
    }
    throw Refusal(
      .noSupervisor,
      "no supervisor answers. Start one with 'roostd' or 'make run'. Tried: \(tried.joined(separator: "; "))",
      outcome: .notStarted)
  }
}

extension RefusalCode {
  /// No supervisor listens on the socket.
  public static let noSupervisor: RefusalCode = "no-supervisor"
  /// The connection to the supervisor ended.
  public static let disconnected: RefusalCode = "disconnected"
}
