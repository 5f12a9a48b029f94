import Glibc
import LinuxSystem

/// A program under `Tests/Peers/` that answers each line with a line, run by the repository's Python environment.
/// Blocks, for the same reason as ``SpawnedProcess``; a question and its answer take some 50 µs.
public final class LinePeer {
  private let process: SpawnedProcess
  private let socket: Int32
  private var received: [UInt8] = []

  /// Starts `Tests/Peers/<script>`.
  public init(_ script: String) throws {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw DeadlinePassed(description: "no sockets for \(script)")
    }
    defer { Descriptors.close(pair[1]) }
    process = try SpawnedProcess(
      PythonPeer.interpreter, [SharedFolder.repository + "/Tests/Peers/" + script],
      environment: ["PATH=/usr/bin:/bin", "RUST_LOG=error"], descriptors: [0: pair[1], 1: pair[1]])
    socket = pair[0]
  }

  deinit { Descriptors.close(socket) }

  /// Sends a line, which has no line end in it, and waits for the answer.
  public func ask(_ line: [UInt8], within seconds: Double = 60) throws -> [UInt8] {
    try send(line + [UInt8(ascii: "\n")])
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var searched = 0
    while true {
      if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeSubrange(...end) }
        return Array(received[..<end])
      }
      searched = received.count
      var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(seconds * 1_000)) > 0 else {
        throw DeadlinePassed(description: "no answer within \(seconds) s")
      }
      let count = read(socket, &buffer, buffer.count)
      guard count > 0 else {
        throw DeadlinePassed(description: "the peer has ended: \(try process.readAllOutput())")
      }
      received += buffer[..<count]
    }
  }

  private func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else {
        throw DeadlinePassed(description: "the peer has ended: \(try process.readAllOutput())")
      }
      rest = rest.dropFirst(count)
    }
  }
}
