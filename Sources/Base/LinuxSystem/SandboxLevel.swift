/// What a sandbox achieved. Each field is what the kernel confirmed, never what was requested.
///
/// As JSON in a worker's HELLO:
/// `{"landlockABI":7,"seccomp":true,"noNewPrivileges":true,"dumpable":true,"gaps":[],"notes":[]}`.
public struct SandboxLevel: Hashable, Sendable, Codable, CustomStringConvertible {
  /// Version of the Landlock interface whose rules are in force; nil if no rules are.
  public var landlockABI: Int?
  /// Whether the system call filter is in force for all threads.
  public var seccomp: Bool
  /// Whether new privileges are given up.
  public var noNewPrivileges: Bool
  /// Whether its own user can trace and dump the process.
  public var dumpable: Bool
  /// What the profile denies but this kernel allows, in sentences. Empty: all of the profile is enforced.
  public var gaps: [String]
  /// Further notes, such as listed paths that do not exist.
  public var notes: [String]

  /// A level, by default that of a process without any sandbox.
  public init(
    landlockABI: Int? = nil, seccomp: Bool = false, noNewPrivileges: Bool = false, dumpable: Bool = true,
    gaps: [String] = [], notes: [String] = []
  ) {
    self.landlockABI = landlockABI
    self.seccomp = seccomp
    self.noNewPrivileges = noNewPrivileges
    self.dumpable = dumpable
    self.gaps = gaps
    self.notes = notes
  }

  /// In a few words: `landlock-7 seccomp no-new-privs`, then `no-dump` if it applies, and `partial` if there are gaps;
  /// `none` without any sandbox.
  public var description: String {
    var words: [String] = []
    if let landlockABI { words.append("landlock-\(landlockABI)") }
    if seccomp { words.append("seccomp") }
    if noNewPrivileges { words.append("no-new-privs") }
    if !dumpable { words.append("no-dump") }
    if words.isEmpty { return "none" }
    if !gaps.isEmpty { words.append("partial") }
    return words.joined(separator: " ")
  }
}
