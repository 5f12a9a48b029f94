import ArgumentParser
import RoostConfiguration
import Contracts
import EventLoop
import Glibc
import LinuxSystem
import Logs

/// `roostd [--config supervisor.conf] [--check [--effective]]`
@main
struct RoostdCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "roostd",
    abstract: "Supervises Roost's workers and carries every message between them.",
    discussion: """
      Signals: TERM, INT and QUIT stop it (twice: at once), HUP reloads the configuration, USR1 reopens the log files, \
      USR2 writes the state of all workers into the log.

      Exit codes: 0 stopped as asked, 1 a critical worker failed, 3 another supervisor runs here, 64 usage, 71 the \
      system failed, 78 the configuration is wrong.
      """,
    version: RoostVersion.text)

  @Option(name: [.short, .long], help: "The configuration file; by default the usual places are tried.")
  var config: String?
  @Flag(help: "Check the configuration, say what is wrong or doubtful, and end.")
  var check = false
  @Flag(help: "With --check: print every setting with the value in force.")
  var effective = false
  @Flag(help: "Print only why it does not start, if there are log files, which have the rest.")
  var quiet = false

  enum Code {
    static let otherSupervisor: Int32 = 3
    static let system: Int32 = 71
    static let configuration: Int32 = 78
  }

  mutating func run() throws {
    StandardDescriptors.ensureOpen()
    let surroundings = Self.surroundings()
    let path = config
    let loaded: SupervisorConfiguration
    do throws(ConfigurationError) {
      if check { return try Self.tellCheck(path, surroundings, showsEffective: effective) }
      loaded = try Self.load(path, surroundings)
    } catch {
      Self.say("\(error)")
      throw ExitCode(Code.configuration)
    }
    throw ExitCode(Self.supervise(loaded, try Self.directories(loaded), surroundings, path, isQuiet: quiet))
  }

  private static func load(
    _ path: String?, _ surroundings: ConfigurationSurroundings
  ) throws(ConfigurationError) -> SupervisorConfiguration {
    try Configuration.load(path: path, surroundings: surroundings, permissionCheck: distrust)
  }

  /// - Parameter readsFiles: whether to look into files with keys.
  private static func verdict(
    _ path: String?, _ surroundings: ConfigurationSurroundings, readsFiles: Bool
  ) -> ConfigurationVerdict {
    Configuration.check(
      path: path, surroundings: surroundings, permissionCheck: distrust, program: ProgramFinding.init(at:),
      file: { SecretFileFinding(at: $0, readsContents: readsFiles) }, strangers: LandlockSupport.current.complaint)
  }

  /// `--check`: what is doubtful comes first and fails nothing; what is wrong is thrown.
  private static func tellCheck(
    _ path: String?, _ surroundings: ConfigurationSurroundings, showsEffective: Bool
  ) throws(ConfigurationError) {
    let verdict = verdict(path, surroundings, readsFiles: true)
    let doubts = verdict.doubts
    for doubt in doubts { say("warning: \(doubt)") }
    let configuration = try verdict.outcome.get()
    if showsEffective { return print(configuration.effective) }
    let count = doubts.count == 1 ? ", with 1 warning" : doubts.isEmpty ? "" : ", with \(doubts.count) warnings"
    print("\(configuration.file) is good\(count).\n")
  }

  /// Why a configuration file cannot be trusted; nil if it can.
  private static func distrust(_ path: String) -> String? {
    do throws(SystemFault) {
      try PathTrust.check(path, is: .file)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func surroundings() -> ConfigurationSurroundings {
    var environment: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next += 1
    }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let directory = getcwd(&buffer, buffer.count).map { String(cString: $0) } ?? "/"
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let program = String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let slash = program.lastIndex(of: "/") ?? program.startIndex
    return ConfigurationSurroundings(
      environment: environment, currentDirectory: directory, programDirectory: String(program[..<slash]))
  }

  private static func directories(_ configuration: SupervisorConfiguration) throws -> SupervisorDirectories {
    do { return try SupervisorDirectories(configuration) } catch {
      say("\(error)")
      throw ExitCode(error is SupervisorDirectories.Taken ? Code.otherSupervisor : Code.system)
    }
  }

  private static func supervise(
    _ configuration: SupervisorConfiguration, _ directories: SupervisorDirectories,
    _ surroundings: ConfigurationSurroundings,
    _ path: String?, isQuiet: Bool
  ) -> Int32 {
    let box = DaemonBox()
    EventLoopActor.task {
      do {
        let environment = surroundings.environment
        let sockets = ServiceSockets(environment)
        StreamListener.inherit(sockets.descriptors)
        let notifier = try ServiceNotifier(address: environment["NOTIFY_SOCKET"])
        let daemon = Daemon(
          configuration, directories: directories, programPath: surroundings.programDirectory, notifier: notifier,
          watchdogMilliseconds: ServiceReporting.watchdogMilliseconds(environment), sockets: sockets
        ) { verdict(path, surroundings, readsFiles: false) }
        box.daemon = daemon
        if !isQuiet || configuration.supervisor.logDirectory == nil {
          let journal = JournalWriter(environment)
          if journal == nil { Console.greet(configuration) }
          box.console = daemon.logs.follow { entries in
            for entry in entries where journal?.write(entry.record) != true { Console.write(entry.record) }
          }
        }
        try daemon.start()
      } catch {
        say("\(error)")
        box.startFailed = true
        EventLoop.process.stop()
      }
    }
    EventLoop.process.run()
    return EventLoopActor.afterRun { box.startFailed ? Code.system : box.daemon?.exitCode ?? 0 }
  }

  static func say(_ text: String) { writeAll(text + "\n", to: STDERR_FILENO) }
  private static func print(_ text: String) { writeAll(text, to: STDOUT_FILENO) }

  private static func writeAll(_ text: String, to descriptor: Int32) {
    // Without a terminal there is no reader.
    do throws(SystemFault) { try Descriptors.writeAll(text, to: descriptor) } catch {}
  }
}

/// Holds the daemon for the life of the loop.
@EventLoopActor
private final class DaemonBox {
  var daemon: Daemon?
  var startFailed = false
  var console: LogFollower?
  nonisolated init() {}
}
