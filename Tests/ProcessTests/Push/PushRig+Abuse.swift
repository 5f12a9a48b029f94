import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Storage
import TestSupport
import Testing

/// One connection to a push relay that stays open, from an address of one's choice on the loopback.
final class PushLine {
  private let descriptor: Int32
  private var bytes: [UInt8] = []

  /// Connects.
  ///
  /// - Parameter address: the last two bytes of the own address, 127.0.`address`.
  init(port: UInt16, from address: UInt16 = 1) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw DeadlinePassed(description: "no descriptor is left") }
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let own = Self.with(0x7F00_0000 | UInt32(address), port: 0) { bind(descriptor, $0, $1) }
    let there = Self.with(0x7F00_0001, port: port) { connect(descriptor, $0, $1) }
    guard own == 0, there == 0 else { throw DeadlinePassed(description: "nobody listens at port \(port)") }
  }

  deinit { Descriptors.close(descriptor) }

  private static func with(
    _ address: UInt32, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = port.bigEndian
    place.sin_addr.s_addr = address.bigEndian
    return withUnsafePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  /// Sends bytes; what nobody takes any more is lost.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// The next answer; nil when the relay has closed, or cut, before it was whole.
  func answer() throws -> PushRig.Answer? {
    let mark = Array("\r\n\r\n".utf8)
    while true {
      if let end = bytes.firstRange(of: mark) {
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = field.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
        if bytes.count >= end.upperBound + length {
          let text = String(decoding: bytes[end.upperBound..<end.upperBound + length], as: UTF8.self)
          bytes.removeFirst(end.upperBound + length)
          return PushRig.Answer(
            status: Int(head.dropFirst(9).prefix(3)) ?? 0, head: head, text: text,
            json: (try? JSONPayload.decode(JSONValue.self, from: Array(text.utf8))) ?? .null)
        }
      }
      guard try more() else { return nil }
    }
  }

  /// Reads on until the relay closes the connection; at most a minute for each piece.
  func awaitEnd() throws { while try more() { bytes = [] } }

  /// Whether it is open, and nothing has come.
  var isOpen: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) < 0 && errno == EAGAIN
  }

  private func more() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN { throw DeadlinePassed(description: "the relay neither answers nor closes") }
    guard count > 0 else { return false }
    bytes += buffer[..<count]
    return true
  }
}

extension PushRig {
  static let health = "GET /v1/health HTTP/1.1\r\nHost: push.example\r\n\r\n"

  /// A request as bytes, for a connection that stays.
  static func request(_ method: String, _ path: String, _ body: [UInt8] = [], fields: [String] = []) -> [UInt8] {
    var lines = ["\(method) /v1\(path) HTTP/1.1", "Host: push.example"] + fields
    if !body.isEmpty { lines += ["Content-Type: application/json", "Content-Length: \(body.count)"] }
    return Array((lines + ["", ""]).joined(separator: "\r\n").utf8) + body
  }

  /// A signed request as bytes.
  static func signedRequest(
    _ key: Ed25519SecretKey, _ method: String, _ path: String, _ body: String = "", fields: [String] = []
  ) -> [UInt8] {
    let bytes = Array(body.utf8)
    return request(method, path, bytes, fields: signature(key, method, path, bytes) + fields)
  }

  static func name(_ key: Ed25519SecretKey) -> String { ZBase32.text(of: key.publicKey.octets) }

  /// A ticket, signed by `issuer`.
  static func ticket(
    by issuer: Ed25519SecretKey, for recipient: Ed25519SecretKey, holder: Ed25519SecretKey?, expiresAt: Int64
  ) -> String {
    let claims =
      #"{"v":1,"iss":"\#(name(recipient))","sub":"\#(holder.map(name) ?? "*")","exp":\#(expiresAt)}"#
    let encoded = Base64URL.text(of: Array(claims.utf8))
    return encoded + "." + Base64URL.text(of: issuer.sign(Array("pubky-push-ticket/1:\(encoded)".utf8)))
  }

  /// A wake with a ticket.
  func wake(
    _ recipient: Ed25519SecretKey, by sender: Ed25519SecretKey, type: String, ticket: String
  ) throws -> Answer {
    let body = Self.body(to: recipient, by: sender, type: type).dropLast() + #","ticket":"\#(ticket)"}"#
    return try signed(sender, "POST", "/wake", String(body))
  }

  /// Replaces the lists of a recipient.
  func contacts(
    of owner: Ed25519SecretKey, allow: [Ed25519SecretKey] = [], block: [Ed25519SecretKey] = [], policy: String = "open"
  ) throws {
    func list(_ keys: [Ed25519SecretKey]) -> String { keys.map { "\"\(Self.name($0))\"" }.joined(separator: ",") }
    let body = #"{"allow":[\#(list(allow))],"block":[\#(list(block))],"policy":"\#(policy)"}"#
    let answer = try signed(owner, "PUT", "/contacts", body)
    #expect(answer.status == 200, "\(answer.text)")
  }

  /// What nobody may tell apart: all that was answered, but for the wake's id and the clock.
  static func shape(_ answer: Answer) -> String {
    let head = answer.head.split(separator: "\r\n").filter { !$0.lowercased().hasPrefix("date:") }
    return head.joined(separator: "\n") + "\n" + answer.text.replacing(answer["wake_id"], with: "id")
  }

  /// The relay's process.
  func worker() throws -> pid_t { pid_t(try #require(try roost.worker("push-relay", client).pid)) }

  /// Descriptors of a process that are sockets or pipes or files, all of them.
  static func descriptorCount(of process: pid_t) -> Int {
    guard let folder = opendir("/proc/\(process)/fd") else { return 0 }
    defer { closedir(folder) }
    var count = -2
    while readdir(folder) != nil { count += 1 }
    return count
  }

  var database: String { roost.directory.path + "/state/push-relay/push.db" }

  /// Stops the relay in order, changes its file, and starts it again.
  func change(_ statements: String) throws {
    _ = try client.call("supervisor.stop", #"{"worker":"push-relay"}"#)
    try roost.awaitWorker("push-relay", "is stopped", client) { $0.pid == nil }
    if !statements.isEmpty {
      let file = try StorageFile(path: database, StorageSettings(durability: .full), migrations: [])
      try file.writeNow { try $0.execute(statements) }
      try file.close()
    }
    _ = try client.call("supervisor.start", #"{"worker":"push-relay"}"#)
    try roost.awaitWorker("push-relay", "is ready", within: 60, client) { $0.state == "ready" }
  }

  /// Waits until all that was accepted has ended, so that what has not come will not come.
  func awaitQuiet() throws {
    try awaitSoon("nothing is under way", within: 60) {
      let status = try status()
      return status.waiting == 0 && status.platforms.allSatisfy { $0.inFlight == 0 }
    }
  }
}
