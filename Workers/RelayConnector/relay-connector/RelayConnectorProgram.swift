import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit

/// `relay-connector`: the only kind of process that talks to relays.
@main
enum RelayConnectorProgram {
  static func main() {
    Worker.main(
      role: .relayConnector,
      profile: profile
    ) { worker throws(Refusal) in
      connector = try Connector(worker)
    }
  }

  /// What the sandbox permits: to resolve names, to check certificates, and to connect to any port (a relay may listen
  /// on any). It may read only the files for that, write none, and start no process. The one file that it changes,
  /// `in-hand`, is mapped before.
  ///
  /// OpenSSL's own variables may place the machine's authorities elsewhere, and those of `ca-file` can be anywhere.
  /// roostd puts that setting into `ROOST_CA_FILE`, because the settings themselves arrive when the sandbox is already
  /// closed.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    InFlightFile.open(environment)
    let files = ["ROOST_CA_FILE", "SSL_CERT_FILE"].compactMap { environment[$0] }
    let folders = (environment["SSL_CERT_DIR"] ?? "").split(separator: ":").map(String.init)
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + SandboxProfile.resolverPaths + files + folders, network: .inet,
      maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var connector: Connector?
}
