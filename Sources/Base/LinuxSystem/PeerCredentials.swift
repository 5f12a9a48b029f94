internal import CLinux

/// Who is at the other end of a unix socket, as the kernel noted it when the connection was made (`SO_PEERCRED`).
///
/// The user id is a fact to decide by. The process id is a hint: the process may have ended, and its number may be
/// someone else's by now. To act on the peer's process, take ``ProcessDescriptor/peer(ofSocket:)``.
public struct PeerCredentials: Hashable, Sendable {
  /// Process id at the time of connecting; 0 if it lives in a process namespace that we cannot see.
  public let process: Int32
  /// Effective user id.
  public let user: UInt32
  /// Effective group id.
  public let group: UInt32

  /// Asks the kernel about a connected unix socket.
  public init(ofSocket descriptor: Int32) throws(SystemFault) {
    var peer = roost_peer()
    try checked(roost_peer_credentials(descriptor, &peer), "getsockopt", "SO_PEERCRED of descriptor \(descriptor)")
    process = peer.process
    user = peer.user
    group = peer.group
  }
}
