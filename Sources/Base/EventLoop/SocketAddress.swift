public import Addresses
internal import CLibUV
internal import Glibc

/// An IPv4 or IPv6 address with a port.
public struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  private var bytes: [UInt8]

  /// Parses a literal address (`127.0.0.1`, `::1`); nil if it is not one. For names use ``resolve(host:port:)``.
  public init?(literal: String, port: UInt16) {
    var four = sockaddr_in()
    if uv_ip4_addr(literal, Int32(port), &four) == 0 {
      bytes = withUnsafeBytes(of: &four) { Array($0) }
      return
    }
    var six = sockaddr_in6()
    guard uv_ip6_addr(literal, Int32(port), &six) == 0 else { return nil }
    bytes = withUnsafeBytes(of: &six) { Array($0) }
  }

  /// An address with a port.
  public init(_ address: IPAddress, port: UInt16) {
    guard let made = SocketAddress(literal: address.description, port: port) else {
      preconditionFailure("an address can be read as it is written")
    }
    self = made
  }

  /// The address in a `sockaddr`, copied; nil if it is neither IPv4 nor IPv6.
  public init?(sockaddr address: UnsafeRawPointer?) { self.init(address?.assumingMemoryBound(to: sockaddr.self)) }

  init?(_ address: UnsafePointer<sockaddr>?) {
    guard let address else { return nil }
    let count: Int
    switch Int32(address.pointee.sa_family) {
    case AF_INET: count = MemoryLayout<sockaddr_in>.size
    case AF_INET6: count = MemoryLayout<sockaddr_in6>.size
    default: return nil
    }
    bytes = Array(UnsafeRawBufferPointer(start: address, count: count))
  }

  init?(localEndOf descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let made = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> SocketAddress? in
        getsockname(descriptor, address, &length) == 0 ? SocketAddress(UnsafePointer(address)) : nil
      }
    }
    guard let made else { return nil }
    self = made
  }

  /// The other end of a connected TCP socket; nil once it is disconnected.
  init?(remoteEndOf descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let made = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> SocketAddress? in
        getpeername(descriptor, address, &length) == 0 ? SocketAddress(UnsafePointer(address)) : nil
      }
    }
    guard let made else { return nil }
    self = made
  }

  /// Whether it is an IPv6 address.
  public var isIPv6: Bool { bytes.count == MemoryLayout<sockaddr_in6>.size }

  /// The port, in the machine's byte order.
  public var port: UInt16 { UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }

  /// The address without its port.
  public var address: IPAddress {
    guard let address = IPAddress(octets: isIPv6 ? bytes[8..<24] : bytes[4..<8]) else {
      preconditionFailure("both kinds of sockaddr hold an address")
    }
    return address
  }

  /// The network an address belongs to, judged by its bytes: a whole IPv4 address (also one carried in IPv6, as
  /// `::ffff:0:0/96`), and the first 8 bytes of an IPv6 address, since the owner of one address there has 2^64.
  public var network: [UInt8] {
    let own = address.unmapped
    return own.isVersion6 ? Array(own.octets[..<8]) : own.octets
  }

  /// The address without its port, in the usual notation.
  public var host: String { address.description }

  /// `127.0.0.1:7777` or `[::1]:7777`.
  public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  func withSocketAddress<Value>(_ body: (UnsafePointer<sockaddr>) -> Value) -> Value {
    var storage = sockaddr_storage()
    return withUnsafeMutableBytes(of: &storage) { memory in
      memory.copyBytes(from: bytes)
      return memory.withMemoryRebound(to: sockaddr.self) { addresses in
        guard let base = addresses.baseAddress else { preconditionFailure("a sockaddr_storage has an address") }
        return body(UnsafePointer(base))
      }
    }
  }

  /// Resolves a name with the system's resolver, on the thread pool. At most 16 addresses, in the resolver's order.
  ///
  /// The system's resolver cannot be interrupted: when the caller stops waiting, one thread of the pool stays busy
  /// until the resolver's own timeout.
  @EventLoopActor
  public static func resolve(host: String, port: UInt16) async throws(LoopFault) -> [SocketAddress] {
    if let literal = SocketAddress(literal: host, port: port) { return [literal] }
    let lookup = Lookup(host: host, port: port)
    let result = await withCheckedContinuation { lookup.start($0) }
    return try result.get()
  }

  /// The most addresses taken from one answer.
  static let answerMaximum = 16
}

@EventLoopActor
private final class Lookup {
  private let host: String
  private let port: UInt16
  private let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
  private var continuation: CheckedContinuation<Result<[SocketAddress], LoopFault>, Never>?

  init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  func start(_ continuation: CheckedContinuation<Result<[SocketAddress], LoopFault>, Never>) {
    self.continuation = continuation
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_family = AF_UNSPEC
    // The request keeps this object until its callback.
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let status = uv_getaddrinfo(
      EventLoop.process.raw, request,
      { request, status, answer in
        EventLoopActor.assumeOnLoop {
          guard let data = request?.pointee.data else { return }
          Unmanaged<Lookup>.fromOpaque(data).takeRetainedValue().finish(status, answer)
        }
      }, host, String(port), &hints)
    if status < 0 {
      Unmanaged.passUnretained(self).release()
      finish(status, nil)
    }
  }

  private func finish(_ status: Int32, _ answer: UnsafeMutablePointer<addrinfo>?) {
    defer { request.deallocate() }
    defer { if let answer { uv_freeaddrinfo(answer) } }
    guard status == 0 else {
      continuation?.resume(returning: .failure(LoopFault(code: status, doing: "look up \(host)")))
      return
    }
    var addresses: [SocketAddress] = []
    var next = answer
    while let entry = next, addresses.count < SocketAddress.answerMaximum {
      if let address = SocketAddress(UnsafePointer(entry.pointee.ai_addr)) { addresses.append(address) }
      next = entry.pointee.ai_next
    }
    continuation?.resume(returning: .success(addresses))
  }
}
