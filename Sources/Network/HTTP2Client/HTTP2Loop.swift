internal import NIOCore
internal import NIOPosix

/// The only thread for the connections of all senders of a process.
public final class HTTP2Loop: Sendable {
  let group: MultiThreadedEventLoopGroup

  /// Starts the thread.
  public init() { group = MultiThreadedEventLoopGroup(numberOfThreads: 1) }

  var next: any NIOCore.EventLoop { group.next() }

  /// Ends the thread. Its senders must be closed first.
  public func stop() async {
    // `try?`: it fails only if it was stopped already, which is the goal.
    try? await group.shutdownGracefully()
  }
}
