internal import CLinux
internal import Glibc

/// A process held by a descriptor (`pidfd`), which refers to that process even when its id is reused.
///
/// It is readable (`poll`) as soon as the process has ended, even if it is not our child, and a signal sent through it
/// can reach no other process. The descriptor is close-on-exec and closed when this object is released.
public final class ProcessDescriptor: Sendable {
  /// The process id.
  public let process: Int32
  /// The descriptor, for an event loop to watch. Borrowed: it is closed when this object is released.
  public let descriptor: Int32

  private init(process: Int32, descriptor: Int32) {
    self.process = process
    self.descriptor = descriptor
  }

  deinit { Descriptors.close(descriptor) }

  /// Holds the process that has this id now. If the id is that of a child that has not been waited for, it is certainly
  /// that child.
  /// - Throws: `ESRCH` if there is no such process.
  public convenience init(process: Int32) throws(SystemFault) {
    guard process > 0 else { throw SystemFault(call: "pidfd_open", subject: "process \(process)", code: EINVAL) }
    let descriptor = try checked(roost_pidfd_open(process), "pidfd_open", "process \(process)")
    self.init(process: process, descriptor: descriptor)
  }

  /// Holds the process at the other end of a unix socket.
  ///
  /// Kernels from 6.5 on give the very process that connected. Older ones give only its id; if the id was reused since,
  /// another process is taken for the peer. So decide nothing by it that the user id does not allow anyway.
  public static func peer(ofSocket descriptor: Int32) throws(SystemFault) -> ProcessDescriptor {
    let credentials = try PeerCredentials(ofSocket: descriptor)
    let process = roost_peer_process(descriptor)
    if process >= 0 { return ProcessDescriptor(process: credentials.process, descriptor: process) }
    return try ProcessDescriptor(process: credentials.process)
  }

  /// Sends a signal.
  /// - Returns: whether the process existed to receive it.
  @discardableResult
  public func send(signal: Int32) throws(SystemFault) -> Bool {
    let result = roost_pidfd_send_signal(descriptor, signal)
    if result == -ESRCH { return false }
    try checked(result, "pidfd_send_signal", "signal \(signal) to process \(process)")
    return true
  }

  /// Whether the process has not ended. A process that has ended and was not waited for counts as ended.
  public var isAlive: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) == 0
  }
}
