internal import ArgumentParser
internal import Frames
internal import Rendering

/// What of Roost a program of MCP may use beyond public events.
enum MCPGrant: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// Signing and publishing notes, following and unfollowing.
  case write
  /// Private messages, events of private kinds, private entries of lists.
  case `private`
  /// The states of workers.
  case supervisor
}

/// `roost mcp`
struct MCPCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "mcp",
    abstract: "Serves tools to an assistant program, by the Model Context Protocol on standard input and output.",
    discussion: """
      The program that uses the tools starts this command itself; its configuration names the command line:

        {"mcpServers":{"roost":{"command":"roost","args":["mcp"]}}}

      Unless more is granted, the tools only read what is public: events, profiles, names, lists, feeds and relays.

        --allow write         publish_note, follow and unfollow, in the name of your account
        --allow private       list_messages and read_messages, events of private kinds, private entries of lists
        --allow supervisor    workers and why

      No tool gives away keys or changes how Roost runs. docs/mcp.md lists the tools.
      """)
  @Option(
    help: ArgumentHelp("What else is permitted: write, private or supervisor. May be repeated.", valueName: "what"))
  var allow: [MCPGrant] = []
  @OptionGroup var general: GeneralOptions

  var clientName: String { "mcp" }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try session.onInterrupt(.interrupted) {}
    session.output.leaveWithReader()
    try await MCPServer(session, grants: Set(allow)).run()
    return .done
  }
}
