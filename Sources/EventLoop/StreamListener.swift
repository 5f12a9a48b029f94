internal import CLibUV

/// A listening socket: a unix path or a TCP address.
@EventLoopActor
public final class StreamListener {
  private enum Transport {
    case pipe(Handle<uv_pipe_t>)
    case tcp(Handle<uv_tcp_t>)
  }
  private let transport: Transport
  private var isOpen = true
  private let onConnection: @EventLoopActor (ByteStream) -> Void

  /// Longest unix socket path in UTF-8 bytes: `sun_path` less its NUL. libuv 1.44 cuts longer ones silently and binds
  /// another name.
  public static let pathByteCountMaximum = 107
  /// Connections the kernel holds until they are accepted.
  public static let backlog: Int32 = 512

  /// Listens on a unix socket that does not exist yet. The caller sees to the directory, the lock and the umask.
  public init(path: String, onConnection: @escaping @EventLoopActor (ByteStream) -> Void) throws(LoopFault) {
    guard path.utf8.count <= Self.pathByteCountMaximum else {
      throw LoopFault(
        code: UV_ENAMETOOLONG.rawValue,
        doing: "listen on \(path) (\(path.utf8.count) bytes; a socket's path has at most \(Self.pathByteCountMaximum))")
    }
    let handle = Handle<uv_pipe_t>()
    uv_pipe_init(EventLoop.process.raw, handle.raw, 0)
    transport = .pipe(handle)
    self.onConnection = onConnection
    handle.setOwner(self)
    try bindAndListen(handle.stream, "listen on \(path)") { uv_pipe_bind(handle.raw, path) }
  }

  /// Listens on a TCP address; port 0 lets the kernel choose (see ``port``).
  public init(address: SocketAddress, onConnection: @escaping @EventLoopActor (ByteStream) -> Void) throws(LoopFault) {
    let handle = Handle<uv_tcp_t>()
    uv_tcp_init(EventLoop.process.raw, handle.raw)
    transport = .tcp(handle)
    self.onConnection = onConnection
    handle.setOwner(self)
    try bindAndListen(handle.stream, "listen on \(address)") {
      address.withSocketAddress { uv_tcp_bind(handle.raw, $0, 0) }
    }
  }

  isolated deinit { close() }

  private func bindAndListen(
    _ stream: UnsafeMutablePointer<uv_stream_t>, _ doing: String, _ bind: () -> Int32
  ) throws(LoopFault) {
    var status = bind()
    if status == 0 {
      status = uv_listen(stream, Self.backlog) { server, status in
        EventLoopActor.assumeOnLoop {
          guard status == 0 else { return }
          owner(of: server?.pointee.data, as: StreamListener.self)?.accept()
        }
      }
    }
    if status < 0 {
      close()
      throw LoopFault(code: status, doing: doing)
    }
  }

  /// The TCP port; nil for a unix socket.
  public var port: UInt16? {
    guard case .tcp(let handle) = transport, isOpen else { return nil }
    return SocketAddress(localEndOf: handle)?.port
  }

  /// Stops listening. A unix socket's file is removed.
  public func close() {
    guard isOpen else { return }
    isOpen = false
    switch transport {
    case .pipe(let handle): handle.close()
    case .tcp(let handle): handle.close()
    }
  }

  private func accept() {
    switch transport {
    case .pipe(let server):
      let client = Handle<uv_pipe_t>()
      uv_pipe_init(EventLoop.process.raw, client.raw, 0)
      guard uv_accept(server.stream, client.stream) == 0 else {
        client.close()
        return
      }
      onConnection(ByteStream(pipe: client))
    case .tcp(let server):
      let client = Handle<uv_tcp_t>()
      uv_tcp_init(EventLoop.process.raw, client.raw)
      guard uv_accept(server.stream, client.stream) == 0 else {
        client.close()
        return
      }
      uv_tcp_nodelay(client.raw, 1)
      onConnection(ByteStream(tcp: client))
    }
  }
}
