internal import CLinux
internal import Glibc

/// A profile's files and ports as Landlock rules, made for this kernel's version of the interface.
///
/// A ruleset names the rights it *handles*, all of which are denied, and then rules that grant some of them. What an
/// older kernel cannot handle stays allowed, and is listed in ``gaps``.
final class LandlockRuleset {
  /// The kernel's interface version, from 1.
  let version: Int
  /// What the profile denies but this version allows.
  private(set) var gaps: [String] = []
  /// Listed paths that do not exist.
  private(set) var notes: [String] = []
  private let descriptor: Int32
  private let handled: FileRights

  /// Makes the rules; nothing is restricted yet.
  /// - Throws: `ENOSYS` or `EOPNOTSUPP` where the kernel has no Landlock.
  init(_ profile: SandboxProfile) throws(SystemFault) {
    version = Int(
      try checked(
        roost_landlock_version(), "landlock", "", "This kernel has no Landlock, or it is not among its `lsm=`."))
    handled = .known(toVersion: version)
    var ruleset = roost_landlock_ruleset()
    ruleset.handled_files = handled.rawValue
    ruleset.handled_network = Self.handledPorts(profile, version).rawValue
    ruleset.scoped = Self.scopes(profile, version).rawValue
    // The kernel accepts a longer structure than it knows if the unknown part is zero.
    let size = MemoryLayout<roost_landlock_ruleset>.size
    descriptor = try checked(roost_landlock_create(&ruleset, size), "landlock_create_ruleset", "version \(version)")
    gaps = Self.gaps(profile, version)
    if profile.holdsForeignProgram { try allowOwnState() } else { try allowThreadStates() }
    for path in profile.readablePaths { try allow(.reading, at: path) }
    for path in profile.writablePaths { try allow(.writing, at: path) }
    for path in profile.executablePaths { try allow(.executing, at: path) }
    if case .outboundTCP(let ports) = profile.network, version >= 4 {
      for port in ports { try allowConnecting(to: port) }
    }
  }

  deinit { Descriptors.close(descriptor) }

  /// Restricts the calling thread, and everything it starts from now on, permanently.
  func restrict() throws(SystemFault) {
    try checked(roost_landlock_restrict(descriptor), "landlock_restrict_self", "version \(version)")
  }

  /// Lets files below `/proc` be read by name, without the right to list it, because Dispatch needs them: while all its
  /// threads are busy it reads `/proc/THREAD/stat` once a second to see whether they run or wait, and treats a file it
  /// cannot open as a fatal error. Without this rule a process works well until the day it is under load.
  ///
  /// A rule for our own folder would not do, because the threads are named at the top of `/proc` and are created after
  /// the rule. What is private in the folders of other processes (environment, memory, descriptors) stays closed:
  /// reading that requires the right to trace, which Landlock grants inside one sandbox only. (Newer kernels let root
  /// read environments all the same.)
  private func allowThreadStates() throws(SystemFault) {
    try allow(.readFile, at: "/proc")
  }

  /// Lets a foreign program read what its runtime needs to know of itself and of the machine, and nothing of other
  /// processes.
  ///
  /// These are files of the process that makes the rules: the program it becomes by exec has them, the processes it
  /// starts do not. Its whole folder is not listed, because the sockets and mounts of the machine are listed in there
  /// too.
  private func allowOwnState() throws(SystemFault) {
    for name in ["self/fd", "self/maps", "self/stat", "self/statm", "self/status", "cpuinfo", "meminfo"] {
      try allow(.reading, at: "/proc/" + name)
    }
  }

  private func allow(_ rights: FileRights, at path: String) throws(SystemFault) {
    let file = open(path, Int32(ROOST_OPEN_NAME_ONLY) | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR {
        notes.append("\(path) does not exist and stays denied.")
        return
      }
      throw SystemFault(call: "open", subject: path, code: errno, advice: "It is listed in the sandbox profile.")
    }
    defer { Descriptors.close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw SystemFault(call: "fstat", subject: path, code: errno) }
    let isDirectory = status.st_mode & S_IFMT == S_IFDIR
    let given = rights.intersection(handled).intersection(isDirectory ? handled : .ofSingleFile)
    var rule = roost_landlock_path(allowed: given.rawValue, parent: file)
    try checked(roost_landlock_add(descriptor, Int32(ROOST_LANDLOCK_RULE_PATH), &rule), "landlock_add_rule", path)
  }

  private func allowConnecting(to port: UInt16) throws(SystemFault) {
    var rule = roost_landlock_port(allowed: PortRights.connectTCP.rawValue, port: UInt64(port))
    try checked(
      roost_landlock_add(descriptor, Int32(ROOST_LANDLOCK_RULE_PORT), &rule), "landlock_add_rule", "port \(port)")
  }

  private static func handledPorts(_ profile: SandboxProfile, _ version: Int) -> PortRights {
    guard version >= 4 else { return [] }
    switch profile.network {
    case .inet: return []
    case .inboundTCP: return .connectTCP
    case .none, .unixOnly, .outboundTCP: return [.bindTCP, .connectTCP]
    }
  }

  private static func scopes(_ profile: SandboxProfile, _ version: Int) -> ScopeRights {
    guard version >= 6 else { return [] }
    return profile.mayReachAbstractSockets ? [.signals] : [.signals, .abstractSockets]
  }

  private static func gaps(_ profile: SandboxProfile, _ version: Int) -> [String] {
    var gaps: [String] = []
    if version < 3 {
      gaps.append("A file may be cut short wherever its mode allows: Landlock 3 denies it, here is \(version).")
    }
    if version < 4, case .outboundTCP = profile.network {
      gaps.append("TCP goes to every port: Landlock 4 limits it, here is \(version).")
    }
    if version < 5 {
      gaps.append("A device obeys each process that opened it: Landlock 5 denies that, this kernel has \(version).")
    }
    if version < 6 {
      gaps.append("Processes of the same user can be signalled: Landlock 6 denies it, here is \(version).")
      if profile.network != .none && !profile.mayReachAbstractSockets {
        gaps.append("Abstract unix sockets can be reached: Landlock 6 denies it, here is \(version).")
      }
    }
    return gaps
  }
}
