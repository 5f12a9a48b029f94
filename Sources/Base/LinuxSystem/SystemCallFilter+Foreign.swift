internal import Glibc

// What a program of somebody else's is denied beyond what no worker needs. It runs as our own user, mostly on what
// strangers send, so nothing of the user's may be in its reach that is not its own; it must end when it is told to; and
// all that it takes must be seen from outside, or there is no bound on it.

extension SystemCallFilter {
  func confineForeignProgram(_ network: SandboxProfile.Network) throws(SystemFault) {
    try denyLeaving()
    try denyTouchingOthers()
    try denyChangingMetadata()
    try denyHiding(network)
  }

  /// Who has left the group would outlive the signal that ends it, and so would whoever has called off the signal that
  /// comes with its parent's death. A child that is made the parent's (CLONE_PARENT) is one that nobody waits for.
  private func denyLeaving() throws(SystemFault) {
    for name in ["setsid", "setpgid"] { try deny(name, EPERM) }
    try deny("prctl", EPERM, argument: 0, equals: Self.setDeathSignal)
    try deny("clone", EPERM, argument: 0, mask: Self.cloneParent, equals: Self.cloneParent)
  }

  /// `kill(-1)` reaches everybody whom the user may signal, supervisor and signer among them, on kernels whose Landlock
  /// knows no signals; and limits, priorities and processors of all the user's processes can be set by their numbers.
  private func denyTouchingOthers() throws(SystemFault) {
    try deny("kill", EPERM, argument: 0, equals: 0xFFFF_FFFF)
    try deny("prlimit64", EPERM, argument: 0, above: 0)
    try deny("setpriority", EPERM, argument: 0, equals: Self.allOfUser)
    try deny("setpriority", EPERM, argument: 1, above: 0)
    for name in [
      "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity", "ioprio_set",
      // Tells what is opened and made below every directory that the user can read.
      "inotify_add_watch",
      // By the file's name, which Landlock before version 3 lets through.
      "truncate",
    ] {
      try deny(name, EPERM)
    }
  }

  /// Modes, owners and attributes of all that the user owns could be changed, wherever it lies: Landlock has no say in
  /// it. Programs change the modes of their own files by habit (`cp`, `tar`), and fail without need when they may not;
  /// so a mode is passed over in silence. (Times can be changed as well. They do no harm, and `cp -p` fails without.)
  private func denyChangingMetadata() throws(SystemFault) {
    for name in ["chmod", "fchmod", "fchmodat", "fchmodat2"] { try deny(name, 0) }
    for name in [
      "chown", "lchown", "fchown", "fchownat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr",
      "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
    ] {
      try deny(name, EPERM)
    }
  }

  /// What counts in no process and in no folder: memory by a descriptor or shared without a file, pages that a pipe
  /// keeps, places for asynchronous input that the machine has few of, a file that has no name and waits as a message
  /// between sockets, and a process that may not be inspected.
  private func denyHiding(_ network: SandboxProfile.Network) throws(SystemFault) {
    for name in ["memfd_create", "memfd_secret", "vmsplice", "io_setup"] { try deny(name, ENOSYS) }
    try deny("mmap", EPERM, argument: 3, mask: Self.sharedAnonymous, equals: Self.sharedAnonymous)
    try deny("prctl", EPERM, argument: 0, equals: Self.setDumpable)
    // With the network the resolver needs them.
    if network == .none {
      for name in ["sendmsg", "sendmmsg"] { try deny(name, EPERM) }
    }
    // Connections that the kernel does not list among those of TCP. Runtimes take TCP where these cannot be had.
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
