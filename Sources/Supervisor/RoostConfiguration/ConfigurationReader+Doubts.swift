import Contracts
import Frames

// What is allowed and yet hardly meant: told by `roostd --check` and `roost reload`, refused by nobody. A program may
// be built later; whoever asks for a check wants to hear of it all the same. Beside problems the doubts are told too,
// but none that a problem may be the cause of: one mistake, one complaint.

/// What is found where a program, or what one reads, should be.
public enum ProgramFinding: Hashable, Sendable {
  /// A file that can be run.
  case runnable
  /// A file that can be run, and that others than we and root can change: how, and what to do about it.
  case changeable(String)
  /// Nothing.
  case missing
  /// A directory.
  case directory
  /// Neither a file nor a directory.
  case special
  /// A file that we may not run.
  case notExecutable
  /// A script whose interpreter, the path given, is not there.
  case withoutInterpreter(String)

  /// What is wrong with it, after its path; nil if nothing is.
  public var complaint: String? {
    switch self {
    case .runnable, .changeable: nil
    case .missing: "is not there"
    case .directory: "is a directory, not a program"
    case .special: "is no regular file"
    case .notExecutable: "is not executable"
    case .withoutInterpreter(let path): "asks in its first line for \(path), which is not there"
    }
  }

  /// Why the program of a job is not run, after its path, with what to do; nil if it is. It does as we do, so it must
  /// be ours alone.
  ///
  /// - Parameter path: where it is.
  public func complaint(aboutJobAt path: String) -> String? {
    switch self {
    case .changeable(let how): "can be changed by others, and is not run then: \(how)"
    case .notExecutable: "is not executable: chmod +x \(path)"
    case .runnable, .missing, .directory, .special, .withoutInterpreter: complaint
    }
  }

  var isRunnable: Bool {
    switch self {
    case .runnable, .changeable: true
    case .missing, .directory, .special, .notExecutable, .withoutInterpreter: false
    }
  }
}

extension ConfigurationReader {
  /// The doubts, in the order of the file. The problems, which others have been told, are forgotten.
  ///
  /// - Parameters:
  ///   - program: what is at this absolute path.
  ///   - secretFile: what is seen of a file with a key or a certificate; nil where nobody looks.
  ///   - strangers: what is wrong with this machine for programs that do jobs of strangers.
  mutating func doubts(
    program: (String) -> ProgramFinding, secretFile: (String) -> SecretFileFinding?, strangers: String?
  ) -> [ConfigurationProblem] {
    let problems = takeProblems()
    doubtLevels()
    for worker in configuration.workers {
      if !problems.contains(where: { Self.decidesProgram($0, of: worker) }) { doubtProgram(of: worker, program) }
      doubtPushRelay(worker, isThere: { program($0) != .missing }, file: secretFile)
      if let strangers, worker.servesStrangers {
        report(strangers, at: ConfigurationPath("worker", worker.name, "customers"), tableDepth: 2)
      }
      for job in worker.jobs where job.enabled {
        doubtProgram(of: job, worker, program)
        doubtPrice(of: job, worker)
      }
    }
    guard configuration.workers.isEmpty, problems.isEmpty else { return sortedProblems }
    let none = "no worker: roostd would run nothing; a table [worker.NAME] gives it one"
    return [ConfigurationProblem(file: file, table: "", message: none)] + sortedProblems
  }

  /// Whether the program of this worker may be another once the problem is mended.
  private static func decidesProgram(_ problem: ConfigurationProblem, of worker: WorkerConfiguration) -> Bool {
    switch problem.table {
    case "supervisor": problem.key?.hasPrefix("program-directories") ?? false
    // No key: its role is missing, or a key is unknown, which may have been meant for one of these.
    case ConfigurationPath("worker", worker.name).description: ["program", "role", nil].contains(problem.key)
    default: false
    }
  }

  /// A person's own worker may log in any category; most names that nobody knows are mistyped all the same.
  private mutating func doubtLevels() {
    let known = LogCategory.builtIn
    for category in configuration.log.levels.keys.sorted() where !known.contains(category) {
      report(
        "nothing of Roost's own logs in category '\(category)'; known: \(known.joined(separator: ", "))",
        at: ConfigurationPath("log", "levels", category), tableDepth: 1,
        nearest: NearestName.find(category, among: known))
    }
  }

  private mutating func doubtProgram(of worker: WorkerConfiguration, _ program: (String) -> ProgramFinding) {
    let table = ConfigurationPath("worker", worker.name)
    let key = ["program", "role"].map { table.appending($0) }.first(where: document.contains) ?? table
    let directories = configuration.supervisor.programDirectories
    if worker.program.contains("/") {
      if let complaint = program(worker.program).complaint {
        report("\(worker.program) \(complaint)", at: key, tableDepth: 2)
      }
    } else if !directories.contains(where: { program("\($0)/\(worker.program)").isRunnable }) {
      report(
        "there is no program '\(worker.program)' in \(directories.joined(separator: ", "))", at: key, tableDepth: 2)
    }
  }
}
