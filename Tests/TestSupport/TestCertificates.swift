import Glibc
import Synchronization

/// Certificates for servers of tests, made by `Tests/Peers/certificates.sh` when the first test asks, and removed when
/// the test process ends.
public enum TestCertificates {
  private static let directory = Mutex<TemporaryDirectory?>(nil)

  /// The path of a server's certificate with its key behind it: `good`, `other`, `expired`, `future`, `self`,
  /// `stranger`, `named`, `home`, `renewed`, `video`; or of `authority`, to be trusted.
  public static func path(_ name: String) throws -> String {
    try directory.withLock { directory in
      if let directory { return directory.path + "/\(name).pem" }
      let made = try TemporaryDirectory()
      let process = try SpawnedProcess(SharedFolder.repository + "/Tests/Peers/certificates.sh", [made.path])
      guard try process.waitForEnd() == .exited(0) else {
        throw DeadlinePassed(description: "no certificates: \(try process.readAllOutput())")
      }
      directory = made
      atexit { TestCertificates.directory.withLock { $0 = nil } }
      return made.path + "/\(name).pem"
    }
  }
}
