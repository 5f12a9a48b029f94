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
    url = try process.readLine { $0.hasPrefix("ws://") || $0.hasPrefix("wss://") }
  }

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
