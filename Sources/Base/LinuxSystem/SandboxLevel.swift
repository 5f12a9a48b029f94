/// What a sandbox achieved. Each field is what the kernel confirmed, never what was asked for.
///
/// As JSON in a worker's HELLO:
/// `{"landlockABI":7,"seccomp":true,"noNewPrivileges":true,"dumpable":true,"gaps":[],"notes":[]}`.
public struct SandboxLevel: Hashable, Sendable, Codable, CustomStringConvertible {
  /// Version of the Landlock interface whose rules are in force; nil if none are.
  public var landlockABI: Int?
  /// Whether the system call filter is in force for all threads.
  public var seccomp: Bool
  /// Whether new privileges are given up.
  public var noNewPrivileges: Bool
  /// Whether the process can be traced and dumped by its own user.
  public var dumpable: Bool
  /// What the profile denies and this kernel lets through, in sentences. Empty: all of the profile holds.
  public var gaps: [String]
  /// What else one should know, as listed paths that do not exist.
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

  /// In a few words: `landlock-7 seccomp no-new-privs`, then `no-dump` where that is so, and `partial` if there are
  /// gaps; `none` for no sandbox at all.
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
