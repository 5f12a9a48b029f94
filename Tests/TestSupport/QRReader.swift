import Glibc
import LinuxSystem

/// What zxing-cpp reads of a QR code on a terminal.
public enum QRReader {
  /// Whether the Python environment has it; tests are skipped when it does not.
  public static let isAvailable: Bool = {
    guard PythonPeer.isAvailable,
      let process = try? SpawnedProcess(PythonPeer.interpreter, ["-c", "import zxingcpp"])
    else { return false }
    _ = try? process.readAllOutput()
    return (try? process.waitForEnd()) == .exited(0)
  }()

  /// The lines that `Tests/Peers/qr_reader.py` prints: the format and the text of each code.
  ///
  /// - Parameters:
  ///   - shown: what was written to the terminal.
  ///   - isGroundLight: whether letters are dark on a light ground where no colours are painted.
  public static func read(_ shown: String, isGroundLight: Bool = false) throws -> [String] {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/shown"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(shown, to: descriptor)
    Descriptors.close(descriptor)
    let process = try SpawnedProcess(
      PythonPeer.interpreter,
      [SharedFolder.repository + "/Tests/Peers/qr_reader.py", path] + (isGroundLight ? ["--light"] : []))
    let output = try process.readAllOutput()
    _ = try process.waitForEnd()
    return output.split(separator: "\n").map(String.init)
  }
}
