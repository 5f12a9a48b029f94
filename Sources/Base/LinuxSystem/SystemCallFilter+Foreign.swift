internal import Glibc

// What a foreign program is denied beyond what no worker needs. It runs as our own user, mostly on input from
// strangers. So it must not reach anything of the user's except its own files; it must end when it is signalled; and
// everything it uses must be visible from outside, or it cannot be bounded.

extension SystemCallFilter {
  func confineForeignProgram(_ network: SandboxProfile.Network) throws(SystemFault) {
    try denyLeaving()
    try denyTouchingOthers()
    try denyChangingMetadata()
    try denyHiding(network)
  }

  /// A process that has left the group would survive the signal that ends it; so would one that has cancelled the
  /// signal for its parent's death. No process waits for a child that is created as the parent's child (CLONE_PARENT).
  private func denyLeaving() throws(SystemFault) {
    for name in ["setsid", "setpgid"] { try deny(name, EPERM) }
    try deny("prctl", EPERM, argument: 0, equals: Self.setDeathSignal)
    try deny("clone", EPERM, argument: 0, mask: Self.cloneParent, equals: Self.cloneParent)
  }

  /// `kill(-1)` reaches every process that the user may signal, including supervisor and signer, on kernels whose
  /// Landlock does not cover signals. Limits, priorities and processors of all the user's processes can be set by their
  /// ids.
  private func denyTouchingOthers() throws(SystemFault) {
    try deny("kill", EPERM, argument: 0, equals: 0xFFFF_FFFF)
    try deny("prlimit64", EPERM, argument: 0, above: 0)
    try deny("setpriority", EPERM, argument: 0, equals: Self.allOfUser)
    try deny("setpriority", EPERM, argument: 1, above: 0)
    for name in [
      "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity", "ioprio_set",
      // Reports what is opened and created below every directory that the user can read.
      "inotify_add_watch",
      // By the file's name, which Landlock before version 3 permits.
      "truncate",
    ] {
      try deny(name, EPERM)
    }
  }

  /// Modes, owners and attributes of all the user's files could be changed, wherever they are: Landlock does not cover
  /// that. Programs change the modes of their own files by habit (`cp`, `tar`), and fail needlessly if they may not; so
  /// a change of mode is silently ignored. (Times can be changed as well. That does no harm, and without it `cp -p`
  /// fails.)
  private func denyChangingMetadata() throws(SystemFault) {
    for name in ["chmod", "fchmod", "fchmodat", "fchmodat2"] { try deny(name, 0) }
    for name in [
      "chown", "lchown", "fchown", "fchownat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr",
      "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
    ] {
      try deny(name, EPERM)
    }
  }

  /// What counts for no process and no folder: memory by a descriptor or shared without a file, pages that a pipe
  /// keeps, contexts for asynchronous input, of which the machine has few, a file without a name that waits as a
  /// message between sockets, and a process that may not be inspected.
  private func denyHiding(_ network: SandboxProfile.Network) throws(SystemFault) {
    for name in ["memfd_create", "memfd_secret", "vmsplice", "io_setup"] { try deny(name, ENOSYS) }
    try deny("mmap", EPERM, argument: 3, mask: Self.sharedAnonymous, equals: Self.sharedAnonymous)
    try deny("prctl", EPERM, argument: 0, equals: Self.setDumpable)
    // With the network allowed, the resolver needs them.
    if network == .none {
      for name in ["sendmsg", "sendmmsg"] { try deny(name, EPERM) }
    }
    // Connections that the kernel does not list with those of TCP. Runtimes use TCP if these are not available.
    for number in Self.uncountedProtocols { try deny("socket", EPROTONOSUPPORT, argument: 2, equals: number) }
  }

  /// PRIO_USER.
  private static let allOfUser: UInt64 = 2
  /// PR_SET_PDEATHSIG.
  private static let setDeathSignal: UInt64 = 1
  /// PR_SET_DUMPABLE.
  private static let setDumpable: UInt64 = 4
  private static let cloneParent: UInt64 = 0x8000
  /// IPPROTO_DCCP, SCTP and MPTCP.
  private static let uncountedProtocols: [UInt64] = [33, 132, 262]
  /// MAP_SHARED and MAP_ANONYMOUS.
  private static let sharedAnonymous: UInt64 = 0x21
}
