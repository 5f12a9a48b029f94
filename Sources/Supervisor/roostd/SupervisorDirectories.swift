import RoostConfiguration
import Glibc
import LinuxSystem

/// The directories of a supervisor, and the locks that make it the only one there.
///
/// A clean-up of the machine may remove them under a running supervisor. Then they are made again, because workers
/// could not be started without them; and the locks are taken again, because a removed file's lock keeps no process
/// out.
struct SupervisorDirectories: Sendable {
  private let directories: [String]
  private var locks: [FileLock] = []

  /// Another supervisor runs on the same directories.
  struct Taken: Error, CustomStringConvertible {
    let description: String
  }

  /// Makes the directories and takes the locks.
  ///
  /// - Throws: ``Taken`` or a `SystemFault`.
  init(_ settings: SupervisorConfiguration) throws {
    let supervisor = settings.supervisor
    let needed = [
      supervisor.stateDirectory, supervisor.runDirectory, supervisor.logDirectory, supervisor.runDirectory + "/locks",
      supervisor.stateDirectory + "/dead-letters",
    ]
    directories = needed.compactMap(\.self)
    for path in directories { try PrivateDirectory.ensure(path) }
    // Both: two supervisors with different run directories must not share a state directory.
    for directory in [supervisor.runDirectory, supervisor.stateDirectory] {
      locks.append(try Self.lock(directory + "/roostd.lock"))
    }
  }

  /// Makes good what is missing; returns what that was.
  ///
  /// - Throws: ``Taken`` if another supervisor has come in meanwhile; a `SystemFault` if it cannot be made good.
  mutating func mend() throws -> [String] {
    var mended: [String] = []
    for path in directories where access(path, F_OK) != 0 && errno == ENOENT {
      try PrivateDirectory.ensure(path)
      mended.append(path)
    }
    for index in locks.indices where !locks[index].isInPlace {
      locks[index] = try Self.lock(locks[index].path)
      mended.append(locks[index].path)
    }
    return mended
  }

  private static func lock(_ path: String) throws -> FileLock {
    switch try FileLock.attempt(path: path, information: "roostd pid \(getpid())") {
    case .acquired(let lock): return lock
    case .held(let holder):
      let name = holder.isEmpty ? path : holder
      throw Taken(description: "another supervisor runs here: \(name) (it holds \(path))")
    }
  }
}
