internal import ArgumentParser
internal import Contracts
internal import Glibc
internal import LinuxSystem

/// `roost`
struct Roost: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "roost",
    abstract: "Your Nostr home on this machine: read, write, follow, keep what is yours, and see that all is well.",
    discussion: """
      'roost setup' begins; 'roost' alone shows how it is. Accounts are named by --as, else by $ROOST_ACCOUNT, else by \
      'roost account use'. Every command has --help.

      The supervisor is found at --socket (behind the command: 'roost status --socket PATH'), $ROOST_SOCKET, \
      $XDG_RUNTIME_DIR/roost/roost.sock, run/roost.sock or /run/roost/roost.sock.

      Exit codes: 0 done, 1 failed, 2 usage, 3 no supervisor, 4 not permitted, 5 timed out, 130 interrupted.
      """,
    version: OwnProgram.described(RoostVersion.text),
    subcommands: [Overview.self],
    groupedSubcommands: [
      CommandGroup(name: "Begin", subcommands: [SetupCommand.self, Status.self, Doctor.self]),
      CommandGroup(
        name: "Read",
        subcommands: [
          FeedCommand.self, InboxCommand.self, ProfileGroup.self, FindCommand.self, Query.self, Observe.self,
        ]),
      CommandGroup(
        name: "Write",
        subcommands: [
          Publish.self, ReplyCommand.self, CommentCommand.self, ReactCommand.self, RepostCommand.self, Queue.self,
        ]),
      CommandGroup(
        name: "People", subcommands: [Follow.self, Unfollow.self, Mute.self, Unmute.self, Lists.self]),
      CommandGroup(name: "Private messages and links", subcommands: [MessagesCommand.self, LinksCommand.self]),
      CommandGroup(name: "Accounts and keys", subcommands: [AccountCommand.self, Key.self]),
      CommandGroup(
        name: "Relays and clients",
        subcommands: [Relay.self, MirrorCommand.self, Plan.self, ClientCommand.self, PushCommand.self]),
      CommandGroup(
        name: "Files", subcommands: [BackupCommand.self, Restore.self, Import.self, Export.self]),
      CommandGroup(name: "Jobs (NIP-90)", subcommands: [JobCommand.self]),
      CommandGroup(
        name: "Tools", subcommands: [Encode.self, Decode.self, Methods.self, Call.self, Version.self]),
      CommandGroup(name: "For programs", subcommands: [BusCommand.self, MCPCommand.self]),
      CommandGroup(
        name: "Workers",
        subcommands: [
          Why.self, Logs.self, Events.self, DeadLetters.self, Start.self, Stop.self, Restart.self, Hold.self,
          Attach.self, Reload.self, Log.self, Record.self, RecordingFiles.self, ReplayFile.self,
        ]),
    ],
    defaultSubcommand: Overview.self)

  /// The words that can come first.
  static var commandNames: [String] {
    let grouped = configuration.groupedSubcommands.flatMap { $0.subcommands }
    return (configuration.subcommands + grouped).flatMap { [$0._commandName] + $0.configuration.aliases } + ["help"]
  }
}

/// The options of every command.
struct GeneralOptions: ParsableArguments, Sendable {
  @Flag(name: .customLong("json"), help: "Print JSON: one object, or one a line for streams.")
  var isJSON = false

  @Option(help: ArgumentHelp("The supervisor's socket, instead of the usual places.", valueName: "path"))
  var socket: String?

  @Option(help: ArgumentHelp("Colours: auto is on a terminal.", valueName: "when"))
  var color = ColorChoice.auto
}

/// When output has colours.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// On a terminal that can, unless `NO_COLOR` says no.
  case auto
  /// Into pipes and files, too.
  case always
  /// Nowhere.
  case never

  /// Puts the choice into the environment, where ``Terminal`` finds it, and every program that this one starts.
  func apply() {
    switch self {
    case .auto: break
    case .always:
      unsetenv("NO_COLOR")
      setenv("CLICOLOR_FORCE", "1", 1)
    case .never: setenv("NO_COLOR", "1", 1)
    }
  }
}

/// A worker's name.
struct WorkerName: ParsableArguments, Sendable {
  @Argument(help: "The worker's name, as in 'roost status'.")
  var worker: String
}
