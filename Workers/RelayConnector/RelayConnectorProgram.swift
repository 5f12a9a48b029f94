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
      role: .relayConnector, methods: ["relay.request", "relay.publish", "relay.list", "relay.desire", "relay.follow"], profile: { _ in profile }
    ) { worker throws(Refusal) in
      connector = try Connector(worker)
    }
  }

  /// What it may do: look names up, connect to any port (a relay may listen on any), read no file but what that needs,
  /// write none, start nothing.
  private static var profile: SandboxProfile {
    SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + SandboxProfile.resolverPaths, network: .inet, maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var connector: Connector?
}
