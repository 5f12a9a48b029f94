internal import CLinux
internal import Glibc

/// Settings of this process that concern signals, privileges and descendants.
public enum ProcessAttributes {
  /// Makes orphaned descendants children of this process instead of init's (`PR_SET_CHILD_SUBREAPER`). The caller must
  /// then reap them: ``OrphanReaper``.
  public static func becomeSubreaper() throws(SystemFault) {
    try checked(roost_prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl", "PR_SET_CHILD_SUBREAPER")
  }

  /// Gives up, for this process and all its future descendants, what set-user-id programs would grant
  /// (`PR_SET_NO_NEW_PRIVS`).
  static func forbidNewPrivileges() throws(SystemFault) {
    try checked(roost_prctl(PR_SET_NO_NEW_PRIVS, 1), "prctl", "PR_SET_NO_NEW_PRIVS")
  }

  /// Whether new privileges are given up.
  static var hasNoNewPrivileges: Bool { roost_prctl(PR_GET_NO_NEW_PRIVS, 0) == 1 }

  /// Sets whether other processes of the same user may trace this process and read its memory, and whether it may dump
  /// core (`PR_SET_DUMPABLE`). A process that cannot be dumped cannot be inspected either: neither its environment nor
  /// its memory figures can be read from outside. The setting returns to "yes" at an exec.
  public static func setDumpable(_ isDumpable: Bool) throws(SystemFault) {
    try checked(roost_prctl(PR_SET_DUMPABLE, isDumpable ? 1 : 0), "prctl", "PR_SET_DUMPABLE")
  }

  /// Whether this process may be traced and dumped by its own user.
  static var isDumpable: Bool { roost_prctl(PR_GET_DUMPABLE, 0) == 1 }

  /// Whether a seccomp filter is in force.
  static var isFiltered: Bool { roost_prctl(PR_GET_SECCOMP, 0) == 2 }
}
