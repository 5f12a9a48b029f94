import Glibc

/// A connection of HTTP/1.1 that stays open, one request at a time.
final class Line {
  let descriptor: Int32
  /// The number of the request that is to be answered; nil while it is idle.
  private(set) var number: Int?
  /// When it was due, nanoseconds.
  private(set) var due: UInt64 = 0
  private var received: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 16 << 10)

  init(port: UInt16) throws(LoadFault) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let (descriptor, length) = (descriptor, socklen_t(MemoryLayout<sockaddr_in>.size))
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
    }
    guard code == 0 else { throw LoadFault("nobody listens at port \(port)") }
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  /// Sends a request. It is short, so that a socket takes all of it at once.
  func ask(_ request: [UInt8], number: Int, due: UInt64) throws(LoadFault) {
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw LoadFault("the relay closed a connection")
    }
    self.number = number
    self.due = due
  }

  /// Reads what has come; the status, once the answer is whole.
  func take() throws(LoadFault) -> Int? {
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    guard count > 0 else {
      if count < 0, errno == EAGAIN { return nil }
      throw LoadFault("the relay closed a connection")
    }
    received.append(contentsOf: buffer[..<count])
    guard let end = Self.end(of: received) else { return nil }
    let status = received[9...11].reduce(0) { 10 * $0 + Int($1) - 0x30 }
    received.removeFirst(end)
    number = nil
    return status
  }

  /// Where a whole answer ends: after its head, and as many bytes as `content-length` says.
  private static func end(of bytes: [UInt8]) -> Int? {
    let name = Array("content-length: ".utf8)
    var (length, line) = (0, 0)
    for index in bytes.indices where bytes[index] == 0x0A {
      if index - line <= 1 { return bytes.count >= index + 1 + length ? index + 1 + length : nil }
      let isLength =
        index - line > name.count && zip(bytes[line...], name).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
      if isLength {
        length = bytes[(line + name.count)..<index].reduce(0) {
          (0x30...0x39).contains($1) ? 10 * $0 + Int($1) - 0x30 : $0
        }
      }
      line = index + 1
    }
    return nil
  }
}
