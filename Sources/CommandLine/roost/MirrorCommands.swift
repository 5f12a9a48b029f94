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
    abstract: "Shows how much of what you wrote, and of what was written to you, is here.",
    discussion: """
      The mirror needs a worker of role 'mirror', which is off as shipped: 'enabled = true' in [worker.mirror].

        roost mirror status
      """,
    subcommands: [MirrorStatusCommand.self])
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
