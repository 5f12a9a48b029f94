import Contracts
import EventLoop
import Frames
import LinuxSystem
import WorkerKit

/// `dvm-provider`: does jobs of others (NIP-90), by programs of the user's and two of its own.
///
/// It is two programs in one file: the worker, and the last step before a job's program, ``ProgramLauncher``, which
/// needs the same code for its sandbox.
@main
enum DVMProviderProgram {
  static func main() {
    let arguments = CommandLine.arguments
    if arguments.count > 1, arguments[1] == ProgramLauncher.word { ProgramLauncher.main(Array(arguments.dropFirst(2))) }
    Worker.main(role: .dvmProvider, profile: profile) { worker throws(Refusal) in
      provider = try Provider(worker, directory: WorkerDirectory.path.get())
      provider?.start()
    }
  }

  /// What it may do: read and write below its own directory, and start programs, which may do no more than it may: so
  /// all that any of them is allowed stands here.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    let directory = WorkerDirectory.make(environment, role: .dvmProvider)
    let premises = ProgramEnvironment.own
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + premises.readablePaths + ["/proc"]
        + (premises.mayUseNetwork ? SandboxProfile.resolverPaths : []),
      writablePaths: (directory.map { [$0] } ?? []) + (premises.group.map { [$0.path] } ?? []) + ["/dev/null"],
      // Each run's own sandbox has its program alone.
      executablePaths: ProgramEnvironment.systemPaths + premises.ownPaths
        + premises.programPaths.flatMap(SandboxProfile.renewable),
      network: premises.mayUseNetwork ? .inet : .none, maySpawn: true)
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var provider: Provider?
}
