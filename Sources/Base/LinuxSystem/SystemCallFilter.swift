internal import CSeccomp
internal import Glibc

/// A profile's system calls as a seccomp filter: what is not denied is allowed, in every thread.
///
/// A denied call fails with an error that programs expect. `ENOSYS`, "this kernel has no such call", where they have
/// another way to go; the C library then makes a thread by `clone` instead of `clone3`, whose flags a filter cannot
/// read because they stand in memory. `EPERM` for what nothing here needs.
///
/// The kernel looks at the lower half of an integer argument only, so a comparison of the whole would be evaded by bits
/// in the upper half: every comparison for equality is masked.
final class SystemCallFilter {
  private let filter: UnsafeMutableRawPointer

  /// Makes the filter; nothing is restricted yet.
  init(_ profile: SandboxProfile) throws(SystemFault) {
    guard let filter = roost_seccomp_start() else {
      throw SystemFault(call: "seccomp_init", subject: "", code: ENOMEM)
    }
    self.filter = filter
    for name in Self.neverNeeded { try deny(name, EPERM) }
    for name in Self.withFallback { try deny(name, ENOSYS) }
    try denyNamespaces()
    try denyTerminalInput()
    if !profile.maySpawn { try denySpawning() }
    try restrictSockets(profile.network)
    try restrictUnixSockets(profile)
    if profile.holdsForeignProgram { try confineForeignProgram(profile.network) }
  }

  deinit { roost_seccomp_release(filter) }

  /// Puts the filter in force for all threads of the process, for good.
  func load() throws(SystemFault) {
    try checked(
      roost_seccomp_load(filter), "seccomp_load", "",
      "This kernel has no system call filter, or another filter forbids it.")
  }

  func deny(_ name: String, _ error: Int32) throws(SystemFault) {
    try checked(roost_seccomp_deny(filter, name, UInt16(error)), "seccomp_rule_add", name)
  }

  func deny(
    _ name: String, _ error: Int32, argument: UInt32, mask: UInt64 = 0xFFFF_FFFF, equals value: UInt64
  ) throws(SystemFault) {
    try checked(
      roost_seccomp_deny_masked(filter, name, UInt16(error), argument, mask, value), "seccomp_rule_add", name)
  }

  func deny(_ name: String, _ error: Int32, argument: UInt32, above value: UInt64) throws(SystemFault) {
    try checked(roost_seccomp_deny_above(filter, name, UInt16(error), argument, value), "seccomp_rule_add", name)
  }

  /// A new user namespace makes an ordinary user root of a small world, with all of the kernel's rarely used code in
  /// reach.
  private func denyNamespaces() throws(SystemFault) {
    for flag in Self.namespaceFlags { try deny("clone", EPERM, argument: 0, mask: flag, equals: flag) }
  }

  /// Bytes pushed into a terminal (TIOCSTI, TIOCLINUX) are commands to the shell that reads it.
  private func denyTerminalInput() throws(SystemFault) {
    for command: UInt64 in [0x5412, 0x541C] { try deny("ioctl", EPERM, argument: 1, equals: command) }
  }

  private func denySpawning() throws(SystemFault) {
    for name in ["fork", "vfork", "execve", "execveat"] { try deny(name, EPERM) }
    // A thread is a clone with this flag; without it, it is a process.
    try deny("clone", EPERM, argument: 0, mask: UInt64(ROOST_CLONE_THREAD), equals: 0)
  }

  private func restrictSockets(_ network: SandboxProfile.Network) throws(SystemFault) {
    switch network {
    case .none:
      try deny("socket", EAFNOSUPPORT)
      // Nothing is left to connect, unless a socket was passed in by mistake.
      for name in ["connect", "bind"] { try deny(name, EACCES) }
    case .unixOnly:
      try deny("socket", EAFNOSUPPORT, argument: 0, above: UInt64(AF_UNIX))
    case .outboundTCP:
      try deny("listen", EACCES)
      try denyRareFamilies()
    case .inboundTCP:
      try denyRareFamilies()
      try denyDialling()
    case .inet:
      try denyRareFamilies()
    }
  }

  /// A server has all its connections by `accept`. So nothing connects, on kernels too whose Landlock knows no ports;
  /// nor by the ways around `connect`: a datagram needs none, and TCP's fast open makes one of the first bytes sent.
  private func denyDialling() throws(SystemFault) {
    try deny("connect", EACCES)
    // The kind stands below the flags SOCK_NONBLOCK and SOCK_CLOEXEC.
    for kind in [ROOST_SOCKET_DATAGRAM, ROOST_SOCKET_SEQPACKET] {
      try deny("socket", EACCES, argument: 1, mask: 0xF, equals: UInt64(kind))
    }
    for (name, argument) in [("sendto", UInt32(3)), ("sendmsg", 2), ("sendmmsg", 3)] {
      try deny(name, EACCES, argument: argument, mask: Self.fastOpenFlag, equals: Self.fastOpenFlag)
    }
  }

  /// MSG_FASTOPEN.
  private static let fastOpenFlag: UInt64 = 0x2000_0000

  /// A socket in the file system is reached wherever its mode allows, which Landlock does not deny; and behind those of
  /// the user, the bus of his session first of all, are services that start programs outside of every sandbox. So no
  /// worker makes such a socket. Its bus is open when it comes here, logs go to descriptors, and the resolver asks a
  /// name server where it finds no daemon. Pairs of streams stay, by which loops wake themselves: they are connected to
  /// each other for good, where a datagram of a pair goes to any path that is named with it.
  private func restrictUnixSockets(_ profile: SandboxProfile) throws(SystemFault) {
    // The kind stands below the flags SOCK_NONBLOCK and SOCK_CLOEXEC.
    for kind in 0...UInt64(0xF) where kind != UInt64(ROOST_SOCKET_STREAM) {
      try deny("socketpair", EPERM, argument: 1, mask: 0xF, equals: kind)
    }
    guard profile.network != .unixOnly, profile.network != .none, !profile.mayConnectUnixSockets else { return }
    try deny("socket", EAFNOSUPPORT, argument: 0, equals: UInt64(AF_UNIX))
  }

  /// Leaves internet, the kernel's own messages about interfaces, which resolving names asks for, and unix, of which is
  /// said elsewhere. The others are old or special, seldom tested, and a steady source of ways into the kernel.
  private func denyRareFamilies() throws(SystemFault) {
    let allowed = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]
    for family in 0...AF_NETLINK where !allowed.contains(family) {
      try deny("socket", EAFNOSUPPORT, argument: 0, equals: UInt64(family))
    }
    try deny("socket", EAFNOSUPPORT, argument: 0, above: UInt64(AF_NETLINK))
  }
}

extension SystemCallFilter {
  /// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. (NEWTIME is not among the flags of `clone`.)
  private static let namespaceFlags: [UInt64] = [
    0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
  ]

  /// Calls that have another way to the same end.
  private static let withFallback = [
    "clone3",
    // A second door to nearly all other calls, through which no filter sees.
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    "create_module", "get_kernel_syms", "query_module", "nfsservctl", "uselib", "ustat", "sysfs", "_sysctl",
    "lookup_dcookie",
  ]

  /// Calls that no worker needs.
  private static let neverNeeded = [
    // Other processes' memory, descriptors and secrets.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
    // Code and programs in the kernel.
    "bpf", "perf_event_open", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load",
    // A faulting page handled by the process itself: the usual means to win races in the kernel.
    "userfaultfd",
    // Keys of the session, which other processes of the user share.
    "keyctl", "add_key", "request_key",
    // Memory and queues that processes of the user share by a number or a name, and that outlive them all.
    "shmget", "shmat", "shmctl", "shmdt", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semtimedop",
    "semctl", "mq_open", "mq_unlink",
    // File systems and roots.
    "mount", "umount", "umount2", "pivot_root", "chroot", "mount_setattr", "open_tree", "move_mount", "fsopen",
    "fsconfig",
    "fsmount", "fspick", "name_to_handle_at", "open_by_handle_at", "fanotify_init", "quotactl", "quotactl_fd",
    // Namespaces.
    "setns", "unshare",
    // The machine itself.
    "reboot", "swapon", "swapoff", "acct", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime",
    "sethostname", "setdomainname", "iopl", "ioperm", "modify_ldt", "vhangup", "syslog", "personality",
    // Placement of memory, which is the administrator's.
    "migrate_pages", "move_pages",
  ]
}
