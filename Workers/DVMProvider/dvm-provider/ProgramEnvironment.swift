import Glibc
import LinuxSystem

/// The surroundings of this program, looked up before its sandbox closes the view.
struct ProgramEnvironment: Sendable {
  /// This program's own file.
  let program: String
  /// The exec shim, in the same folder.
  let shim: String
  /// Files and folders that this program was loaded from, which are needed to start it again.
  let ownPaths: [String]
  /// The programs of all jobs, which roostd passes on before there are settings (`ROOST_JOB_PROGRAMS`, separated by
  /// `:`).
  let programPaths: [String]
  /// What else jobs may read (`ROOST_JOB_READ`).
  let readablePaths: [String]
  /// The files at those paths.
  let files: ProgramFiles
  /// Whether any job may use the network (`ROOST_JOB_NETWORK`).
  let mayUseNetwork: Bool
  /// The kernel's group below which each run gets its own (`ROOST_JOB_GROUP`); nil if roostd has none to give.
  let group: ControlGroup?
  /// How much isolation is required (`ROOST_SANDBOX`).
  let requirement: Sandbox.Requirement

  /// The surroundings at the first use of this constant.
  static let own = ProgramEnvironment()

  /// Where systems keep programs, and what these are loaded from.
  static let systemPaths = ["/usr", "/bin", "/sbin", "/lib", "/lib64"]

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
