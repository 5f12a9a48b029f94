internal import Contracts

extension ConfigurationReader {
  /// Reads `[worker.NAME]` with its inner tables.
  ///
  /// The role comes first, because it decides which further keys there are.
  mutating func readWorker(_ name: String, _ value: ConfigurationValue, at path: ConfigurationPath) {
    var role = name
    if case .string(let text)? = value["role"] { role = text }
    var worker = WorkerConfiguration(name: name, role: role)
    var settings = Schema.worker + Schema.settings(ofRole: role)
    if !isBuiltIn(role), value["role"] == nil || !isOwn(role) {
      // If the role is in doubt, no role's keys are called unknown: one mistake, one complaint.
      settings += Schema.byRole.filter { $0.key != role }.flatMap(\.value)
    }
    let takesJobs = role == Role.dvmProvider.name
    let takesWakes = role == Role.pushRelay.name
    let takesKeeps = role == Role.mirror.name
    let tables =
      ["limits", "settings"] + (takesJobs ? ["job"] : []) + (takesWakes ? ["wake"] : []) + (takesKeeps ? ["keep"] : [])
    worker = read(value, at: path, settings, others: tables, over: worker)
    if let limits = value["limits"] {
      worker = read(limits, at: path.appending("limits"), Schema.limits, over: worker)
    }
    if takesJobs, let jobs = value["job"] { readJobs(jobs, at: path.appending("job"), into: &worker) }
    if takesWakes, let wakes = value["wake"] { readWakes(wakes, at: path.appending("wake"), into: &worker) }
    if takesKeeps, let keeps = value["keep"] { readKeeps(keeps, at: path.appending("keep"), into: &worker) }
    if let own = value["settings"] {
      readOwnSettings(own, at: path.appending("settings"), into: &worker)
    }
    configuration.workers.append(worker)
  }

  /// `[worker.NAME.settings]` goes unchanged to a worker of a user's own role.
  private mutating func readOwnSettings(
    _ value: ConfigurationValue, at path: ConfigurationPath, into worker: inout WorkerConfiguration
  ) {
    if isBuiltIn(worker.role) {
      report(
        "role \(worker.role) takes its keys in [\(path.parent)] itself; only roles of your own, [role.NAME],"
          + " have a table of settings", at: path, tableDepth: 3)
    } else if case .table = value {
      worker.settings = value
    } else {
      report("expected one table, [\(path)], but this is \(value.kind)", at: path, tableDepth: 3)
    }
  }

  func isBuiltIn(_ role: String) -> Bool { RoleConfiguration.builtIn.contains(role) }

  /// Roles are read before workers, wherever they are in the file.
  func isOwn(_ role: String) -> Bool { configuration.roles.contains { $0.name == role } }
}
