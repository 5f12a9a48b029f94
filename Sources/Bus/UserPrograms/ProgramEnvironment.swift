internal import Glibc
public import LinuxSystem

/// The surroundings of a worker that runs programs, looked up before its sandbox closes the view.
public struct ProgramEnvironment: Sendable {
  /// This program's own file.
  public let program: String
  /// The exec shim, in the same folder.
  public let shim: String
  /// Files and folders that this program was loaded from, which are needed to start it again.
  public let ownPaths: [String]
  /// The programs that it may run, which roostd passes on before there are settings (`ROOST_JOB_PROGRAMS`, separated by
  /// `:`).
  public let programPaths: [String]
  /// What else they may read (`ROOST_JOB_READ`).
  public let readablePaths: [String]
  /// The files at those paths.
  public let files: ProgramFiles
  /// Whether any of them may use the network (`ROOST_JOB_NETWORK`).
  public let mayUseNetwork: Bool
  /// Whether any of them may reach services of this machine by unix sockets (`ROOST_JOB_UNIX`).
  public let mayUseUnixSockets: Bool
  /// The kernel's group below which each run gets its own (`ROOST_JOB_GROUP`); nil if roostd has none to give.
  public let group: ControlGroup?
  /// How much isolation is required (`ROOST_SANDBOX`).
  public let requirement: Sandbox.Requirement

  /// The surroundings at the first use of this constant.
  public static let own = ProgramEnvironment()

  /// Where systems keep programs, and what these are loaded from.
  public static let systemPaths = ["/usr", "/bin", "/sbin", "/lib", "/lib64"]

  /// Adds to a worker's profile what it needs to run its programs, and what they may do: a program may do no more than
  /// its worker, and the sandbox of each run allows less. Sockets of the internet are the worker's own decision.
  public func allowPrograms(in profile: inout SandboxProfile) {
    profile.maySpawn = true
    profile.readablePaths += readablePaths + ["/proc"]
    profile.writablePaths += (group.map { [$0.path] } ?? []) + ["/dev/null"]
    profile.executablePaths +=
      Self.systemPaths + ownPaths + programPaths.flatMap(SandboxProfile.renewable)
    if mayUseUnixSockets { (profile.mayConnectUnixSockets, profile.mayReachAbstractSockets) = (true, true) }
  }

  private init() {
    let program = Self.target(of: "/proc/self/exe") ?? CommandLine.arguments[0]
    self.program = program
    let folder = program.lastIndex(of: "/").map { String(program[..<$0]) } ?? "."
    shim = folder + "/roost-exec"
    ownPaths = [program, shim] + Self.libraryFolders().filter { $0 != folder }
    func list(_ name: String) -> [String] {
      getenv(name).map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
    }
    programPaths = list("ROOST_JOB_PROGRAMS")
    readablePaths = list("ROOST_JOB_READ")
    files = ProgramFiles(programPaths + readablePaths)
    mayUseNetwork = getenv("ROOST_JOB_NETWORK") != nil
    mayUseUnixSockets = getenv("ROOST_JOB_UNIX") != nil
    group = getenv("ROOST_JOB_GROUP").map { ControlGroup(path: String(cString: $0)) }
    requirement = getenv("ROOST_SANDBOX").flatMap { Sandbox.Requirement(rawValue: String(cString: $0)) } ?? .off
  }

  private static func target(of link: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }

  /// The folders of the libraries that are mapped now; those of Swift may be anywhere.
  private static func libraryFolders() -> [String] {
    guard let file = fopen("/proc/self/maps", "r") else { return [] }
    defer { fclose(file) }
    var folders: Set<String> = []
    var line: UnsafeMutablePointer<CChar>?
    var size = 0
    defer { free(line) }
    while getline(&line, &size, file) > 0, let line {
      let text = String(cString: line)
      guard let start = text.firstIndex(of: "/"), text.contains(".so"), let end = text.lastIndex(of: "/") else {
        continue
      }
      folders.insert(String(text[start..<end]))
    }
    return folders.sorted()
  }
}
