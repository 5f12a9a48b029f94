internal import Contracts

/// `[worker.NAME.job.KIND]`: one kind of job that a dvm-provider serves.
public struct JobConfiguration: Sendable, Hashable {
  /// A service that is built into the provider.
  enum BuiltIn: String, Sendable, Hashable, CaseIterable {
    /// None: a program does the work.
    case none
    /// Counts the events that match (5400).
    case count
    /// Finds notes that contain given words (5302).
    case search
  }

  /// The kind of its requests, 5000 to 5999.
  public var kind: Int
  /// Whether it is served.
  public var enabled = true
  /// The program's absolute path and its arguments; empty for a built-in service.
  public var program: [String] = []
  var builtIn = BuiltIn.none
  /// What it costs, in millisatoshi.
  public var price = 0
  /// How long one run may take.
  public var time: Duration = .seconds(60)
  /// Bytes of memory that a run may take, all its processes together.
  public var memory = 256 << 20
  /// Bytes that a result may have.
  public var output = 256 << 10
  /// Bytes of files that a run may write.
  public var disk = 64 << 20
  /// Processes that a run may have.
  public var processes = 32
  /// Requests that are worked on at the same time.
  public var concurrent = 2
  /// Whether the program may be run again for a request when the first run was interrupted.
  public var repeatable = false
  /// Whether the program may use the network.
  public var network = false
  /// Paths that the program may read in addition to what every program needs.
  public var read: [String] = []
  /// The program's environment, `NAME=VALUE`.
  public var environment: [String] = []

  /// A kind of job, with the service built into the provider if there is one for this kind.
  public init(kind: Int) {
    self.kind = kind
    builtIn = Self.builtIn[kind] ?? .none
  }

  private static let builtIn: [Int: BuiltIn] = [5_302: .search, 5_400: .count]

  /// The jobs that are served unless the file says otherwise.
  static var standard: [JobConfiguration] { builtIn.keys.sorted().map { JobConfiguration(kind: $0) } }

  /// Kinds of requests for jobs (NIP-90).
  static let kinds = 5_000...5_999

  /// The form in which the worker receives it: names in camel case, durations in milliseconds.
  var settings: ConfigurationValue {
    .table([
      "kind": .integer(kind), "program": program.configurationValue,
      "builtin": .string(builtIn == .none ? "" : builtIn.rawValue), "price": .integer(price),
      "timeMilliseconds": .integer(TimeSpan.milliseconds(time)), "memoryBytes": .integer(memory),
      "outputBytes": .integer(output), "diskBytes": .integer(disk), "processes": .integer(processes),
      "concurrent": .integer(concurrent), "repeatable": .boolean(repeatable), "network": .boolean(network),
      "read": read.configurationValue, "environment": environment.configurationValue,
    ])
  }
}

extension Schema {
  /// `[worker.NAME.job.KIND]`. Every change restarts the worker: the worker's own sandbox says what a program may
  /// reach, and it is made at the worker's start.
  static let job: [Setting<JobConfiguration>] = [
    Setting("enabled", \.enabled, .flag, .restartsWorker),
    Setting("builtin", \.builtIn, .choice(JobConfiguration.BuiltIn.self), .restartsWorker),
    Setting("program", \.program, .command, .restartsWorker),
    Setting("price", \.price, .integer(0...2_100_000_000_000_000_000), .restartsWorker),
    Setting("time", \.time, .duration(.milliseconds(100) ... .seconds(86_400)), .restartsWorker),
    Setting("memory", \.memory, .size(16 << 20...1 << 40), .restartsWorker),
    Setting("output", \.output, .size(1...512 << 10), .restartsWorker),
    Setting("disk", \.disk, .size(0...1 << 40), .restartsWorker),
    Setting("processes", \.processes, .integer(1...10_000), .restartsWorker),
    Setting("concurrent", \.concurrent, .integer(1...1_000), .restartsWorker),
    Setting("repeatable", \.repeatable, .flag, .restartsWorker),
    Setting("network", \.network, .flag, .restartsWorker),
    Setting("read", \.read, .list(of: .listedPath, "paths"), .restartsWorker),
    Setting("environment", \.environment, .list(of: .assignment, "variables, NAME=VALUE"), .restartsWorker),
  ]

  /// `[worker.NAME]` of a provider of jobs.
  static let provider: [Setting<WorkerConfiguration>] = [
    Setting("account", entry: "account", of: ProviderSettings.self, .account, .restartsWorker),
    Setting("customers", entry: "customers", of: ProviderSettings.self, .customers, .restartsWorker),
    Setting("open-market", entry: "openMarket", of: ProviderSettings.self, .flag, .restartsWorker),
    Setting("network", entry: "network", of: ProviderSettings.self, .flag, .restartsWorker),
    Setting("announce", entry: "announce", of: ProviderSettings.self, .flag, .restartsWorker),
    Setting("name", entry: "name", of: ProviderSettings.self, .text("a name"), .restartsWorker),
    Setting("about", entry: "about", of: ProviderSettings.self, .text("a text"), .restartsWorker),
    Setting(
      "request-age", entry: "requestAgeMilliseconds", of: ProviderSettings.self,
      .milliseconds(.seconds(1) ... .seconds(30 * 86_400)), .restartsWorker),
    Setting(
      "payment-time", entry: "paymentTimeMilliseconds", of: ProviderSettings.self,
      .milliseconds(.seconds(1) ... .seconds(30 * 86_400)), .restartsWorker),
    Setting("concurrent", entry: "concurrent", of: ProviderSettings.self, .integer(1...1_000), .restartsWorker),
    Setting(
      "waiting-maximum", entry: "waitingMaximum", of: ProviderSettings.self, .integer(1...100_000), .restartsWorker),
  ]
}

extension Notation where Value == [String] {
  /// A program's path and its arguments. A relative path is relative to the configuration file's directory; `PATH` is
  /// not searched.
  static let command = Notation { value, context throws(Complaints) in
    let words = try list(of: Notation<String>.text("an argument"), "strings: a program's path and its arguments").parse(
      value, context)
    guard let first = words.first else { return [] }
    guard first.contains("/") else {
      throw Complaints("\"\(first)\" is no path; write one, such as \"./\(first)\" or \"/usr/bin/\(first)\"")
    }
    return [try Notation<String>.listedPath.parse(.string(first), context)] + words.dropFirst()
  } render: {
    .array($0.map { .string($0) })
  }

  /// The customers whose requests are accepted: `accounts`, `anyone`, or public keys.
  static let customers = Notation { value, context throws(Complaints) in
    if case .string(let word) = value {
      guard words.contains(word) else {
        throw Complaints("\"\(word)\" is not \"accounts\", \"anyone\" or an array of public keys")
      }
      return [word]
    }
    return try list(of: Notation<String>.publicKey, "public keys").parse(value, context)
  } render: {
    $0.count == 1 && words.contains($0[0]) ? .string($0[0]) : .array($0.map { .string($0) })
  }

  private static var words: [String] { ["accounts", "anyone"] }
}

extension Notation where Value == String {
  /// A path that goes into a list separated by `:`.
  static let listedPath = Notation { value, context throws(Complaints) in
    let path = try Notation<String>.path.parse(value, context)
    guard !path.contains(":") else { throw Complaints("\"\(path)\" has a ':' in it, which is not possible here") }
    return path
  } render: {
    .string($0)
  }

  /// A variable with its value: `NAME=VALUE`.
  static let assignment = Notation { value, context throws(Complaints) in
    let text = try Notation<String>.text("a variable with its value").parse(value, context)
    // `try?`: the complaint below shows the form of name and value together.
    guard let equals = text.firstIndex(of: "="),
      (try? Notation<String>.variable.parse(.string(String(text[..<equals])), context)) != nil
    else { throw Complaints("\"\(text)\" is no variable with its value, such as \"MODEL=small\"") }
    return text
  } render: {
    .string($0)
  }
}

extension ConfigurationReader {
  /// The maximum number of kinds of jobs of one provider.
  private static let jobCountMaximum = 64

  /// Reads `[worker.NAME.job.KIND]`: tables by the kind of the requests. Kinds and keys that the file does not name
  /// keep their defaults.
  mutating func readJobs(
    _ value: ConfigurationValue, at path: ConfigurationPath, into worker: inout WorkerConfiguration
  ) {
    guard case .table(let entries) = value else {
      return report(
        "expected tables by kind, [\(path).KIND], but this is \(value.kind)", at: path, tableDepth: path.steps.count - 1
      )
    }
    guard entries.count <= Self.jobCountMaximum else {
      return report(
        "\(entries.count) kinds of jobs; at most \(Self.jobCountMaximum) are possible", at: path,
        tableDepth: path.steps.count)
    }
    for (text, value) in entries.sorted(by: { $0.key < $1.key }) {
      let inner = path.appending(text)
      guard let kind = Int(text), JobConfiguration.kinds.contains(kind), "\(kind)" == text else {
        report("'\(text)' is no kind of a request for a job; those are 5000 to 5999", at: inner, tableDepth: 4)
        continue
      }
      let present = worker.jobs.first { $0.kind == kind } ?? JobConfiguration(kind: kind)
      var job = read(value, at: inner, Schema.job, over: present)
      if value["program"] != nil, value["builtin"] == nil, !job.program.isEmpty { job.builtIn = .none }
      checkWork(of: job, value, at: inner)
      worker.jobs.removeAll { $0.kind == kind }
      worker.jobs.append(job)
    }
    worker.jobs.sort { $0.kind < $1.kind }
  }

  private mutating func checkWork(of job: JobConfiguration, _ value: ConfigurationValue, at path: ConfigurationPath) {
    // A fault in one of the two was already reported.
    let told = hasProblem { problem in
      problem.table == path.description && ["program", "builtin"].contains { problem.key?.hasPrefix($0) == true }
    }
    guard job.enabled, !told else { return }
    if job.program.isEmpty, job.builtIn == .none {
      report(
        "no program does this work: it needs program = [\"/path/to/it\"], or builtin = \"count\" or \"search\"",
        at: path, tableDepth: 4)
    } else if !job.program.isEmpty, job.builtIn != .none {
      report("the work is done by program or builtin, not both", at: path.appending("builtin"), tableDepth: 4)
    }
  }
}
