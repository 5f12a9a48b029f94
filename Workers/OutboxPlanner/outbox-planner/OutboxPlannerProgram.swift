import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit
import WorkerLedger

/// `outbox-planner`: decides which relays are used for each subscription and for each event.
@main
enum OutboxPlannerProgram {
  static func main() {
    Worker.main(role: .outboxPlanner, profile: profile) {
      worker throws(Refusal) in
      let directory = try WorkerDirectory.path.get()
      planner = try Planner(worker, directory: directory)
      worker.serveBackup(in: directory) { RestoredMark.file }
      planner?.start()
    }
  }

  /// Its permissions: to read and write below its own directory, and nothing else.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .outboxPlanner)
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths, writablePaths: directory.map { [$0] } ?? [], network: .none,
      maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var planner: Planner?
}
