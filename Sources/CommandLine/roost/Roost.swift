internal import ArgumentParser
internal import Contracts

/// `roost`
struct Roost: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "roost",
    abstract: "Looks after a running Roost: its events, its workers, their logs, and any method of theirs.",
    discussion: """
      The supervisor is found at --socket (behind the command: 'roost status --socket PATH'), $ROOST_SOCKET, \
      $XDG_RUNTIME_DIR/roost/roost.sock or run/roost.sock.

      Exit codes: 0 done, 1 failed, 2 usage, 3 no supervisor, 4 not permitted, 5 timed out, 130 interrupted.
      """,
    version: RoostVersion.text,
    subcommands: [],
    groupedSubcommands: [
      CommandGroup(name: "Begin", subcommands: [SetupCommand.self]),
      CommandGroup(
        name: "Looking", subcommands: [Status.self, Why.self, Logs.self, Events.self, Doctor.self, DeadLetters.self]),
      CommandGroup(
        name: "Events",
        subcommands: [Publish.self, Queue.self, Observe.self, ProfileGroup.self, Import.self, Export.self]),
      CommandGroup(
        name: "People",
        subcommands: [
          Follow.self, Unfollow.self, Mute.self, Unmute.self, Lists.self, FindCommand.self, FeedCommand.self,
          InboxCommand.self, ReplyCommand.self, CommentCommand.self, ReactCommand.self, RepostCommand.self,
        ]),
      CommandGroup(name: "Links and private messages", subcommands: [LinksCommand.self, MessagesCommand.self]),
      CommandGroup(name: "Jobs", subcommands: [JobCommand.self]),
      CommandGroup(
        name: "Workers",
        subcommands: [Start.self, Stop.self, Restart.self, Hold.self, Attach.self, Reload.self, Log.self]),
      CommandGroup(
        name: "Messages",
        subcommands: [Methods.self, Call.self, Record.self, RecordingFiles.self, ReplayFile.self]),
      CommandGroup(name: "Programs", subcommands: [BusCommand.self, MCPCommand.self]),
      CommandGroup(name: "Relays", subcommands: [Relay.self, Plan.self, MirrorCommand.self]),
      CommandGroup(name: "Local relay", subcommands: [ClientCommand.self]),
      CommandGroup(name: "Push relay", subcommands: [PushCommand.self]),
      CommandGroup(name: "Accounts", subcommands: [AccountCommand.self, Key.self]),
      CommandGroup(name: "Backup", subcommands: [BackupCommand.self, Restore.self]),
      CommandGroup(name: "Other", subcommands: [Version.self]),
    ])

  /// The words that can come first.
  static var commandNames: [String] {
    let grouped = configuration.groupedSubcommands.flatMap { $0.subcommands }
    return (configuration.subcommands + grouped).map { $0._commandName } + ["help"]
  }
}

/// The options of every command.
struct GeneralOptions: ParsableArguments, Sendable {
  @Flag(name: .customLong("json"), help: "Print JSON: one object, or one a line for streams.")
  var isJSON = false

  @Option(help: ArgumentHelp("The supervisor's socket, instead of the usual places.", valueName: "path"))
  var socket: String?
}

/// A worker's name.
struct WorkerName: ParsableArguments, Sendable {
  @Argument(help: "The worker's name, as in 'roost status'.")
  var worker: String
}
