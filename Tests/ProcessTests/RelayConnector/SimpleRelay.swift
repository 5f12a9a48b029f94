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
