internal import CLinux
internal import Glibc

// Which user's process is at the other end of a TCP connection of this machine. For a unix socket the kernel records it
// (PeerCredentials); for TCP it answers through sock_diag(7), queried by the connection's addresses and ports:
//
//     request     ┌ nlmsghdr 16 ┬ family protocol 0 0 ┬ states ┬ sport dport src[16] dst[16] if cookie[8] ┐   72 bytes
//     answer      ┌ nlmsghdr 16 ┬ family state 0 0    ┬ sport dport src[16] dst[16] if cookie[8] ┬ expires
//                   rqueue wqueue ┬ uid ┬ inode ┐                                                          88 bytes
//
// Numbers are in the machine's byte order, ports and addresses in the network's. The kernel answers during the call, so
// a look-up takes microseconds and never waits. The query is made at accept: then the other end is the process that
// connected; later it may be closed, and another process may have its port.
//
// What must not be trusted: a row without an inode, which is a socket that its process has closed (its uid reads 0);
// the row of a listener, which the kernel returns if it finds no connection; and the row of another connection.
//
// Rejected: reading /proc/net/tcp, which takes as long as there are connections, for each one.

/// The owner of the other end of a connection.
public enum SocketOwner: Hashable, Sendable {
  /// A process of this user.
  case user(UInt32)
  /// Unknown: the end was closed, the kernel does not say, or it is on another machine.
  case unknown
}

/// A TCP connection seen from one end: its own address and port, then the other's.
public struct SocketPair: Hashable, Sendable {
  /// The address of the end that is queried: 4 bytes or 16; an IPv4 address in IPv6 form counts as IPv4.
  let near: [UInt8]
  let nearPort: UInt16
  let far: [UInt8]
  let farPort: UInt16

  /// A connection; nil if the addresses are of different kinds, or not 4 or 16 bytes.
  public init?(near: [UInt8], nearPort: UInt16, far: [UInt8], farPort: UInt16) {
    self.near = Self.unmapped(near)
    self.far = Self.unmapped(far)
    self.nearPort = nearPort
    self.farPort = farPort
    guard self.near.count == self.far.count, self.near.count == 4 || self.near.count == 16 else { return nil }
  }

  private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

  static func unmapped(_ address: [UInt8]) -> [UInt8] {
    address.count == 16 && address.starts(with: mappedPrefix) ? Array(address[12...]) : address
  }

  // MARK: Asking

  static let answerByteCount = 88
  private static let requestByteCount: UInt32 = 72
  /// SOCK_DIAG_BY_FAMILY.
  private static let byFamily: UInt16 = 20

  /// The query for the near end.
  func request(sequence: UInt32) -> [UInt8] {
    func native<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
    func padded(_ address: [UInt8]) -> [UInt8] { address + [UInt8](repeating: 0, count: 16 - address.count) }
    var bytes = native(Self.requestByteCount) + native(Self.byFamily)
    bytes += native(UInt16(1)) + native(sequence) + native(UInt32(0))  // NLM_F_REQUEST, to the kernel
    bytes += [UInt8(near.count == 4 ? AF_INET : AF_INET6), UInt8(IPPROTO_TCP), 0, 0] + native(UInt32.max)
    bytes += native(nearPort.bigEndian) + native(farPort.bigEndian) + padded(near) + padded(far)
    return bytes + native(UInt32(0)) + native(UInt64.max)  // any interface, no cookie
  }

  /// The owner of the near end according to an answer; nil if the answer belongs to another query.
  func owner(in answer: UnsafeRawBufferPointer, sequence: UInt32) -> SocketOwner? {
    func number<Value: FixedWidthInteger>(_ type: Value.Type, _ offset: Int) -> Value {
      answer.loadUnaligned(fromByteOffset: offset, as: type)
    }
    guard answer.count >= 16, number(UInt32.self, 8) == sequence else { return nil }
    guard answer.count >= Self.answerByteCount, number(UInt32.self, 0) >= UInt32(Self.answerByteCount),
      number(UInt16.self, 4) == Self.byFamily
    else { return .unknown }
    let byteCount: Int
    switch Int32(answer[16]) {
    case AF_INET: byteCount = 4
    case AF_INET6: byteCount = 16
    default: return .unknown
    }
    func address(_ offset: Int) -> [UInt8] { Self.unmapped(Array(answer[offset..<offset + byteCount])) }
    guard number(UInt16.self, 20).bigEndian == nearPort, number(UInt16.self, 22).bigEndian == farPort,
      address(24) == near, address(40) == far, Self.connected.contains(answer[17]), number(UInt32.self, 84) != 0
    else { return .unknown }
    return .user(number(UInt32.self, 80))
  }

  /// ESTABLISHED, FIN_WAIT1, FIN_WAIT2 and CLOSE_WAIT: both ends have sent, and the near one may be open.
  private static let connected: Set<UInt8> = [1, 4, 5, 8]
}

/// Queries the kernel for the owners of the ends of connections.
///
/// Its socket must be opened before a sandbox that forbids new sockets, and is never closed.
public struct SocketOwners: Sendable {
  private let descriptor: Int32
  private var sequence: UInt32

  /// How many answers to earlier queries are skipped before a query is given up.
  private static let strayMaximum = 8

  /// Opens the socket.
  public init() throws(SystemFault) {
    descriptor = roost_socket_diagnosis()
    sequence = UInt32.random(in: 1...UInt32.max / 2)
    guard descriptor >= 0 else { throw SystemFault(call: "socket", subject: "NETLINK_SOCK_DIAG", code: -descriptor) }
  }

  /// For tests: queries this socket, and never closes it.
  init(asking descriptor: Int32) {
    self.descriptor = descriptor
    sequence = 0
  }

  /// Whether the kernel reports the owner of a connection. It may have the socket for queries but not the modules that
  /// look up connections (tcp_diag, inet_diag): then every answer is an error. So this queries a connection of this
  /// process, made over loopback for the purpose and closed again. Call it before a sandbox that forbids new sockets.
  ///
  /// - Returns: nil if no connection could be made.
  public mutating func tellsOwn() -> Bool? {
    let (listener, near) = (roost_socket_stream(), roost_socket_stream())
    defer { for descriptor in [listener, near] where descriptor >= 0 { close(descriptor) } }
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    guard Self.call(listener, &place, bind), listen(listener, 1) == 0, let port = Self.port(of: listener) else {
      return nil
    }
    place.sin_port = port.bigEndian
    let loopback: [UInt8] = [127, 0, 0, 1]
    guard Self.call(near, &place, connect), let nearPort = Self.port(of: near),
      let pair = SocketPair(near: loopback, nearPort: nearPort, far: loopback, farPort: port)
    else { return nil }
    return owner(of: pair) == .user(geteuid())
  }

  private static func call(
    _ descriptor: Int32, _ place: inout sockaddr_in,
    _ body: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) -> Bool {
    withUnsafeBytes(of: &place) { bytes in
      body(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
    }
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var place = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutableBytes(of: &place) { bytes in
      getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
    }
    return result == 0 ? UInt16(bigEndian: place.sin_port) : nil
  }

  /// The owner of the near end of a connection. Never waits.
  public mutating func owner(of pair: SocketPair) -> SocketOwner {
    sequence &+= 1
    let request = pair.request(sequence: sequence)
    guard send(descriptor, request, request.count, Int32(MSG_DONTWAIT)) == request.count else {
      return .unknown
    }
    var answer = [UInt8](repeating: 0, count: 1_024)
    for _ in 0..<Self.strayMaximum {
      let count = recv(descriptor, &answer, answer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return .unknown }
      let owner = answer.withUnsafeBytes { pair.owner(in: .init(rebasing: $0[..<count]), sequence: sequence) }
      if let owner { return owner }
    }
    return .unknown
  }
}
