import Clocks
import EventLoop
import LinuxSystem
import TestSupport
import WebSocket

@testable import TLS

// @unchecked: the process is touched by the test's own steps only, one after the other.

/// `Tests/Peers/tls_peer.py`, running until this is gone, or the test process is.
final class TLSPeer: @unchecked Sendable {
  let port: UInt16
  private let process: SpawnedProcess
  private let input: DescriptorPair

  /// Starts it with a mode and options; `certificate` is one of ``TestCertificates``.
  init(_ mode: String, _ certificate: String? = "good", _ options: String...) throws {
    let script = SharedFolder.repository + "/Tests/Peers/tls_peer.py"
    input = try Descriptors.pipe()
    let path = try certificate.map { [try TestCertificates.path($0)] } ?? []
    process = try SpawnedProcess(
      "/usr/bin/python3", [script, mode] + path + options, descriptors: [0: input.first])
    port = UInt16(try process.readLine { $0.allSatisfy(\.isNumber) }) ?? 0
  }

  deinit {
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }

  /// Waits until it prints a line.
  func awaitLine(_ line: String) throws { _ = try process.readLine { $0 == line } }

  /// A connection to it, encrypted. It does not read yet.
  @EventLoopActor
  func secure(
    host: String = "localhost", authority: String? = "authority", milliseconds: UInt64 = 20_000,
    outputLimit: Int = 64 << 20
  ) async throws -> Plaintext {
    let address = SocketAddress(literal: "127.0.0.1", port: port)
    guard let address else { throw DeadlinePassed(description: "no address") }
    let client = try TLSClient(authorityFile: try authority.map { try TestCertificates.path($0) })
    let deadline = EventLoop.process.now.advanced(milliseconds: milliseconds)
    let stream = try await ByteStream.connect(to: address, deadline: deadline)
    stream.outputLimit = outputLimit
    let endpoint = WebSocketEndpoint(host: host, port: port, isSecure: true)
    return Plaintext(try await client.secure(stream, to: endpoint, deadline: deadline))
  }
}

/// What a consumer of an encrypted stream was told.
@EventLoopActor
final class Plaintext {
  let transport: any ByteTransport
  private(set) var bytes: [UInt8] = []
  private(set) var ends: [LoopFault?] = []
  /// How many of the bytes that are offered are used; all without it.
  var appetite: (Int) -> Int = { $0 }
  /// Called after bytes were taken.
  var onBytes: (@EventLoopActor () -> Void)?

  init(_ transport: any ByteTransport) {
    self.transport = transport
    transport.onInput = { [unowned self] input in
      let count = appetite(input.count)
      bytes += input[..<count]
      onBytes?()
      return count
    }
    transport.onEnd = { [unowned self] fault in ends.append(fault) }
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { transport.write($0) } }
  func send(_ text: String) { send(Array(text.utf8)) }
}
