internal import CLinux

/// The user and process at the other end of a unix socket, as the kernel recorded them when the connection was made
/// (`SO_PEERCRED`).
///
/// Decisions may depend on the user id. The process id is only a hint: the process may have ended, and another may have
/// its id now. To act on the peer's process, use ``ProcessDescriptor/peer(ofSocket:)``.
public struct PeerCredentials: Hashable, Sendable {
  /// Process id at the time of connecting; 0 if the process is in a namespace that we cannot see.
  public let process: Int32
  /// Effective user id.
  public let user: UInt32
  /// Effective group id.
  public let group: UInt32

  /// Reads the credentials of the peer of a connected unix socket.
  public init(ofSocket descriptor: Int32) throws(SystemFault) {
    var peer = roost_peer()
    try checked(roost_peer_credentials(descriptor, &peer), "getsockopt", "SO_PEERCRED of descriptor \(descriptor)")
    process = peer.process
    user = peer.user
    group = peer.group
  }
}
