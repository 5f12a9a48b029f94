import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit
import WorkerLedger

/// `link-feed`: links and private messages of accounts, in gift wraps.
@main
enum LinkFeedProgram {
  static func main() {
    Worker.main(role: .linkFeed, profile: profile) { worker throws(Refusal) in
      feed = try LinkFeed(worker, directory: WorkerDirectory.path.get())
      worker.serveBackup(in: try WorkerDirectory.path.get())
      feed?.start()
    }
  }

  /// Its sandbox: its own directory, no network.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .linkFeed)
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths, writablePaths: directory.map { [$0] } ?? [], network: .none,
      maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var feed: LinkFeed?
}
