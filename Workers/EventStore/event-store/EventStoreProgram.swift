import Contracts
import EventArchive
import EventLoop
import Frames
import LinuxSystem
import WorkerKit
import WorkerLedger

/// `event-store`: the gate through which every event comes, and the only process that has the event database.
@main
enum EventStoreProgram {
  static func main() {
    Worker.main(role: .eventStore, profile: profile) { worker throws(Refusal) in
      let directory = try WorkerDirectory.path.get()
      let (archive, rescue) = try await Store.open(worker, directory: directory)
      store = try Store(worker, archive, rescue)
      let seqs = "events.db" + EventArchive.unknownSeqs.suffix
      worker.serveBackup(in: directory) { [seqs: .small { EventArchive.unknownSeqs.text }] }
    }
  }

  /// Its sandbox: read and write below its own directory, and nothing else.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .eventStore)
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths, writablePaths: directory.map { [$0] } ?? [], network: .none,
      maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var store: Store?
}
