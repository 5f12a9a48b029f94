import Contracts
import EventLoop
import Glibc
import LinuxSystem
import Logs
import RoostConfiguration

// What somebody may take from under a running supervisor: its directories, its locks, its socket.

extension Daemon {
  /// Makes good what was removed. With another supervisor on the same directories there is nothing left but to go: both
  /// would start the same workers.
  func mendPremises() {
    do {
      let mended = try directories.mend()
      if !mended.isEmpty {
        log(.warning, "supervision", "\(mended.joined(separator: ", ")) had been removed; made again")
      }
    } catch let taken as SupervisorDirectories.Taken {
      guard stopping == nil else { return }
      log(.critical, "supervision", "\(taken) after ours was removed; leaving it to that one")
      stop(.escalated("\(taken)"))
    } catch {
      log(.error, "supervision", "what was removed cannot be made again: \(error)")
    }
  }

  /// Clears the place of the socket: of the one that a dead supervisor has left, and of nothing else.
  func clearSocket(_ path: String) throws(SystemFault) {
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else {
        throw SystemFault(
          call: "listen", subject: path, code: EEXIST,
          advice: "It is no socket, and is left alone. Name another place with 'socket' in [supervisor].",
          isOwnCheck: true)
      }
      // The lock of the run directory is ours, so a socket that is there belongs to nobody any more.
      unlink(path)
      return
    }
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    let directory = String(path[..<slash])
    if access(directory, F_OK) != 0, errno == ENOENT { try PrivateDirectory.ensure(directory) }
  }

  /// Lets the users of `allow-uids` reach the socket, and nobody when there are none: the kernel asks for the right to
  /// write to the socket and to pass its directory, before ``accepted(_:)`` asks for the uid. Only the run directory is
  /// opened, which is ours, and no further than to be passed.
  func admitListedUsers() {
    let path = configuration.supervisor.socket
    let listed = configuration.supervisor.allowUids.filter { $0 != geteuid() }
    let runDirectory = configuration.supervisor.runDirectory
    let isInRunDirectory = path == runDirectory + "/" + (path.split(separator: "/").last ?? "")
    var changes: [(path: String, mode: mode_t)] = [(path, listed.isEmpty ? 0o600 : 0o666)]
    if isInRunDirectory { changes.append((runDirectory, listed.isEmpty ? 0o700 : 0o711)) }
    for change in changes where chmod(change.path, change.mode) != 0 {
      log(.warning, "bus", "chmod of \(change.path): \(String(cString: strerror(errno)))")
    }
    guard !listed.isEmpty, let closed = Self.closedParent(of: path) else { return }
    let uids = listed.map(String.init).joined(separator: ", ")
    log(
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

  static func inode(of path: String) -> UInt64 {
    var status = stat()
    return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
  }

  /// Whether a process was started by a worker, however it has slipped away: we are the subreaper, so all that comes
  /// from a worker comes from us. Nil if it is gone, and nobody can tell.
  func descendsFromWorker(_ process: Int32) -> Bool? {
    // In a process namespace that we cannot see is nobody who descends from us.
    process <= 0 ? false : ProcessTable.comes(process, from: getpid())
  }
}
