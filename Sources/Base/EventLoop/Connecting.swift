public import Clocks
internal import CLibUV
internal import Glibc

extension ByteStream {
  /// Connects to a unix socket.
  ///
  /// - Throws: ENAMETOOLONG for more than 107 bytes, ENOENT or ECONNREFUSED if no process listens.
  public static func connect(path: String) async throws(LoopFault) -> ByteStream {
    guard path.utf8.count <= StreamListener.pathByteCountMaximum else {
      throw LoopFault(
        code: UV_ENAMETOOLONG.rawValue,
        doing: "connect to \(path) (\(path.utf8.count) bytes; at most \(StreamListener.pathByteCountMaximum))")
    }
    let handle = Handle<uv_pipe_t>()
    uv_pipe_init(EventLoop.process.raw, handle.raw, 0)
    let attempt = ConnectAttempt()
    let status = await attempt.run { request in
      uv_pipe_connect(request, handle.raw, path) { request, status in
        EventLoopActor.assumeOnLoop { ConnectAttempt.finish(request, status) }
      }
      return 0
    } abandon: {
    }
    if status < 0 {
      handle.close()
      throw LoopFault(code: status, doing: "connect to \(path)")
    }
    return ByteStream(pipe: handle)
  }

  /// The effective user id of the process at the other end of a unix socket, as the kernel recorded it when the
  /// connection was made; of a server, when it began to listen.
  public func peerUser() throws(LoopFault) -> UInt32 {
    // struct ucred: process, user, group. Its name is hidden from Swift without _GNU_SOURCE.
    var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
    var byteCount = socklen_t(MemoryLayout.size(ofValue: credentials))
    let status = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &byteCount)
    guard status == 0, byteCount == MemoryLayout.size(ofValue: credentials) else {
      throw LoopFault(code: -errno, doing: "ask who is at the other end of a socket")
    }
    return credentials.user
  }

  /// Connects to a TCP address. Nagle's algorithm is off, since the stream coalesces output itself.
  ///
  /// - Throws: ETIMEDOUT if `deadline` passes first, ECANCELED if the task is cancelled.
  public static func connect(to address: SocketAddress, deadline: Instant) async throws(LoopFault) -> ByteStream {
    let handle = Handle<uv_tcp_t>()
    uv_tcp_init(EventLoop.process.raw, handle.raw)
    let attempt = ConnectAttempt()
    let timer = LoopTimer()
    timer.set(at: deadline) { attempt.abandon(UV_ETIMEDOUT) }
    let status = await withTaskCancellationHandler {
      await attempt.run { request in
        address.withSocketAddress { socketAddress in
          uv_tcp_connect(request, handle.raw, socketAddress) { request, status in
            EventLoopActor.assumeOnLoop { ConnectAttempt.finish(request, status) }
          }
        }
      } abandon: {
        handle.close()
      }
    } onCancel: {
      EventLoopActor.task { attempt.abandon(UV_ECANCELED) }
    }
    timer.cancel()
    if let code = attempt.abandonment { throw LoopFault(code: code.rawValue, doing: "connect to \(address)") }
    if status < 0 {
      handle.close()
      throw LoopFault(code: status, doing: "connect to \(address)")
    }
    uv_tcp_nodelay(handle.raw, 1)
    return ByteStream(tcp: handle)
  }
}

/// One `uv_connect_t` and the task that waits for it. The request retains the attempt until libuv calls back; closing
/// the handle makes libuv call back with ECANCELED.
@EventLoopActor
private final class ConnectAttempt {
  private let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
  private var continuation: CheckedContinuation<Int32, Never>?
  private var onAbandon: (@EventLoopActor () -> Void)?
  /// Why the attempt was given up; nil if it was not.
  private(set) var abandonment: uv_errno_t?

  isolated deinit { request.deallocate() }

  func run(
    _ start: (UnsafeMutablePointer<uv_connect_t>) -> Int32, abandon: @escaping @EventLoopActor () -> Void
  ) async -> Int32 {
    onAbandon = abandon
    return await withCheckedContinuation { continuation in
      self.continuation = continuation
      request.pointee.data = Unmanaged.passRetained(self).toOpaque()
      let status = start(request)
      if status < 0 {
        Unmanaged.passUnretained(self).release()
        resume(status)
      }
    }
  }

  func abandon(_ why: uv_errno_t) {
    guard continuation != nil, abandonment == nil else { return }
    abandonment = why
    onAbandon?()
  }

  static func finish(_ request: UnsafeMutablePointer<uv_connect_t>?, _ status: Int32) {
    guard let data = request?.pointee.data else { return }
    Unmanaged<ConnectAttempt>.fromOpaque(data).takeRetainedValue().resume(status)
  }

  private func resume(_ status: Int32) {
    onAbandon = nil
    continuation?.resume(returning: status)
    continuation = nil
  }
}
