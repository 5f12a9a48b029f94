internal import CLinux
internal import Glibc

/// The separate powers of root (capabilities). A worker that root has started keeps none of them: it owns root's files
/// like any user owns its own, and everything else it may do is in its profile.
///
/// With capabilities Landlock would be weaker than it seems. A process that may trace, or read performance data, can
/// read the environment and memory layout of every process, since the kernel checks the capability before it checks the
/// sandbox.
enum Capabilities {
  /// Ports below 1024 (`CAP_NET_BIND_SERVICE`).
  static let lowPorts: UInt64 = 1 << 10

  /// Root gets no special treatment at exec, a change of user gains and loses no capability, none is ambient, and these
  /// settings are locked (`SECBIT_NOROOT`, `NO_SETUID_FIXUP`, `NO_CAP_AMBIENT_RAISE`, each with its lock, and
  /// `KEEP_CAPS_LOCKED`).
  private static let securityBits: UInt = 0xEF

  /// The capabilities that this thread may use.
  static func permitted() throws(SystemFault) -> UInt64 {
    var set: UInt64 = 0
    try checked(roost_capabilities_get(&set), "capget", "")
    return set
  }

  /// Gives up all capabilities except `kept`, for this thread, the threads it starts, and every program they become.
  static func drop(except kept: UInt64) throws(SystemFault) {
    try checked(roost_prctl(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_CLEAR_ALL)), "prctl", "PR_CAP_AMBIENT")
    // A process without the capability for these two calls has nothing that they could remove; no_new_privs applies
    // anyway.
    for number in 0..<UInt64.bitWidth where kept & 1 << UInt64(number) == 0 {
      guard roost_prctl(PR_CAPBSET_DROP, UInt(number)) == 0 else { break }
    }
    _ = roost_prctl(PR_SET_SECUREBITS, securityBits)
    try checked(roost_capabilities_set(try permitted() & kept), "capset", "")
  }
}
