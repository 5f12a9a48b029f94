internal import Glibc

/// Puts this process and all its future descendants permanently under a ``SandboxProfile``.
///
/// There are two layers, because each can do what the other cannot. *Landlock* knows files and ports but not system
/// calls: it decides which paths may be opened and which ports dialled. *seccomp* knows system calls and numbers but
/// not paths: it denies tracing, mounting, loading code into the kernel, starting programs, and whole families of
/// sockets. Neither needs root; both need `no_new_privs`. What is open already stays open, so a worker opens what it
/// needs first. If root has started the worker, root's capabilities are dropped before both.
///
/// **Before the first thread.** Landlock applies to the calling thread and the threads it starts later. An existing
/// thread of the runtime's pool would stay unrestricted, and a task may run on it. So call ``apply(_:requirement:)`` at
/// the top of `main`, before the first `await`, `Task`, Dispatch queue or loop; it counts the threads and reports a
/// call that is too late.
///
/// Rejected: a list of allowed calls for all roles. It breaks with each new C library (since 2.34 a thread is created
/// by another call), and it would add little for a worker that may open sockets and files anyway. Also rejected:
/// namespaces, which containers and some distributions forbid to ordinary users.
public enum Sandbox {
  /// What to do if the kernel cannot enforce the profile.
  public enum Requirement: String, Hashable, Sendable, Codable {
    /// Fail unless no_new_privs, Landlock of any version, and seccomp are in force, for all threads. Older versions of
    /// Landlock leave gaps, which the level lists. Gaps are no failure, or nothing would start on Debian 12's own
    /// kernel.
    case required
    /// Enforce as much as possible and report how much that was.
    case `try`
    /// Do nothing.
    case off
  }

  /// Applies a profile and reports what was achieved.
  ///
  /// After a fault the process may be half in the sandbox; this cannot be undone, so the process should end.
  public static func apply(
    _ profile: SandboxProfile, requirement: Requirement
  ) throws(SystemFault) -> SandboxLevel {
    var level = SandboxLevel(
      noNewPrivileges: ProcessAttributes.hasNoNewPrivileges, dumpable: ProcessAttributes.isDumpable)
    if requirement == .off {
      level.gaps.append("The sandbox is switched off.")
      return level
    }
    let isRequired = requirement == .required
    try orNote(isRequired, &level) { () throws(SystemFault) in try checkSingleThread() }
    try orNote(isRequired, &level) { () throws(SystemFault) in try ProcessAttributes.forbidNewPrivileges() }
    level.noNewPrivileges = ProcessAttributes.hasNoNewPrivileges
    try orNote(isRequired, &level) { () throws(SystemFault) in
      try Capabilities.drop(except: profile.network == .inboundTCP ? Capabilities.lowPorts : 0)
    }
    if !profile.dumpable {
      try orNote(isRequired, &level) { () throws(SystemFault) in try ProcessAttributes.setDumpable(false) }
    }
    level.dumpable = ProcessAttributes.isDumpable
    try restrictFiles(profile, isRequired, &level)
    // The filter comes last: it may deny what the steps before need.
    try orNote(isRequired, &level) { () throws(SystemFault) in try SystemCallFilter(profile).load() }
    level.seccomp = ProcessAttributes.isFiltered
    return level
  }

  private static func restrictFiles(
    _ profile: SandboxProfile, _ isRequired: Bool, _ level: inout SandboxLevel
  ) throws(SystemFault) {
    do throws(SystemFault) {
      let ruleset = try LandlockRuleset(profile)
      try ruleset.restrict()
      level.landlockABI = ruleset.version
      level.gaps += ruleset.gaps
      level.notes += ruleset.notes
    } catch {
      if isRequired { throw error }
      level.gaps.append(error.description)
    }
  }

  private static func checkSingleThread() throws(SystemFault) {
    guard let count = ProcessTable.threadCount(of: getpid()), count > 1 else { return }
    throw SystemFault(
      call: "sandbox", subject: "\(count) threads", code: EBUSY,
      advice: "Landlock cannot cover threads that are running already. Apply the sandbox first in main.")
  }

  /// Runs a step; a failure is thrown if the sandbox is required, else listed as a gap.
  private static func orNote(
    _ isRequired: Bool, _ level: inout SandboxLevel, _ step: () throws(SystemFault) -> Void
  ) throws(SystemFault) {
    do throws(SystemFault) { try step() } catch {
      if isRequired { throw error }
      level.gaps.append(error.description)
    }
  }
}
