import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit
import WorkerLedger

/// `dvm-tracker`: keeps jobs for data vending machines (NIP-90) until they end.
@main
enum DVMTrackerProgram {
  static func main() {
    Worker.main(role: .dvmTracker, profile: profile) { worker throws(Refusal) in
      tracker = try Tracker(worker, directory: WorkerDirectory.path.get())
      worker.serveBackup(in: try WorkerDirectory.path.get())
      tracker?.start()
    }
  }

  /// Its sandbox: read and write below its own directory, and nothing else.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .dvmTracker)
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths, writablePaths: directory.map { [$0] } ?? [], network: .none,
      maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var tracker: Tracker?
}
