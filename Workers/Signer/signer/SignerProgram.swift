import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logging
import Signing
import WorkerKit

/// `signer`: the only program that holds secret keys.
@main
enum SignerProgram {
  static func main() {
    // Also for a start by hand without a sandbox: a core dump or a later debugger must not reveal a key.
    let fault = harden()
    let paths = SignerPaths()
    Worker.main(
      role: .signer,
      profile: { _ in paths.profile }
    ) { worker throws(Refusal) in
      if let fault { worker.log.error("not hardened", metadata: ["why": "\(fault)"]) }
      let service = try SignerService(worker, paths)
      try await service.start()
      living = service
    }
  }

  private static func harden() -> SystemFault? {
    do throws(SystemFault) {
      try ProcessAttributes.setDumpable(false)
      try ResourceLimit.lower(.coreFile, to: 0)
      return nil
    } catch {
      return error
    }
  }

  /// Kept for the life of the process.
  @EventLoopActor private static var living: SignerService?
}

/// The signer's directories, from its environment.
struct SignerPaths: Sendable {
  /// This worker's directory in the state directory; nil when `roostd` did not set it.
  let state: String?
  /// The service manager's directory of credentials.
  let credentials: String?

  init() {
    func variable(_ name: String) -> String? {
      guard let value = getenv(name), value[0] == CChar(UInt8(ascii: "/")) else { return nil }
      return String(cString: value)
    }
    let name = getenv("ROOST_WORKER").map { String(cString: $0) } ?? Role.signer.name
    state = variable("ROOST_STATE").map { $0 + "/" + name }
    credentials = variable("CREDENTIALS_DIRECTORY")
    guard let state else { return }
    // The sandbox opens existing directories only. If this one cannot be made, opening the keys reports the fault.
    do throws(SystemFault) { try PrivateDirectory.ensure(state) } catch {}
  }

  /// Its permissions: to write in its own directory, and to read its credentials; no network, no programs.
  var profile: SandboxProfile {
    SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + [credentials].compactMap { $0 },
      writablePaths: [state].compactMap { $0 }, network: .none, maySpawn: false, dumpable: false)
  }
}
