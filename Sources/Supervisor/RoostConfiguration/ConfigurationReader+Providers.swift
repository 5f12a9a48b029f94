internal import Contracts

// Providers of jobs: problems that no single value shows, and doubts.

extension ConfigurationReader {
  /// Refuses two providers that answer as one account and serve the same kind: each has its own ledger, so both would
  /// do the work, and the customer would receive two results, of which the second looks like a correction of the first.
  mutating func checkProviders() {
    var taken: [(account: String, kind: Int, worker: String, path: ConfigurationPath)] = []
    for worker in configuration.workers where worker.role == Role.dvmProvider.name {
      let table = ConfigurationPath("worker", worker.name)
      let account = worker.answeringAccount
      var isTold = false
      for job in worker.jobs where job.enabled {
        let named = table.appending("job").appending("\(job.kind)")
        let path = document.contains(named) ? named : table
        guard let other = taken.first(where: { $0.account == account && $0.kind == job.kind }) else {
          taken.append((account, job.kind, worker.name, path))
          continue
        }
        // One complaint is enough: another account fixes all kinds.
        guard !isTold else { continue }
        isTold = true
        let line = document.line(of: other.path).map { ", line \($0)" } ?? ""
        let who = account.isEmpty ? "the providers' own account" : "the account \"\(account)\""
        report(
          "jobs of kind \(job.kind) are already done by [worker.\(other.worker)]\(line) as \(who): a customer would be"
            + " answered twice; give one of the two another account, or enabled = false for the kind",
          at: path, tableDepth: path.steps.count)
      }
    }
  }

  /// Warns about a price: the provider sends a bill but cannot notice the payment, so the job would never be done.
  mutating func doubtPrice(of job: JobConfiguration, _ worker: WorkerConfiguration) {
    guard job.price > 0 else { return }
    report(
      "a price can be asked for, and not yet be received: no payment is noticed, so no job of this kind is done;"
        + " without price it is done for nothing",
      at: ConfigurationPath("worker", worker.name, "job", "\(job.kind)").appending("price"), tableDepth: 4)
  }

  /// Warns about programs of the user's that would not be run, and about what they may read.
  mutating func doubtUserPrograms(of worker: WorkerConfiguration, _ look: (String) -> ProgramFinding) {
    var told: Set<ConfigurationPath> = []
    for program in worker.userPrograms {
      func place(_ steps: [String]) -> ConfigurationPath {
        steps.reduce(ConfigurationPath("worker", worker.name)) { $0.appending($1) }
      }
      let (command, depth) = (place(program.command), program.command.count + 1)
      if let complaint = look(program.path).complaint(aboutJobAt: program.path) {
        report("\(program.path) \(complaint)", at: command, tableDepth: depth)
      }
      for (index, argument) in program.words.enumerated().dropFirst() {
        guard let complaint = complaint(about: argument, of: program, look) else { continue }
        report(complaint, at: command.appending(.index(index)), tableDepth: depth)
      }
      // Two programs may have one list.
      guard told.insert(place(program.readable)).inserted else { continue }
      for path in program.read {
        guard let complaint = complaint(aboutReading: path, look) else { continue }
        report("\(path) \(complaint)", at: place(program.readable), tableDepth: depth)
      }
    }
  }

  /// A program works for strangers, who may learn what it reads.
  private func complaint(aboutReading path: String, _ look: (String) -> ProgramFinding) -> String? {
    if look(path) == .missing { return "is not there, and stays denied if it comes later" }
    if path == "/" { return "lets the program read all files, keys among them; name what it needs" }
    let supervisor = configuration.supervisor
    for (own, what) in [(supervisor.stateDirectory, "state-directory"), (supervisor.runDirectory, "run-directory")] {
      if path == own || own.hasPrefix(path + "/") { return "holds \(what), with what the workers keep" }
      if path.hasPrefix(own + "/") { return "lies in \(what), among what the workers keep" }
    }
    return nil
  }

  /// Warns about an argument that the program cannot use as a path. Arguments are passed on unchanged, and the program
  /// runs in an empty folder of its own, so a path to something beside the configuration file leads nowhere. The value
  /// of an option is checked as well.
  private func complaint(
    about argument: String, of program: UserProgram, _ look: (String) -> ProgramFinding
  ) -> String? {
    let value = argument.hasPrefix("-") ? argument.split(separator: "=", maxSplits: 1).dropFirst().first : argument[...]
    let list = program.readable.last ?? ""
    guard let text = value.map(String.init), !text.isEmpty, text != ".", text != ".." else { return nil }
    let path = context.surroundings.absolute(text, in: context.directory)
    guard look(path) != .missing else { return nil }
    guard text.hasPrefix("/") else {
      return "\"\(text)\" is there beside this file, and the program looks for it in its own, empty folder; write"
        + " \"\(path)\", and name that in \(list)"
    }
    let readable = Self.alwaysReadable + program.read + [program.path]
    guard !readable.contains(where: { path == $0 || path.hasPrefix($0 + "/") || $0 == "/" }) else { return nil }
    return "\(path) is there, and the program may not read it; name it in \(list)"
  }

  /// Paths that programs may read without `read`, wholly or as much of them as a program needs.
  private static let alwaysReadable = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/etc", "/sys"]
}

extension WorkerConfiguration {
  /// Whether programs do jobs for customers that are not accounts of this machine.
  public var servesStrangers: Bool {
    role == Role.dvmProvider.name && enabled && runsUserPrograms
      && settings["customers"].flatMap([String].init(configurationValue:)) != ["accounts"]
  }

  /// The account that a provider answers as, from what the file shows: the file does not say which key a name belongs
  /// to.
  fileprivate var answeringAccount: String {
    let text = settings["account"].flatMap(String.init(configurationValue:)) ?? ""
    let isKey = Notation<String>.isPublicKey(text)
    return isKey ? text.lowercased().dropped(prefix: "nostr:") : text
  }
}

extension String {
  fileprivate func dropped(prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}
