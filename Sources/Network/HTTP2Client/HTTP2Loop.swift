internal import NIOCore
internal import NIOPosix

/// The one thread on which all senders of a process have their connections.
public final class HTTP2Loop: Sendable {
  let group: MultiThreadedEventLoopGroup

  /// Starts the thread.
  public init() { group = MultiThreadedEventLoopGroup(numberOfThreads: 1) }

  var next: any NIOCore.EventLoop { group.next() }

  /// Ends the thread. Senders on it must be closed before.
  public func stop() async {
    // It fails only when it has been stopped already, which is what is wanted.
    try? await group.shutdownGracefully()
  }
}
