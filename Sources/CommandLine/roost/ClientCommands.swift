internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import RoostClient
internal import Rendering

/// `roost client`
struct ClientCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "client",
    abstract: "Shows who is connected to the local relay, and lets web pages in.",
    discussion: """
      Programs on this machine may use the local relay without being asked. A page in a browser may have been written by \
      any page: it may do nothing until its origin is allowed, once.

        roost client list
        roost client allow https://client.example
      """,
    subcommands: [ClientList.self, ClientAllow.self, ClientDeny.self])
}

/// A page's origin.
struct OriginArgument: ParsableArguments, Sendable {
  @Argument(help: "Where the page comes from, as 'roost client list' shows it: https://client.example.")
  var origin: String
}

/// `roost client list`
struct ClientList: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Shows the connections, which pages wait to be let in, and which are allowed.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.requireLocalRelay()
    try await session.show(LocalRelayMethod.clients, NoArguments(), isIdempotent: true) { (list, style) in
      LocalClientText.list(list, now: WallClock.seconds, style)
    }
    return .done
  }
}

/// `roost client allow`
struct ClientAllow: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "allow", abstract: "Lets pages of an origin do what programs may.",
    discussion: "It is kept on the disk when this returns. A page that is connected comes in when it connects again.")
  @OptionGroup var page: OriginArgument
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.setOrigin(page.origin, LocalRelayMethod.allow)
  }
}

/// `roost client deny`
struct ClientDeny: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "deny", abstract: "Takes back what 'allow' gave; connections of the origin are closed.")
  @OptionGroup var page: OriginArgument
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.setOrigin(page.origin, LocalRelayMethod.deny)
  }
}

extension CommandSession {
  /// Refuses if no local relay is configured. The hub would only say that no worker serves the method; the user needs
  /// to know what is missing.
  fileprivate func requireLocalRelay() async throws(Refusal) {
    try await client.connect()
    guard client.registry?.members.contains(where: { $0.role == Role.localRelay.name }) != true else { return }
    throw Refusal(
      .unavailable, "there is no local relay: put [worker.local-relay] into supervisor.conf, then 'roost reload'",
      outcome: .notStarted)
  }

  fileprivate func setOrigin(
    _ origin: String, _ method: Method<LocalRelayOrigin, LocalRelayOrigins>
  ) async throws(Refusal) -> ExitStatus {
    try await requireLocalRelay()
    let wanted = LocalRelayOrigin(origin: origin)
    try await show(method, wanted, isIdempotent: true) { (origins, style) in
      LocalClientText.allowed(origins.allowed, style)
    }
    return .done
  }
}
