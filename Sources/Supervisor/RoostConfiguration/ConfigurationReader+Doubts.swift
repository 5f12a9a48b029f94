import Contracts
import Frames

// Doubts: what is allowed but probably not intended. `roostd --check` and `roost reload` report them, and nothing is
// refused because of one. A program, for example, may be built later, but a check should mention that it is missing.
// Doubts are reported together with problems, except a doubt that a problem may have caused: one mistake, one
// complaint.

/// What is at the path of a program, or of a file that a program reads.
public enum ProgramFinding: Hashable, Sendable {
  /// A file that can be run.
  case runnable
  /// A file that can be run, but that users other than this one and root can change: how, and what to do about it.
  case changeable(String)
  /// Nothing.
  case missing
  /// A directory.
  case directory
  /// Neither a file nor a directory.
  case special
  /// A file that this process may not run.
  case notExecutable
  /// A script whose interpreter, at this path, does not exist.
  case withoutInterpreter(String)

  /// What is wrong with it, as text to put after its path; nil if nothing is.
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

  /// Why a job's program is not run, and what to do, as text to put after its path; nil if it is run. The program acts
  /// with the rights of this user, so no other user may be able to change it.
  ///
  /// - Parameter path: where the program is.
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
  /// The doubts, in the order of the file. Drops the problems, which the caller has already taken.
  ///
  /// - Parameters:
  ///   - program: returns what is at this absolute path.
  ///   - secretFile: returns what a look at a file with a key or a certificate shows; nil if it was not examined.
  ///   - strangers: what is wrong with this machine for programs that do jobs for strangers; nil if nothing is.
  ///   - members: returns the uids of a group's members; nil if there is no such group.
  mutating func doubts(
    program: (String) -> ProgramFinding, secretFile: (String) -> SecretFileFinding?, strangers: String?,
    members: (String) -> [UInt32]?
  ) -> [ConfigurationProblem] {
    let problems = takeProblems()
    doubtGroups(members)
    doubtLevels()
    for worker in configuration.workers {
      if !problems.contains(where: { Self.decidesProgram($0, of: worker) }) { doubtProgram(of: worker, program) }
      doubtPushRelay(worker, isThere: { program($0) != .missing }, file: secretFile)
      if worker.mayFollowPrivateAddresses {
        report(
          WorkerConfiguration.privateAddressRisk,
          at: ConfigurationPath("worker", worker.name, "allow-private-relays"), tableDepth: 2)
      }
      if let strangers, worker.servesStrangers {
        report(strangers, at: ConfigurationPath("worker", worker.name, "customers"), tableDepth: 2)
      }
      doubtUserPrograms(of: worker, program)
      for job in worker.jobs where job.enabled { doubtPrice(of: job, worker) }
    }
    guard configuration.workers.isEmpty, problems.isEmpty else { return sortedProblems }
    let none = "no worker: roostd would run nothing; a table [worker.NAME] gives it one"
    return [ConfigurationProblem(file: file, table: "", message: none)] + sortedProblems
  }

  /// Takes up which users are in the groups of the file. The reload finds who has come to a group or left it since.
  mutating func findMembers(_ members: (String) -> [UInt32]?) {
    configuration.supervisor.groupMembers = configuration.supervisor.allowGroups.flatMap { members($0) ?? [] }
  }

  private mutating func doubtGroups(_ members: (String) -> [UInt32]?) {
    for (index, group) in configuration.supervisor.allowGroups.enumerated() where members(group) == nil {
      let path = ConfigurationPath(steps: ConfigurationPath("supervisor", "allow-groups").steps + [.index(index)])
      report("this machine has no group '\(group)', so no user is let in for it", at: path, tableDepth: 1)
    }
  }

  /// Whether fixing the problem may give this worker another program.
  private static func decidesProgram(_ problem: ConfigurationProblem, of worker: WorkerConfiguration) -> Bool {
    switch problem.table {
    case "supervisor": problem.key?.hasPrefix("program-directories") ?? false
    // Without a key: the role is missing, or the key is unknown and may have been meant as `program` or `role`.
    case ConfigurationPath("worker", worker.name).description: ["program", "role", nil].contains(problem.key)
    default: false
    }
  }

  /// A user's own worker may log in any category, but most unknown names are mistyped.
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
