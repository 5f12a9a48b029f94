import EventLoop
import Glibc

/// Sockets that a service manager opened before it started roostd (`LISTEN_FDS`, sd_listen_fds(3)).
///
/// One at the path of `roost.sock` becomes the bus's own. One with the name of a worker
/// (FileDescriptorName=local-relay) is passed on to that worker, each time it starts: clients that connect meanwhile
/// wait in the kernel.
struct ServiceSockets {
  /// The first descriptor (sd_listen_fds(3)).
  private static let first: Int32 = 3
  /// The maximum number of sockets.
  private static let countMaximum: Int32 = 64

  private var byName: [(name: String, descriptor: Int32)] = []

  /// Takes what the environment of this process names; nothing if it names another process.
  init(_ environment: [String: String]) {
    guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }),
      (1...Self.countMaximum).contains(count)
    else { return }
    let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    for index in 0..<count {
      // None of the processes that roostd starts has them by accident.
      _ = fcntl(Self.first + index, F_SETFD, FD_CLOEXEC)
      byName.append((Int(index) < names.count ? String(names[Int(index)]) : "", Self.first + index))
    }
  }

  /// All of them.
  var descriptors: [Int32] { byName.map(\.descriptor) }

  /// Those for a worker of this name.
  func descriptors(for worker: String) -> [Int32] { byName.filter { $0.name == worker }.map(\.descriptor) }
}
