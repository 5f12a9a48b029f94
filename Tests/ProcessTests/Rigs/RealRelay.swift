import Glibc
import LinuxSystem
import Nostr
import TestSupport

/// `Tests/Peers/local_relay.py`, nostr-sdk's LocalRelay, running until this is gone: a relay by other people.
final class RealRelay {
  let url: String
  private let process: SpawnedProcess
  private let input: DescriptorPair

  /// With these events; `cap` is the most that it sends to one filter.
  convenience init(
    _ events: [Event], in directory: TemporaryDirectory, _ name: String, cap: Int = 200
  ) throws {
    let path = directory.path + "/\(name).jsonl"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(events.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined(), to: descriptor)
    Descriptors.close(descriptor)
    try self.init("--cap", "\(cap)", path)
  }

  init(_ arguments: String...) throws {
    input = try Descriptors.pipe()
    process = try SpawnedProcess(
      PythonPeer.interpreter, [SharedFolder.repository + "/Tests/Peers/local_relay.py"] + arguments,
      environment: ["PYTHONUNBUFFERED=1", "RUST_LOG=error"], descriptors: [0: input.first])
    // It reads all its events first.
    url = try process.readLine(within: 120) { $0.hasPrefix("ws://") }
  }

  /// Ends it at once, as if its machine had failed.
  func kill() { process.send(SIGKILL) }

  /// It answers nothing, and its connections stay.
  func hang() { process.send(SIGSTOP) }

  /// It goes on where it was.
  func wake() { process.send(SIGCONT) }

  deinit {
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }
}
