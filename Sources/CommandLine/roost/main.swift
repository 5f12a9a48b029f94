internal import ArgumentParser
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import Rendering
internal import Wording

// The command line.
//
// Each command is a small type that declares its words (swift-argument-parser) and, in `run(in:)`, sends a request to
// the supervisor and passes the answer to a formatter of `Rendering`. Pure functions there decide what is printed; this
// module only decides which worker is called, and where the text goes.
//
// One connection, one command, one exit code (`ExitStatus`). Nothing is kept between runs.

/// A command that talks to the supervisor.
protocol LoopCommand: ParsableCommand, Sendable {
  var general: GeneralOptions { get }
  /// Whether it only reads: such a command needs no "may have been carried out" warning when its answer is lost.
  static var isReading: Bool { get }
  /// Its name at the supervisor.
  var clientName: String { get }
  /// Runs the command, on the loop.
  @EventLoopActor func run(in session: CommandSession) async throws(Refusal) -> ExitStatus
}

extension LoopCommand {
  static var isReading: Bool { false }
  var clientName: String { "roost" }
}

/// Options that no command has. The parser reports them last, after it has taken the text after such an option for an
/// argument and a command has rejected that: `--contnt hi` would be reported as "hi is no JSON object".
enum UnknownOptions {
  /// Whether arguments are parsed only to find such options: commands then do not validate them.
  @TaskLocal static var areSought = false

  /// Parses what was typed. An option that does not exist is reported before anything that follows from it.
  static func parse() throws -> any ParsableCommand {
    do { return try Roost.parseAsRoot() } catch {
      _ = try $areSought.withValue(true) { try Roost.parseAsRoot() }
      throw error
    }
  }
}

enum Program {
  static func main() -> Never {
    do {
      try refuseSecrets()
      try refuseUnknownCommand()
      var command = try UnknownOptions.parse()
      guard let loopCommand = command as? any LoopCommand else {
        try command.run()
        exit(ExitStatus.done.rawValue)
      }
      run(loopCommand)
    } catch {
      leave(error)
    }
  }

  /// Refuses a secret key in any argument, whatever it was meant for; only --allow-secrets lets the user publish one.
  private static func refuseSecrets() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard !arguments.contains("--allow-secrets"), arguments.contains(where: { SpottedSecret(in: $0) != nil }) else {
      return
    }
    throw ValidationError(secretAsArgument)
  }

  /// A first word that is no command: the parser would take it for an argument of `roost` alone.
  private static func refuseUnknownCommand() throws {
    let names = Roost.commandNames
    guard let word = CommandLine.arguments.dropFirst().first, !word.hasPrefix("-"), !names.contains(word) else {
      return
    }
    let near = NearestName.find(word, among: names).map { " Did you mean 'roost \($0)'?" } ?? ""
    throw ValidationError("There is no command '\(VisibleText.make(word))'.\(near) 'roost help' lists the commands.")
  }

  /// `roost --socket X status`: options of every command go after the command.
  private static func misplacedOptionHint() -> String {
    guard let first = CommandLine.arguments.dropFirst().first else { return "" }
    let name = first.prefix { $0 != "=" }
    guard ["--socket", "--json"].contains(name) else { return "" }
    let form = name == "--socket" ? "--socket PATH" : "--json"
    return "\n  '\(name)' goes after the command, as in 'roost status \(form)'."
  }

  private static func run(_ command: any LoopCommand) -> Never {
    command.general.color.apply()
    EventLoopActor.task {
      let session = CommandSession(command.general, name: command.clientName)
      do throws(Refusal) { session.leave(try await command.run(in: session)) } catch {
        session.leave(type(of: command).isReading ? error.ofReading : error)
      }
    }
    EventLoop.process.run()
    exit(ExitStatus.failed.rawValue)
  }

  /// Help goes to standard output and is a success; a mistyped command line exits with 2.
  private static func leave(_ error: any Error) -> Never {
    let isHelp = Roost.exitCode(for: error).isSuccess
    var message = Roost.fullMessage(for: error) + (isHelp ? "" : misplacedOptionHint()) + "\n"
    // The message repeats what was typed, which may be a piece of a key.
    if !isHelp { message = SpottedSecret.redacted(message) }
    _ = message.withCString { write(isHelp ? STDOUT_FILENO : STDERR_FILENO, $0, strlen($0)) }
    exit(isHelp ? ExitStatus.done.rawValue : ExitStatus.usage.rawValue)
  }
}

Program.main()
