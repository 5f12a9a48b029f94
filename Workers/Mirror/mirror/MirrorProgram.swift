import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit

/// `mirror`: has everything of one's own fetched, and knows how complete it is.
@main
enum MirrorProgram {
  static func main() {
    Worker.main(role: .mirror, profile: profile) { worker throws(Refusal) in
      mirror = try Mirror(worker)
      mirror?.start()
    }
  }

  /// Its sandbox: no files of its own, no network.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    SandboxProfile(readablePaths: SandboxProfile.runtimePaths, network: .none, maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var mirror: Mirror?
}
