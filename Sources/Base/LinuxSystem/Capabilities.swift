internal import CLinux
internal import Glibc

/// The powers of root, one by one (capabilities). A worker that root has started keeps none of them: root's own files
/// it owns as any user does, and what it may do besides stands in its profile.
///
/// With them Landlock holds less than it seems to: whoever may trace, or look at performance, reads the environment and
/// the layout of every process, since the kernel asks for the power before it asks for the sandbox.
enum Capabilities {
  /// Ports below 1024 (`CAP_NET_BIND_SERVICE`).
  static let lowPorts: UInt64 = 1 << 10

  /// Root is nobody special at exec, changes of user give and take nothing, nothing is ambient; and so it stays
  /// (`SECBIT_NOROOT`, `NO_SETUID_FIXUP`, `NO_CAP_AMBIENT_RAISE`, each with its lock, and `KEEP_CAPS_LOCKED`).
  private static let securityBits: UInt = 0xEF

  /// Those that this thread may make use of.
  static func permitted() throws(SystemFault) -> UInt64 {
    var set: UInt64 = 0
    try checked(roost_capabilities_get(&set), "capget", "")
    return set
  }

  /// Gives up all but some, for this thread, those it starts, and every program they become.
  static func drop(except kept: UInt64) throws(SystemFault) {
    try checked(roost_prctl(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_CLEAR_ALL)), "prctl", "PR_CAP_AMBIENT")
    // Who has not the power for these two has nothing that they could take; no_new_privs holds all the same.
    for number in 0..<UInt64.bitWidth where kept & 1 << UInt64(number) == 0 {
      guard roost_prctl(PR_CAPBSET_DROP, UInt(number)) == 0 else { break }
    }
    _ = roost_prctl(PR_SET_SECUREBITS, securityBits)
    try checked(roost_capabilities_set(try permitted() & kept), "capset", "")
  }
}
