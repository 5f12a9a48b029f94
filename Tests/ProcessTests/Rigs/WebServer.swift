import LinuxSystem
import TestSupport

/// `Tests/Peers/http_peer.py` over TLS, running until this is gone, or the test process is.
final class WebServer {
  /// `https://localhost:34567`
  let url: String
  private let process: SpawnedProcess
  private let input: DescriptorPair

  /// - Parameters:
  ///   - certificate: its name among the tests' certificates.
  ///   - names: the file of names (NIP-05) that it sends.
  init(_ certificate: String, names: String? = nil) throws {
    input = try Descriptors.pipe()
    process = try SpawnedProcess(
      "/usr/bin/python3",
      [SharedFolder.repository + "/Tests/Peers/http_peer.py", try TestCertificates.path(certificate)]
        + (names.map { [$0] } ?? []),
      descriptors: [0: input.first])
    url = "https://localhost:" + (try process.readLine { $0.allSatisfy(\.isNumber) })
  }

  deinit {
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }
}
