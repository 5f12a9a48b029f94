import Contracts
import EventLoop
import Frames
import LinuxSystem
import UserPrograms
import WorkerKit
import WorkerLedger

/// `dvm-provider`: does jobs for others (NIP-90), with programs of the user's and two built-in services.
///
/// The file is two programs: the worker, and ``ProgramLauncher``, the last step before a job's program, which needs the
/// same code for its sandbox.
@main
enum DVMProviderProgram {
  static func main() {
    let arguments = CommandLine.arguments
    if arguments.count > 1, arguments[1] == ProgramLauncher.word { ProgramLauncher.main(Array(arguments.dropFirst(2))) }
    Worker.main(role: .dvmProvider, profile: profile) { worker throws(Refusal) in
      provider = try Provider(worker, directory: WorkerDirectory.path.get())
      worker.serveBackup(in: try WorkerDirectory.path.get())
      provider?.start()
    }
  }

  /// What the worker may do: read and write below its own directory, and start programs. A program may do no more than
  /// the worker, so the profile allows everything that any of them may do.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .dvmProvider)
    let premises = ProgramEnvironment.own
    var profile = SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + (premises.mayUseNetwork ? SandboxProfile.resolverPaths : []),
      writablePaths: directory.map { [$0] } ?? [], network: premises.mayUseNetwork ? .inet : .none)
    premises.allowPrograms(in: &profile)
    return profile
  }

  /// Keeps the provider for the life of the process.
  @EventLoopActor private static var provider: Provider?
}
