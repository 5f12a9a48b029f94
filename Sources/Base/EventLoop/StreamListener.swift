internal import CLibUV
internal import Glibc

// A listening socket with an accept loop of its own.
//
// libuv has one (`uv_listen`), but it accepts until the kernel says EAGAIN, and reports any other error through the
// same callback in the same loop, which the callback cannot leave. If descriptors run out, it closes one that it keeps
// in reserve and drops the connection. If the reserve is gone too, because another thread took the number meanwhile, or
// because memory and not the table is short, the loop never ends: one process at 100 % that serves no client. So libuv
// reports only that the socket is readable, and after a failure the listener rests: connections wait in the kernel,
// none is dropped, and the rest of the process continues.

/// A listening socket: a unix path or a TCP address.
@EventLoopActor
public final class StreamListener {
  /// Called when a connection could not be accepted, at most once per ``restMilliseconds``; after that time the
  /// listener tries again.
  public var onFault: (@EventLoopActor (LoopFault) -> Void)?

  private let descriptor: Int32
  private let path: String?
  /// Whether its file is its own to remove: that of an inherited one belongs to the program that opened it.
  private var ownsFile = true
  /// Path or address, for faults.
  private let name: String
  private var watcher: DescriptorWatcher?
  private let restTimer = LoopTimer()
  private var isOpen = true
  private let onConnection: @EventLoopActor (ByteStream) -> Void

  /// Longest unix socket path in UTF-8 bytes: `sun_path` less its NUL.
  public static let pathByteCountMaximum = 107
  /// Connections that the kernel holds until they are accepted.
  public static let backlog: Int32 = 512
  /// How long the listener accepts nothing after a failure, in milliseconds.
  public static let restMilliseconds: UInt64 = 200
  /// The most connections accepted in one turn of the loop; the others wait for the next.
  private static let acceptMaximum = 64

  /// Listens on a unix socket that does not exist yet. The caller is responsible for the directory, the lock and the
  /// umask.
  public convenience init(
    path: String, onConnection: @escaping @EventLoopActor (ByteStream) -> Void
  ) throws(LoopFault) {
    try self.init(path: path, begin: listen, onConnection: onConnection)
  }

  /// Sockets that listened when the process began, and that no listener has taken yet.
  private static var inherited: [Int32] = []

  /// Takes sockets that the process was started with, as by a service manager that opens them before it: a listener at
  /// the address of one takes that socket instead of opening its own. Descriptors that do not listen are left alone.
  public static func inherit(_ descriptors: [Int32]) {
    for descriptor in descriptors {
      var (listens, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
      guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens != 0 else { continue }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
      inherited.append(descriptor)
    }
  }

  /// Whether an inherited socket at this path waits for its listener.
  public static func hasInherited(path: String) -> Bool { inherited.contains { Self.path(of: $0) == path } }

  private static func takeInherited(where isMeant: (Int32) -> Bool) -> Int32? {
    inherited.firstIndex(where: isMeant).map { inherited.remove(at: $0) }
  }

  /// The path of a unix socket; nil for another.
  private static func path(of descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
    return withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// The same with another `listen`, for a test in which it fails.
  init(
    path: String, begin: (Int32, Int32) -> Int32, onConnection: @escaping @EventLoopActor (ByteStream) -> Void
  ) throws(LoopFault) {
    guard path.utf8.count <= Self.pathByteCountMaximum else {
      throw LoopFault(
        code: UV_ENAMETOOLONG.rawValue,
        doing: "listen on \(path) (\(path.utf8.count) bytes; a socket's path has at most \(Self.pathByteCountMaximum))")
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    name = path
    if let taken = Self.takeInherited(where: { Self.path(of: $0) == path }) {
      descriptor = taken
      self.path = path
      self.onConnection = onConnection
      ownsFile = false
      try watch()
      return
    }
    descriptor = try withUnsafePointer(to: &address) { pointer throws(LoopFault) in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(LoopFault) in
        try Self.open(
          AF_UNIX, address, socklen_t(MemoryLayout<sockaddr_un>.size), doing: "listen on \(path)", begin: begin)
      }
    }
    self.path = path
    self.onConnection = onConnection
    try watch()
  }

  /// Listens on a TCP address; port 0 lets the kernel choose (see ``port``).
  public init(address: SocketAddress, onConnection: @escaping @EventLoopActor (ByteStream) -> Void) throws(LoopFault) {
    name = "\(address)"
    if let taken = Self.takeInherited(where: { SocketAddress(localEndOf: $0) == address }) {
      (descriptor, path, ownsFile) = (taken, nil, false)
      self.onConnection = onConnection
      try watch()
      return
    }
    let made = address.withSocketAddress { pointer -> Result<Int32, LoopFault> in
      let count = address.isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
      do throws(LoopFault) {
        return .success(
          try Self.open(
            address.isIPv6 ? AF_INET6 : AF_INET, pointer, socklen_t(count), doing: "listen on \(address)"))
      } catch { return .failure(error) }
    }
    descriptor = try made.get()
    path = nil
    self.onConnection = onConnection
    try watch()
  }

  isolated deinit { close() }

  private static func open(
    _ family: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, doing: String,
    begin: (Int32, Int32) -> Int32 = listen
  ) throws(LoopFault) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { throw LoopFault(code: -errno, doing: doing) }
    var one: Int32 = 1
    // As servers usually do: an address whose last connections are closing can be used. Unix sockets ignore it.
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    // `::` does not include 0.0.0.0, whatever the machine's setting: a configuration for both names both.
    if family == AF_INET6 {
      setsockopt(
        descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<Int32>.size))
    }
    guard bind(descriptor, address, length) == 0 else {
      let code = -errno
      Glibc.close(descriptor)
      throw LoopFault(code: code, doing: doing)
    }
    guard begin(descriptor, backlog) == 0 else {
      let code = -errno
      Glibc.close(descriptor)
      // `bind` created the file: it is ours, and would block the next listener.
      if family == AF_UNIX { removeFile(of: address) }
      throw LoopFault(code: code, doing: doing)
    }
    return descriptor
  }

  private static func removeFile(of address: UnsafePointer<sockaddr>) {
    address.withMemoryRebound(to: sockaddr_un.self, capacity: 1) { address in
      _ = withUnsafeBytes(of: address.pointee.sun_path) { path in
        path.bindMemory(to: CChar.self).baseAddress.map { unlink($0) }
      }
    }
  }

  private func watch() throws(LoopFault) {
    do throws(LoopFault) {
      watcher = try DescriptorWatcher(descriptor: descriptor) { [unowned self] in acceptAll() }
    } catch {
      close()
      throw error
    }
  }

  /// The TCP port; nil for a unix socket.
  public var port: UInt16? {
    guard path == nil, isOpen else { return nil }
    return SocketAddress(localEndOf: descriptor)?.port
  }

  /// Stops listening. A unix socket's file is removed, unless the socket was inherited.
  public func close() {
    guard isOpen else { return }
    isOpen = false
    watcher?.close()
    watcher = nil
    restTimer.cancel()
    Glibc.close(descriptor)
    if let path, ownsFile { unlink(path) }
  }

  // MARK: Accepting

  private func acceptAll() {
    for _ in 0..<Self.acceptMaximum {
      // The owner's first handling of a connection may close this listener.
      guard isOpen else { return }
      let connection = accept(descriptor, nil, nil)
      if connection >= 0 {
        // accept4 is missing from Swift's C library module. That is safe, since only this thread starts processes.
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        guard accepted(connection) else { return }
        continue
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EAGAIN: return
      case let code: return rest(LoopFault(code: -code, doing: "accept a connection on \(name)"))
      }
    }
  }

  /// Makes the connection a stream. False if that fails: then the connection is closed, and the listener rests.
  private func accepted(_ connection: Int32) -> Bool {
    do throws(LoopFault) {
      onConnection(path == nil ? try ByteStream(acceptedTCP: connection) : try ByteStream(descriptor: connection))
      return true
    } catch {
      rest(error)
      return false
    }
  }

  /// Descriptors or memory are short: they become free when a client disconnects, and no event reports that.
  private func rest(_ fault: LoopFault) {
    watcher?.pause()
    restTimer.set(afterMilliseconds: Self.restMilliseconds) { [unowned self] in watcher?.resume() }
    onFault?(fault)
  }
}
