import EventLoop
import Glibc
import LinuxSystem
import Logs
import RoostConfiguration

/// `roost.sock`: where peers connect.
@EventLoopActor
final class ListeningSocket {
  private unowned let daemon: Daemon
  private let onStream: @EventLoopActor (ByteStream) -> Void
  private var listener: StreamListener?
  private var inode: UInt64 = 0
  /// Whether a service manager has made the socket: then its rights are left as they are.
  private var isInherited = false
  private var faultLog = RefusalLog()

  init(daemon: Daemon, onStream: @escaping @EventLoopActor (ByteStream) -> Void) {
    self.daemon = daemon
    self.onStream = onStream
  }

  private var path: String { daemon.configuration.supervisor.socket }

  func listen() throws {
    isInherited = StreamListener.hasInherited(path: path)
    if !isInherited { try clear() }
    let old = umask(0o077)
    defer { umask(old) }
    let listener = try StreamListener(path: path, onConnection: onStream)
    listener.onFault = { [unowned self] fault in
      guard faultLog.shouldLog(now: EventLoop.process.now) else { return }
      daemon.log(.error, "bus", "\(fault); new connections wait. Is the limit of open files reached?")
    }
    self.listener = listener
    inode = Self.inode(of: path)
    admitListedUsers()
  }

  /// A clean-up of the machine may remove the socket of a running daemon; it comes back by itself.
  func rebindIfReplaced() {
    guard Self.inode(of: path) != inode else { return }
    daemon.log(.warning, "bus", "\(path) was removed or replaced; listening there again")
    close()
    do { try listen() } catch { daemon.log(.error, "bus", "cannot listen again: \(error)") }
  }

  func close() { listener?.close() }

  /// Clears the place of the socket: of the one that a dead supervisor has left, and of nothing else.
  private func clear() throws(SystemFault) {
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else {
        throw SystemFault(
          call: "listen", subject: path, code: EEXIST,
          advice: "It is no socket, and is left alone. Name another place with 'socket' in [supervisor].",
          isOwnCheck: true)
      }
      // The lock of the run directory is ours, so a socket that is there belongs to no process.
      unlink(path)
      return
    }
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    let directory = String(path[..<slash])
    if access(directory, F_OK) != 0, errno == ENOENT { try PrivateDirectory.ensure(directory) }
  }

  /// Lets the users of `allow-uids` and `allow-groups` reach the socket, and no other user: the kernel asks for the
  /// right to write to the socket and to pass its directory, before the daemon asks for the uid. Only the run directory
  /// is opened, which is ours, and no further than to be passed.
  func admitListedUsers() {
    let listed = daemon.configuration.supervisor.admittedUids.filter { $0 != geteuid() }
    let runDirectory = daemon.configuration.supervisor.runDirectory
    let isInRunDirectory = path == runDirectory + "/" + (path.split(separator: "/").last ?? "")
    var changes: [(path: String, mode: mode_t)] = isInherited ? [] : [(path, listed.isEmpty ? 0o600 : 0o666)]
    if isInRunDirectory { changes.append((runDirectory, listed.isEmpty ? 0o700 : 0o711)) }
    for change in changes where chmod(change.path, change.mode) != 0 {
      daemon.log(.warning, "bus", "chmod of \(change.path): \(String(cString: strerror(errno)))")
    }
    guard !listed.isEmpty, let closed = Self.closedParent(of: path) else { return }
    let uids = listed.map(String.init).joined(separator: ", ")
    daemon.log(
      .warning, "bus",
      "allow-uids: other users cannot pass \(closed), so uid \(uids) may not reach \(path). Name a place that they can "
        + "reach with 'socket' in [supervisor]")
  }

  /// The first directory on the way to a path that other users may not pass; nil when they may pass all.
  private static func closedParent(of path: String) -> String? {
    var step = ""
    for name in path.split(separator: "/").dropLast() {
      step += "/\(name)"
      var status = stat()
      guard stat(step, &status) == 0, status.st_mode & S_IXOTH != 0 else { return step }
    }
    return nil
  }

  private static func inode(of path: String) -> UInt64 {
    var status = stat()
    return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
  }
}
