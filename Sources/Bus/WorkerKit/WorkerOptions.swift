internal import ArgumentParser
internal import Glibc

/// What a worker receives on its command line and in its environment.
///
/// A managed worker has no arguments: its bus is descriptor 3 and its settings come with WELCOME. Only a worker that
/// was started by hand parses arguments, so a managed one never runs the parser's code.
struct WorkerOptions {
  enum Transport {
    case managed
    case attached(socket: String?)
  }
  var transport = Transport.managed
  var name: String
  var generation: UInt64?
  var token: String?
  var sandbox: String
  var environment: [String: String]

  /// Reads the process's arguments and environment; ends the process for `--help` and for usage errors (exit code 64).
  static func read(role: String) -> WorkerOptions {
    let environment = currentEnvironment()
    var options = WorkerOptions(
      name: environment["ROOST_WORKER"] ?? role, generation: environment["ROOST_GENERATION"].flatMap { UInt64($0) },
      token: environment["ROOST_TOKEN"], sandbox: environment["ROOST_SANDBOX"] ?? "off", environment: environment)
    // Every process that this one may start would see a secret in the environment.
    unsetenv("ROOST_TOKEN")
    guard CommandLine.arguments.count > 1 else {
      requireBus(role)
      return options
    }
    let arguments = WorkerArguments.parseOrExit()
    if let name = arguments.name { options.name = name }
    if arguments.attach {
      options.transport = .attached(socket: arguments.socket)
    } else {
      requireBus(role)
    }
    return options
  }

  /// A person typed the worker's name into a shell: print what to type instead.
  private static func requireBus(_ role: String) {
    var status = stat()
    if fstat(3, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { return }
    let text = """
      \(role) is started by roostd, which hands it the bus as descriptor 3; no bus is there.
      To run it by hand: 'roost attach \(role)' prints the command line with a one-time token.

      """
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(64)
  }

  private static func currentEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        result[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next += 1
    }
    return result
  }
}

private struct WorkerArguments: ParsableCommand {
  /// With the command name that was typed.
  static var configuration: CommandConfiguration {
    let path = CommandLine.arguments.first ?? ""
    return CommandConfiguration(
      commandName: path.split(separator: "/").last.map(String.init),
      abstract: "A worker of Roost's: roostd starts it, or you do, with a token of 'roost attach'.")
  }

  @Flag(help: "Join a running supervisor over its socket instead of being started by it.")
  var attach = false
  @Argument(help: "The supervisor's socket; by default the usual places are tried.")
  var socket: String?
  @Option(help: "The name to join under.")
  var name: String?
}
