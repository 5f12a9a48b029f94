import Glibc
import LinuxSystem
import TestSupport

/// `Tests/Peers/endless_relay.py`, running until this is gone, or the test process is.
final class SimpleRelay {
  let url: String
  private let process: SpawnedProcess
  private let input: DescriptorPair

  init(_ arguments: String...) throws {
    let script = SharedFolder.repository + "/Tests/Peers/endless_relay.py"
    input = try Descriptors.pipe()
    process = try SpawnedProcess("/usr/bin/python3", [script] + arguments, descriptors: [0: input.first])
    url = try process.readLine { $0.hasPrefix("ws://") }
  }

  deinit {
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }
}

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

extension Layout {
  /// A real relay-connector of these relays, a TOML list, with further settings.
  static func connector(_ relays: String, _ settings: [String: String] = [:]) -> Layout {
    var worker = Worker(name: "relays")
    worker.keys = [
      "role": "\"relay-connector\"", "program": "\"\(SpawnedProcess.builtProgram("relay-connector"))\"",
      "relays": relays,
    ]
    worker.keys.merge(settings) { _, new in new }
    return Layout(workers: [worker])
  }
}
