import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit
import WorkerLedger

/// `mirror`: has everything of one's own fetched and kept alive on relays, and knows how complete it is.
@main
enum MirrorProgram {
  static func main() {
    Worker.main(role: .mirror, profile: profile) { worker throws(Refusal) in
      mirror = try Mirror(worker, directory: WorkerDirectory.path.get())
      worker.serveBackup(in: try WorkerDirectory.path.get())
      mirror?.start()
    }
  }

  /// Its sandbox: its own directory, no network.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .mirror)
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths, writablePaths: directory.map { [$0] } ?? [], network: .none,
      maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var mirror: Mirror?
}
