import Frames
import Glibc
import LinuxSystem
import TestSupport

/// A client of HTTP/1.1 on the loopback that asks once and reads what comes.
final class PlainClient {
  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = Self.loopback(port: port)
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw DeadlinePassed(description: "nobody listens at port \(port)") }
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { Descriptors.close(descriptor) }

  /// A port that was free a moment ago.
  static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { Descriptors.close(descriptor) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    guard code == 0 else { throw DeadlinePassed(description: "no port is free") }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// Sends a GET with these fields.
  func ask(_ path: String, port: UInt16, _ fields: [String] = []) throws {
    let lines = ["GET \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields + ["", ""]
    try Descriptors.writeAll(lines.joined(separator: "\r\n"), to: descriptor)
  }

  /// Sends bytes as they are.
  func send(_ bytes: [UInt8]) throws {
    let sent = bytes.withUnsafeBytes { bytes in
      Result<Void, any Error> { try Descriptors.writeAll(bytes, to: descriptor) }
    }
    try sent.get()
  }

  /// What comes until `end` is in it, or until the other side closes.
  func answer(until end: String? = nil) throws -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0 { throw DeadlinePassed(description: "no answer in 30 s") }
      bytes += buffer[..<count]
      let text = String(decoding: bytes, as: UTF8.self)
      if count == 0 || end.map(text.contains) == true { return text }
    }
  }

  /// The whole answer to one GET.
  static func get(_ path: String, port: UInt16) throws -> String {
    let client = try PlainClient(port: port)
    try client.ask(path, port: port, ["Connection: close"])
    return try client.answer()
  }

  /// A WebSocket that was accepted and says nothing.
  static func webSocket(port: UInt16, _ fields: [String]) throws -> PlainClient {
    let client = try PlainClient(port: port)
    let upgrade = [
      "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    try client.ask("/", port: port, upgrade + fields)
    _ = try client.answer(until: "101 Switching Protocols")
    return client
  }
}
