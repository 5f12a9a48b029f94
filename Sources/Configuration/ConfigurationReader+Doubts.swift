import Contracts

// What is allowed and yet hardly meant: told by `roostd --check`, refused by nobody. A program may be built later, and
// a relay may stand there for a later version; whoever asks for a check wants to hear of it all the same.

extension ConfigurationReader {
  /// The doubts about a configuration without problems, in the order of the file.
  ///
  /// - Parameter isProgram: whether a file that can be run is at this absolute path.
  mutating func doubts(isProgram: (String) -> Bool) -> [ConfigurationProblem] {
    guard !configuration.workers.isEmpty else {
      return [
        ConfigurationProblem(
          file: file, table: "", message: "no worker: roostd would run nothing; a table [worker.NAME] gives it one")
      ]
    }
    for worker in configuration.workers {
      doubtProgram(of: worker, isProgram)
      doubtRelays(of: worker)
    }
    return sortedProblems
  }

  private mutating func doubtProgram(of worker: WorkerConfiguration, _ isProgram: (String) -> Bool) {
    let table = ConfigurationPath("worker", worker.name)
    let key = ["program", "role"].map { table.appending($0) }.first(where: document.contains) ?? table
    let directories = configuration.supervisor.programDirectories
    if worker.program.contains("/") {
      if !isProgram(worker.program) {
        report("there is no program at \(worker.program) that could be run", at: key, tableDepth: 2)
      }
    } else if !directories.contains(where: { isProgram("\($0)/\(worker.program)") }) {
      report(
        "there is no program '\(worker.program)' in \(directories.joined(separator: ", "))", at: key, tableDepth: 2)
    }
  }

  private mutating func doubtRelays(of worker: WorkerConfiguration) {
    guard worker.role == Role.relayConnector.name else { return }
    let relays = worker.settings["relays"].flatMap([String].init(configurationValue:)) ?? []
    for (index, url) in relays.enumerated() where url.lowercased().hasPrefix("wss:") {
      report(
        "\"\(url)\" will not be dialled: this version of relay-connector speaks ws:// only",
        at: ConfigurationPath("worker", worker.name, "relays").appending(.index(index)), tableDepth: 2)
    }
  }
}
