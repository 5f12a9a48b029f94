import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit
import WorkerLedger

/// `people`: changes the lists of accounts, and knows the people of accounts.
@main
enum PeopleProgram {
  static func main() {
    Worker.main(role: .people, profile: profile) { worker throws(Refusal) in
      people = try People(worker, directory: WorkerDirectory.path.get())
      worker.serveBackup(in: try WorkerDirectory.path.get())
      people?.start()
    }
  }

  /// Its sandbox: its own directory, no network.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .people)
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths, writablePaths: directory.map { [$0] } ?? [], network: .none,
      maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var people: People?
}
