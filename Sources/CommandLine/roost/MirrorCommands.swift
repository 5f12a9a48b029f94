internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import LinuxSystem
internal import Rendering
internal import RoostClient

/// `roost mirror`
struct MirrorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mirror",
    abstract: "Keeps what you wrote, and what was written to you: here, and alive on your relays.",
    discussion: """
      The worker 'mirror' does it by itself, for each account.

        roost mirror status
        roost mirror scrub
        roost mirror copies note1…
        roost mirror push wss://relay.example
        roost mirror sync
      """,
    subcommands: [
      MirrorStatusCommand.self, MirrorScrubCommand.self, MirrorCopiesCommand.self, MirrorPushCommand.self,
      MirrorSyncCommand.self,
    ])
}

/// `roost mirror status`
struct MirrorStatusCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows for each account how many events are here, and which relays have sent everything.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.show(MirrorMethod.status, NoArguments(), isIdempotent: true) { (status, style) in
      MirrorText.status(status, now: WallClock.seconds, style)
    }
    return .done
  }
}

extension CommandSession {
  /// Has relays compared, and prints each whose turn is over; with `--json` as a line.
  fileprivate func scrub(_ wanted: MirrorScrub) async throws(Refusal) {
    try await client.connect()
    let rounds = try await client.stream(MirrorMethod.scrub, wanted)
    while let item = try await rounds.next() {
      switch item {
      case .part(let relay): await print(relay, [MirrorText.turn(relay)])
      case .end(let sent): await print(sent, ["\(Amount.count(sent.count, "copy", "copies")) sent and taken."])
      }
    }
  }
}

/// `roost mirror scrub`
struct MirrorScrubCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "scrub",
    abstract: "Compares the relays you write to with what you wrote, now, and sends them what they lack.",
    discussion: "This is done by itself every week ('scrub' in [worker.mirror]). Ctrl-C does not end it.")
  @Option(name: [.customLong("as")], help: ArgumentHelp("Only this account.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.scrub(MirrorScrub(account: account.name))
    return .done
  }
}

/// `roost mirror copies`
struct MirrorCopiesCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "copies", abstract: "Shows which relays have an event of yours, by the last comparison.")
  @OptionGroup var event: PublicationArgument
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.show(MirrorMethod.copies, MirrorCopies(id: "\(event.eventID())"), isIdempotent: true) {
      (copies, _) in MirrorText.copies(of: copies)
    }
    return .done
  }
}

/// `roost mirror push`
struct MirrorPushCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Sends to one relay what it lacks of what you wrote, whether or not you write to it.",
    discussion: "What was left there because of the relay is sent again; what it has refused for good is not.")
  @OptionGroup var relay: RelayArgument
  @Option(name: [.customLong("as")], help: ArgumentHelp("Only this account.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.scrub(MirrorScrub(account: account.name, relay: relay.canonical))
    return .done
  }
}

/// `roost mirror sync`
struct MirrorSyncCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Compares with your other Roosts, now: what is there comes here, and what is here goes there.",
    discussion: """
      'peers' in [worker.mirror] names them; they are compared every ten minutes by themselves. Ctrl-C does not end it. \
      The exit code is 1 if one of them is not the same afterwards.
      """)
  @Argument(help: ArgumentHelp("Only this one, as in 'peers'.", valueName: "url"))
  var peer: String?
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let turns = try await session.client.stream(MirrorMethod.sync, MirrorSync(peer: peer))
    var status = ExitStatus.done
    while let item = try await turns.next() {
      switch item {
      case .part(let peer):
        if peer.reason != nil { status = .failed }
        await session.print(peer, [MirrorText.turn(peer)])
      case .end(let count): await session.print(count, ["\(Amount.count(count.count, "event")) came or went."])
      }
    }
    return status
  }
}
