import Contracts
import EventLoop
import Frames
import LinuxSystem
import UserPrograms
import WorkerKit
import WorkerLedger

/// `link-page`: shows links to a person in a browser on this machine, and runs the programs for them.
///
/// The file is two programs: the worker, and ``ProgramLauncher``, the last step before a user's program.
@main
enum LinkPageProgram {
  static func main() {
    let arguments = CommandLine.arguments
    if arguments.count > 1, arguments[1] == ProgramLauncher.word { ProgramLauncher.main(Array(arguments.dropFirst(2))) }
    Worker.main(role: .linkPage, profile: profile) { worker throws(Refusal) in
      page = try LinkPage(worker, directory: WorkerDirectory.path.get(), owners: owners)
      page?.start()
    }
  }

  /// What the worker may do: listen, look up a player, write below its own directory, and start the programs of the
  /// settings. A program may do no more than the worker.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    // Opened before the sandbox, which does not permit such a socket.
    _ = owners
    return LinkPrograms.profile(WorkerDirectory.make(environment, role: .linkPage))
  }

  /// Finds the user that owns a connection; nil when the kernel lacks this interface.
  private static let owners: SocketOwners? = {
    do throws(SystemFault) { return try SocketOwners() } catch { return nil }
  }()

  /// Kept for the life of the process.
  @EventLoopActor private static var page: LinkPage?
}
