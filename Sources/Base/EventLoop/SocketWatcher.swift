internal import CLibUV

/// Calls back when a socket can be read or written: for libraries that do their own input and output, and need the
/// moment.
@EventLoopActor
public final class SocketWatcher {
  /// What a socket is ready for, or should be watched for.
  public struct Readiness: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int
    /// Takes these bits unchanged.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// There is something to read, or the other side has closed.
    public static let readable = Readiness(rawValue: 1)
    /// There is room to write, or a connection was made or refused.
    public static let writable = Readiness(rawValue: 2)
    /// The socket is broken; only reported, never requested.
    public static let broken = Readiness(rawValue: 4)
  }

  private let handle = Handle<uv_poll_t>()
  private let body: @EventLoopActor (Readiness) -> Void
  private var isOpen = true

  /// Watches for nothing until ``watch(for:)``. The caller keeps the socket, which becomes non-blocking. The socket
  /// must outlive the watcher, or ``close()`` must come first.
  public init(socket: Int32, _ body: @escaping @EventLoopActor (Readiness) -> Void) throws(LoopFault) {
    self.body = body
    let status = uv_poll_init(EventLoop.process.raw, handle.raw, socket)
    if status < 0 {
      handle.discard()
      isOpen = false
      throw LoopFault(code: status, doing: "watch descriptor \(socket)")
    }
    handle.setOwner(self)
  }

  isolated deinit { close() }

  /// Calls back from now on whenever one of these holds; replaces the earlier set. An empty set stops the watching.
  public func watch(for interest: Readiness) {
    guard isOpen else { return }
    var events: Int32 = 0
    if interest.contains(.readable) { events |= Int32(UV_READABLE.rawValue) }
    if interest.contains(.writable) { events |= Int32(UV_WRITABLE.rawValue) }
    if events == 0 {
      uv_poll_stop(handle.raw)
      return
    }
    uv_poll_start(handle.raw, events) { raw, status, events in
      EventLoopActor.assumeOnLoop {
        guard let watcher = owner(of: raw?.pointee.data, as: SocketWatcher.self) else { return }
        watcher.body(Readiness(status: status, events: events))
      }
    }
  }

  /// Stops watching. Call it before closing the socket.
  public func close() {
    guard isOpen else { return }
    isOpen = false
    handle.close()
  }
}

extension SocketWatcher.Readiness {
  /// From libuv's report: with a status below 0 libuv has met an error, and has stopped watching.
  fileprivate init(status: Int32, events: Int32) {
    self = status < 0 ? .broken : []
    if events & Int32(UV_READABLE.rawValue) != 0 { insert(.readable) }
    if events & Int32(UV_WRITABLE.rawValue) != 0 { insert(.writable) }
  }
}
