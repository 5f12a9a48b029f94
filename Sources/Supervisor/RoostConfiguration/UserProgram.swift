internal import Contracts

// Programs of the user's that workers run in a sandbox of their own: those of jobs, and the two of `link-page`. What
// roostd prepares and looks at is the same for all of them.

/// A program of the user's that a worker runs.
public struct UserProgram: Sendable, Hashable {
  /// The setting that names it, as a person refers to it: `job 5001`, `notify`.
  public var name: String
  /// Where its command is, below the worker's table.
  var command: [String]
  /// Where the paths are that it may read.
  var readable: [String]
  /// The program's absolute path and its arguments; never empty.
  var words: [String]
  /// Paths that it may read in addition to what every program needs.
  var read: [String]
  /// What it may open sockets for.
  var network: Network

  enum Network: Sendable, Hashable {
    case none, unixSockets, internet
  }

  /// The program's absolute path.
  public var path: String { words[0] }
}

extension WorkerConfiguration {
  /// The programs of the user's that the worker runs.
  public var userPrograms: [UserProgram] {
    if role == Role.linkPage.name { return linkPrograms }
    return jobs.filter { $0.enabled && !$0.program.isEmpty }.map { job in
      UserProgram(
        name: "job \(job.kind)", command: ["job", "\(job.kind)", "program"], readable: ["job", "\(job.kind)", "read"],
        words: job.program, read: job.read, network: job.network ? .internet : .none)
    }
  }

  /// Whether it runs programs of the user's.
  public var runsUserPrograms: Bool { !userPrograms.isEmpty }

  /// Those of `link-page`: one reaches the desktop's services, the other one the internet.
  private var linkPrograms: [UserProgram] {
    func list(_ entry: String) -> [String] { settings[entry].flatMap([String].init(configurationValue:)) ?? [] }
    let wanted: [(String, UserProgram.Network)] = [("notify", .unixSockets), ("extractor", .internet)]
    return wanted.compactMap { name, network in
      let words = list(name)
      guard !words.isEmpty else { return nil }
      return UserProgram(
        name: name, command: [name], readable: ["programs-read"], words: words, read: list("read"), network: network)
    }
  }

  /// Variables that roostd sets for a worker in addition to those that all workers have. They say what the worker's
  /// sandbox must allow: it is made before the settings arrive.
  public var sandboxVariables: [String: String] {
    let programs = userPrograms
    var variables: [String: String] = [:]
    for (name, paths) in [("ROOST_JOB_PROGRAMS", programs.map(\.path)), ("ROOST_JOB_READ", programs.flatMap(\.read))]
    where !paths.isEmpty {
      variables[name] = paths.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.joined(separator: ":")
    }
    for (name, network) in [("ROOST_JOB_NETWORK", UserProgram.Network.internet), ("ROOST_JOB_UNIX", .unixSockets)]
    where programs.contains(where: { $0.network == network }) {
      variables[name] = "1"
    }
    return variables
  }
}
