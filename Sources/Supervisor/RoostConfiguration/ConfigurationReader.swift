import Contracts
import Frames

/// Reads a parsed file into the structures, and collects everything that is wrong with it.
///
/// A problem never ends the reading: a faulty value keeps its default and the rest is still read, so that one run shows
/// everything to fix. The structures are handed out only if there is no problem at all.
struct ConfigurationReader {
  let file: String
  let document: TOMLDocument
  let context: NotationContext
  private var findings: [Finding] = []
  var configuration: SupervisorConfiguration

  /// A problem, and the byte of the file that it points at.
  private struct Finding {
    let problem: ConfigurationProblem
    let offset: Int?
  }

  init(file: String, absoluteFile: String, document: TOMLDocument, surroundings: ConfigurationSurroundings) {
    self.file = file
    self.document = document
    context = NotationContext(surroundings: surroundings, directory: FilePaths.directory(of: absoluteFile))
    let directories = StandardDirectories(file: absoluteFile, surroundings: surroundings)
    configuration = SupervisorConfiguration(file: absoluteFile, directories: directories)
    self.directories = directories
  }

  private let directories: StandardDirectories

  /// Notes a problem. The first `tableDepth` steps of `path` are the table, the rest is the key.
  mutating func report(
    _ message: String, at path: ConfigurationPath, tableDepth: Int, nearest: String? = nil
  ) {
    let table = ConfigurationPath(steps: Array(path.steps.prefix(tableDepth)))
    let key = ConfigurationPath(steps: Array(path.steps.dropFirst(tableDepth)))
    note(message, at: path, table: table, key: key.steps.isEmpty ? nil : key.description, nearest: nearest)
  }

  /// Notes a problem at the place of `path`.
  private mutating func note(
    _ message: String, at path: ConfigurationPath, table: ConfigurationPath, key: String? = nil, nearest: String? = nil
  ) {
    let offset = document.offset(of: path)
    let problem = ConfigurationProblem(
      file: file, line: offset.map(document.source.line), table: table.description, key: key, message: message,
      nearest: nearest)
    findings.append(Finding(problem: problem, offset: offset))
  }

  /// Whether `isSuch` accepts one of the noted problems.
  func hasProblem(where isSuch: (ConfigurationProblem) -> Bool) -> Bool {
    findings.contains { isSuch($0.problem) }
  }

  /// The problems in the order of the file; those at one place keep the order in which they were found.
  var sortedProblems: [ConfigurationProblem] {
    findings.enumerated()
      .sorted { ($0.element.offset ?? -1, $0.offset) < ($1.element.offset ?? -1, $1.offset) }
      .map(\.element.problem)
  }

  /// The configuration; throws if there is a problem.
  func verified() throws(ConfigurationError) -> SupervisorConfiguration {
    guard findings.isEmpty else { throw .problems(sortedProblems) }
    return configuration
  }

  /// Hands out the problems, in the order of the file, and forgets them; what is noted later is separate from them.
  mutating func takeProblems() -> [ConfigurationProblem] {
    defer { findings = [] }
    return sortedProblems
  }

  /// Reads the whole document.
  mutating func read() {
    for date in document.dates {
      let place = date.steps.firstIndex { if case .index = $0 { true } else { false } } ?? date.steps.count
      report("no setting is a date or a time", at: date, tableDepth: max(0, place - 1))
    }
    let tree = document.tree
    if let table = tree["supervisor"] { readSupervisor(table, at: ConfigurationPath("supervisor")) }
    if let table = tree["bus"] {
      configuration.bus = read(table, at: ConfigurationPath("bus"), Schema.bus, over: configuration.bus)
    }
    if let table = tree["log"] {
      configuration.log = read(table, at: ConfigurationPath("log"), Schema.log, over: configuration.log)
    }
    // Roles first: which keys a worker may have depends on whether its role is one of them.
    if let table = tree["role"] {
      readNamed(table, at: ConfigurationPath("role"), "a role", maximum: AccessTable.customRoleMaximum) {
        $0.readRole($1, $2, at: $3)
      }
    }
    if let table = tree["worker"] {
      readNamed(table, at: ConfigurationPath("worker"), "a worker", maximum: Limits.workerCountMaximum) {
        $0.readWorker($1, $2, at: $3)
      }
    }
    for (name, value) in tree.sorted(by: { $0.key < $1.key }) where !Schema.tables.contains(name) {
      reportUnknownAtTop(name, value, at: ConfigurationPath(name))
    }
  }

  private mutating func reportUnknownAtTop(_ name: String, _ value: ConfigurationValue, at path: ConfigurationPath) {
    if case .table = value {
      report("unknown table", at: path, tableDepth: 1, nearest: NearestName.find(name, among: Schema.tables))
    } else {
      let message = "unknown key '\(name)' outside any table" + home(of: name, apartFrom: "")
      note(message, at: path, table: .top)
    }
  }

  private mutating func readSupervisor(_ value: ConfigurationValue, at path: ConfigurationPath) {
    configuration.supervisor = read(value, at: path, Schema.supervisor, over: configuration.supervisor)
    // Two defaults depend on values that the file may have set.
    let settings = configuration.supervisor
    if value["log-directory"] == nil {
      configuration.supervisor.logDirectory = directories.logs(
        state: settings.stateDirectory, run: settings.runDirectory)
    }
    if value["socket"] == nil { configuration.supervisor.socket = settings.runDirectory + "/roost.sock" }
  }

  /// Reads `[worker.…]` or `[role.…]`: tables by name, in the order of the file.
  private mutating func readNamed(
    _ value: ConfigurationValue, at path: ConfigurationPath, _ what: String, maximum: Int,
    _ read: (inout ConfigurationReader, String, ConfigurationValue, ConfigurationPath) -> Void
  ) {
    guard case .table(let entries) = value else {
      return report(
        "expected tables by name, [\(path).NAME], but this is \(value.kind)", at: path, tableDepth: 1)
    }
    guard entries.count <= maximum else {
      return report("\(entries.count) tables; at most \(maximum) are possible", at: path, tableDepth: 1)
    }
    let ordered = entries.sorted {
      (document.offset(of: path.appending($0.key)) ?? 0) < (document.offset(of: path.appending($1.key)) ?? 0)
    }
    for (name, value) in ordered {
      let inner = path.appending(name)
      guard case .table = value else {
        report("\(what) needs a name: write [\(path).NAME] above this key", at: inner, tableDepth: 1)
        continue
      }
      if let complaint = Names.complaint(about: name) {
        report(complaint, at: inner, tableDepth: 2)
      } else {
        read(&self, name, value, inner)
      }
    }
  }

  private mutating func readRole(_ name: String, _ value: ConfigurationValue, at path: ConfigurationPath) {
    if RoleConfiguration.builtIn.contains(name) {
      report("the role '\(name)' is built in and cannot be described here", at: path, tableDepth: 2)
    } else if RoleConfiguration.reserved.contains(name) {
      report("'\(name)' has a meaning of its own on the bus; give the role another name", at: path, tableDepth: 2)
    }
    configuration.roles.append(read(value, at: path, Schema.role, over: RoleConfiguration(name: name)))
  }

  /// Reads one table by its list of keys over the values of `start`. Other methods read the keys in `others`.
  mutating func read<Root>(
    _ value: ConfigurationValue, at path: ConfigurationPath, _ settings: [Setting<Root>], others: [String] = [],
    over start: Root
  ) -> Root {
    let depth = path.steps.count
    guard case .table(let entries) = value else {
      report("expected one table, [\(path)], but this is \(value.kind)", at: path, tableDepth: depth)
      return start
    }
    var root = start
    for (key, value) in entries.sorted(by: { $0.key < $1.key }) where !others.contains(key) {
      let inner = path.appending(key)
      guard let setting = settings.first(where: { $0.name == key }) else {
        reportUnknown(key, at: inner, known: settings.map(\.name) + others)
        continue
      }
      do throws(Complaints) {
        try setting.write(&root, value, context)
      } catch {
        for complaint in error.list {
          let place = ConfigurationPath(steps: inner.steps + complaint.steps)
          report(complaint.message, at: place, tableDepth: depth, nearest: complaint.nearest)
        }
      }
    }
    return root
  }

  private mutating func reportUnknown(_ key: String, at path: ConfigurationPath, known: [String]) {
    let hint = home(of: key, apartFrom: path.parent.description)
    let nearest = hint.isEmpty ? NearestName.find(key, among: known) : nil
    note("unknown key '\(key)'" + hint, at: path, table: path.parent, nearest: nearest)
  }

  /// A hint at the table where a misplaced key belongs; empty if no table has it.
  private func home(of key: String, apartFrom table: String) -> String {
    let tables: [(String, [String])] =
      [
        ("[supervisor]", Schema.supervisor.map(\.name)), ("[bus]", Schema.bus.map(\.name)),
        ("[log]", Schema.log.map(\.name)), ("[worker.NAME]", Schema.worker.map(\.name)),
        ("[worker.NAME.limits]", Schema.limits.map(\.name)), ("[role.NAME]", Schema.role.map(\.name)),
      ]
    let home = tables.first { $0.1.contains(key) && $0.0 != "[\(table)]" }
    if let home { return "; it belongs in \(home.0)" }
    let roles = Schema.byRole.filter { $0.value.contains { $0.name == key } }.keys.sorted()
    return roles.isEmpty ? "" : "; it belongs in a worker of role \(roles.joined(separator: " or "))"
  }
}
