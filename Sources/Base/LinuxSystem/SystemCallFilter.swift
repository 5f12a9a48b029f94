internal import CSeccomp
internal import Glibc

/// A profile's system calls as a seccomp filter: what is not denied is allowed, in every thread.
///
/// A denied call fails with an error that programs expect. `ENOSYS`, "this kernel has no such call", is for calls with
/// an alternative: the C library then creates a thread by `clone` instead of `clone3`, whose flags a filter cannot read
/// because they are in memory. `EPERM` is for calls that nothing here needs.
///
/// The kernel reads only the lower half of an integer argument, so bits in the upper half would evade a comparison of
/// the whole: every comparison for equality is masked.
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

  /// Puts the filter in force for all threads of the process, permanently.
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

  /// A new user namespace makes an ordinary user root inside it, with access to all of the kernel's rarely used code.
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
      // There is nothing to connect, unless a socket was passed in by mistake.
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

  /// A server gets all its connections by `accept`. So connecting is denied, also on kernels whose Landlock does not
  /// cover ports, and so are the ways around `connect`: a datagram needs no connection, and TCP's fast open makes one
  /// with the first bytes sent.
  private func denyDialling() throws(SystemFault) {
    try deny("connect", EACCES)
    // The kind is in the bits below the flags SOCK_NONBLOCK and SOCK_CLOEXEC.
    for kind in [ROOST_SOCKET_DATAGRAM, ROOST_SOCKET_SEQPACKET] {
      try deny("socket", EACCES, argument: 1, mask: 0xF, equals: UInt64(kind))
    }
    for (name, argument) in [("sendto", UInt32(3)), ("sendmsg", 2), ("sendmmsg", 3)] {
      try deny(name, EACCES, argument: argument, mask: Self.fastOpenFlag, equals: Self.fastOpenFlag)
    }
  }

  /// MSG_FASTOPEN.
  private static let fastOpenFlag: UInt64 = 0x2000_0000

  /// Landlock does not deny connecting to a socket in the file system if its mode allows it; and behind the user's
  /// sockets, above all the session bus, are services that start programs outside of every sandbox. So no worker
  /// creates such a socket, unless a program of its settings needs one. Its bus connection is open before the sandbox,
  /// logs go to descriptors, and the resolver queries a name server if it finds no daemon. Pairs of streams stay
  /// allowed, since loops use them to wake themselves: they are permanently connected to each other, whereas a datagram
  /// socket of a pair can send to any path that is named.
  private func restrictUnixSockets(_ profile: SandboxProfile) throws(SystemFault) {
    // The kind is in the bits below the flags SOCK_NONBLOCK and SOCK_CLOEXEC.
    for kind in 0...UInt64(0xF) where kind != UInt64(ROOST_SOCKET_STREAM) {
      try deny("socketpair", EPERM, argument: 1, mask: 0xF, equals: kind)
    }
    guard profile.network != .unixOnly, profile.network != .none, !profile.mayConnectUnixSockets else { return }
    try deny("socket", EAFNOSUPPORT, argument: 0, equals: UInt64(AF_UNIX))
  }

  /// Allows the internet families, netlink (the kernel's messages about interfaces, which resolving names needs), and
  /// unix, which `restrictUnixSockets` handles. The others are old or special, seldom tested, and a steady source of
  /// attacks on the kernel.
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

  /// Calls that have an alternative.
  private static let withFallback = [
    "clone3",
    // Another way to make nearly all other calls, which no filter sees.
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
    // Lets the process handle its own page faults: the usual means to win races in the kernel.
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
    // Placement of memory, which is the administrator's decision.
    "migrate_pages", "move_pages",
  ]
}
