import Glibc
import LinuxSystem

/// What there is around this program, looked up before its sandbox closes the view.
struct ProgramEnvironment: Sendable {
  /// This program's own file.
  let program: String
  /// The exec shim, which stands beside it.
  let shim: String
  /// Files and folders that this program was loaded from: what it takes to start it once more.
  let ownPaths: [String]
  /// The programs of all jobs, as roostd tells before there are settings (`ROOST_JOB_PROGRAMS`, with `:` between).
  let programPaths: [String]
  /// What jobs may read besides (`ROOST_JOB_READ`).
  let readablePaths: [String]
  /// What stands at those paths.
  let files: ProgramFiles
  /// Whether any job has the network (`ROOST_JOB_NETWORK`).
  let mayUseNetwork: Bool
  /// Where each run has a group of the kernel's below (`ROOST_JOB_GROUP`); nil where roostd has none to give.
  let group: ControlGroup?
  /// How much isolation is asked for (`ROOST_SANDBOX`).
  let requirement: Sandbox.Requirement

  /// As it was when it was first asked for.
  static let own = ProgramEnvironment()

  /// Where systems keep programs, and what those are loaded from.
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

  /// The folders of the libraries that are mapped now: those of Swift may be anywhere.
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
