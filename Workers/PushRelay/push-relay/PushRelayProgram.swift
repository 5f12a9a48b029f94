import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit
import WorkerLedger

/// `push-relay`: wakes phones through Apple, Google and Web Push.
@main
enum PushRelayProgram {
  static func main() {
    Worker.main(role: .pushRelay, profile: profile) { worker throws(Refusal) in
      let directory = try WorkerDirectory.path.get()
      relay = try PushRelay(worker, directory: directory)
      worker.serveBackup(in: directory) { SecretFiles.copies(in: directory) }
      try await relay?.start()
    }
  }

  /// Its sandbox: it may listen and dial, read and write in its own directory, and read the files that its settings
  /// name, also those that replace them.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .pushRelay)
    let files = fileVariables.compactMap { environment[$0] }.filter { !$0.isEmpty }
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + SandboxProfile.resolverPaths
        + files.flatMap(SandboxProfile.renewable),
      writablePaths: directory.map { [$0] } ?? [],
      network: .inet, maySpawn: false)
  }

  private static let fileVariables = [
    "ROOST_CERTIFICATE_FILE", "ROOST_KEY_FILE", "ROOST_KEY_RING_FILE", "ROOST_APNS_KEY_FILE", "ROOST_FCM_ACCOUNT_FILE",
    "ROOST_CA_FILE",
  ]

  /// Kept for the life of the process.
  @EventLoopActor private static var relay: PushRelay?
}
