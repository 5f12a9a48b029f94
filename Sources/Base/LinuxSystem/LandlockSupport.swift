internal import CLinux

/// Whether this kernel has Landlock; without it, no foreign program is run.
public enum LandlockSupport: Hashable, Sendable {
  /// The kernel has it, in this version of its interface.
  case version(Int)
  /// Landlock is missing or switched off; the system's name for the error.
  case missing(String)

  /// The version from which a sandboxed process cannot signal processes outside.
  private static let signalVersion = 6

  /// The support of the running kernel, seen from inside this process's sandbox.
  public static var current: LandlockSupport {
    do throws(SystemFault) { return .version(Int(try checked(roost_landlock_version(), "landlock", ""))) } catch {
      return .missing(error.name)
    }
  }

  /// Whether foreign programs are run.
  public var holdsStrangers: Bool {
    switch self {
    case .version: true
    case .missing: false
    }
  }

  /// What an operator who serves strangers should know, and what to do about it; nil if nothing is wrong.
  public var complaint: String? {
    switch self {
    case .missing(let name):
      "this kernel has no Landlock in force (\(name)), so programs do no jobs for strangers: Linux 5.13 or later has"
        + " it, and it must be among the names in /sys/kernel/security/lsm (boot with lsm=landlock,… otherwise); or"
        + " serve your own accounts only, by customers = \"accounts\""
    case .version(let version) where version < Self.signalVersion:
      "Landlock here is version \(version): a stranger's program can send signals to processes of roostd's user, and"
        + " end them; Linux 6.12 or later has version \(Self.signalVersion), which denies it"
    case .version: nil
    }
  }
}
