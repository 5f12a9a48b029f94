import Contracts

// What is allowed and yet hardly meant: told by `roostd --check`, refused by nobody. A program may be built later, and
// a relay may stand there for a later version; whoever asks for a check wants to hear of it all the same.

/// What is found where a program should be.
public enum ProgramFinding: Hashable, Sendable {
  /// A file that can be run.
  case runnable
  /// Nothing.
  case missing
  /// A directory.
  case directory
  /// Neither a file nor a directory.
  case special
  /// A file that we may not run.
  case notExecutable

  /// What is wrong with it, after its path; nil if nothing is.
  public var complaint: String? {
    switch self {
    case .runnable: nil
    case .missing: "is not there"
    case .directory: "is a directory, not a program"
    case .special: "is no regular file"
    case .notExecutable: "is not executable"
    }
  }
}

extension ConfigurationReader {
  /// The doubts about a configuration without problems, in the order of the file.
  ///
  /// - Parameter program: what is at this absolute path.
  mutating func doubts(program: (String) -> ProgramFinding) -> [ConfigurationProblem] {
    guard !configuration.workers.isEmpty else {
      return [
        ConfigurationProblem(
          file: file, table: "", message: "no worker: roostd would run nothing; a table [worker.NAME] gives it one")
      ]
    }
    for worker in configuration.workers {
      doubtProgram(of: worker, program)
      doubtRelays(of: worker)
    }
    return sortedProblems
  }

  private mutating func doubtProgram(of worker: WorkerConfiguration, _ program: (String) -> ProgramFinding) {
    let table = ConfigurationPath("worker", worker.name)
    let key = ["program", "role"].map { table.appending($0) }.first(where: document.contains) ?? table
    let directories = configuration.supervisor.programDirectories
    if worker.program.contains("/") {
      if let complaint = program(worker.program).complaint {
        report("\(worker.program) \(complaint)", at: key, tableDepth: 2)
      }
    } else if !directories.contains(where: { program("\($0)/\(worker.program)") == .runnable }) {
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
