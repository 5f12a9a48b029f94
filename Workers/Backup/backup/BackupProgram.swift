import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit

/// `backup`: makes backups of everything that the workers keep, at set times.
@main
enum BackupProgram {
  static func main() {
    Worker.main(role: .backup, profile: profile) { worker throws(Refusal) in
      keeper = try BackupKeeper(worker)
      keeper?.start()
    }
  }

  /// Its sandbox: the directory of the backups and the file with their passphrase; no network. A program after each
  /// backup gets the rights that the user has, because where it carries the file is not known here.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    func path(_ name: String) -> [String] { [environment[name]].compactMap { $0 }.filter { !$0.isEmpty } }
    let program = path("ROOST_RUN_AFTER")
    guard program.isEmpty else {
      return SandboxProfile(
        readablePaths: ["/"], writablePaths: ["/"], executablePaths: ["/"], network: .inet, maySpawn: true)
    }
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + path("ROOST_PASSPHRASE_FILE"),
      writablePaths: path("ROOST_BACKUP_DIRECTORY"), network: .none, maySpawn: false)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var keeper: BackupKeeper?
}
