import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import WorkerKit
import WorkerLedger

/// `local-relay`: a NIP-01 relay on this machine, over the event store.
@main
enum LocalRelayProgram {
  static func main() {
    Worker.main(role: .localRelay, window: window, profile: profile) {
      worker throws(Refusal) in
      StreamListener.inherit(Self.inherited)
      let (owners, knowsUsers) = Self.owners
      relay = try LocalRelay(
        worker, directory: WorkerDirectory.path.get(), owners: owners, knowsUsers: knowsUsers)
      worker.serveBackup(in: try WorkerDirectory.path.get())
      try await relay?.start()
    }
  }

  /// Events that clients have not read yet wait here, a quarter of a MiB for each idle query; with the usual window,
  /// sixteen of them would stop all others. Less than `roostd` buffers for a connection (`output-limit`, 64 MiB).
  private static let window = Window(frames: 65_536, bytes: 48 << 20)

  /// Its permissions: to listen, to read and write below its own directory, and to read its certificate and a renewed
  /// one. It dials no address.
  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    // Opened before the sandbox, which does not permit such a socket.
    _ = owners
    let directory = WorkerDirectory.make(environment, role: .localRelay)
    let files = ["ROOST_CERTIFICATE_FILE", "ROOST_KEY_FILE"].compactMap { environment[$0] }.filter { !$0.isEmpty }
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + files.flatMap(SandboxProfile.renewable),
      writablePaths: directory.map { [$0] } ?? [],
      network: .inboundTCP, maySpawn: false)
  }

  /// Finds the user that owns a connection; nil when the kernel lacks this interface. Also whether the kernel answers
  /// such requests; if that could not be tested, it is assumed.
  private static let owners: (SocketOwners?, knowsUsers: Bool) = {
    do throws(SystemFault) {
      var owners = try SocketOwners()
      let tells = owners.tellsOwn()
      return (owners, tells ?? true)
    } catch { return (nil, false) }
  }()

  /// Listening sockets that roostd passes on from a service manager: as many as ROOST_LISTEN_FDS says, from 6 on.
  private static let inherited: [Int32] = {
    let count = getenv("ROOST_LISTEN_FDS").flatMap { Int32(String(cString: $0)) } ?? 0
    return count > 0 ? Array(6..<6 + min(count, 64)) : []
  }()

  /// Kept for the life of the process.
  @EventLoopActor private static var relay: LocalRelay?
}
