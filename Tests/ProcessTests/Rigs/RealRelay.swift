import Glibc
import LinuxSystem
import TestSupport

/// `Tests/Peers/local_relay.py`, nostr-sdk's LocalRelay, running until this is gone: a relay by other people.
final class RealRelay {
  let url: String
  private let process: SpawnedProcess
  private let input: DescriptorPair

  init(_ arguments: String...) throws {
    input = try Descriptors.pipe()
    process = try SpawnedProcess(
      PythonPeer.interpreter, [SharedFolder.repository + "/Tests/Peers/local_relay.py"] + arguments,
      environment: ["PYTHONUNBUFFERED=1", "RUST_LOG=error"], descriptors: [0: input.first])
    url = try process.readLine { $0.hasPrefix("ws://") }
  }

  /// Ends it at once, as if its machine had failed.
  func kill() { process.send(SIGKILL) }

  deinit {
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }
}
