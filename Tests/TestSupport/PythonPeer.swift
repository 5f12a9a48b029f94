public import EventLoop
import Glibc

/// A program under `Tests/Peers/`, run by the repository's Python environment: a real peer by other people.
///
/// It says where it is reached in its first line, and ends when its standard input does.
@EventLoopActor
public final class PythonPeer {
  /// The environment's interpreter, where `Scripts/python-environment.sh` puts it.
  public nonisolated static let interpreter = SharedFolder.repository + "/.venv/bin/python"
  /// Whether the environment is there; tests with a peer are skipped when it is not.
  public nonisolated static var isAvailable: Bool { access(interpreter, X_OK) == 0 }

  /// The first line it printed.
  public private(set) var greeting = ""
  private var child: ChildProcess?
  private var exit: ChildExit?
  private var output: ByteStream?
  private var inputDescriptor: Int32 = -1

  /// Starts `Tests/Peers/<script>` and waits for its greeting.
  public init(_ script: String, _ arguments: [String] = []) async throws {
    var input: [Int32] = [-1, -1]
    var output: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &input) == 0, socketpair(AF_UNIX, kind, 0, &output) == 0 else {
      throw LoopFault(code: -errno, doing: "make sockets for \(script)")
    }
    inputDescriptor = input[1]
    child = try ChildProcess(
      path: Self.interpreter, arguments: [SharedFolder.repository + "/Tests/Peers/" + script] + arguments,
      environment: ["PYTHONUNBUFFERED=1", "RUST_LOG=error"], descriptors: [input[0], output[1], STDERR_FILENO]
    ) { [weak self] exit in self?.exit = exit }
    Glibc.close(input[0])
    Glibc.close(output[1])
    let stream = try ByteStream(descriptor: output[0])
    self.output = stream
    stream.onInput = { [weak self] bytes in
      guard let self, greeting.isEmpty else { return bytes.count }
      guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return 0 }
      greeting = String(decoding: bytes[..<end], as: UTF8.self)
      return bytes.count
    }
    stream.startReading()
    try await eventually(within: 60, "\(script) says where it is") { !greeting.isEmpty || exit != nil }
    if let exit { throw DeadlinePassed(description: "\(script) ended at once: \(exit)") }
  }

  /// Ends it at once, as if its machine had failed.
  public func kill() { child?.signal(SIGKILL) }

  /// Ends its standard input: it may take its leave as it likes.
  public func endInput() {
    if inputDescriptor >= 0 { Glibc.close(inputDescriptor) }
    inputDescriptor = -1
  }

  /// Ends it and waits until it is gone.
  public func stop() async throws {
    endInput()
    child?.signal(SIGTERM)
    try await eventually("the peer is gone") { exit != nil }
    output?.close()
  }
}
