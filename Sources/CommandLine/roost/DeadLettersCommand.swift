internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Rendering
internal import Wording

/// `roost dead-letters`
struct DeadLetters: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead-letters",
    abstract: "Looks after messages that killed their worker too often and were set aside.",
    subcommands: [List.self, Show.self, Retry.self, Drop.self], defaultSubcommand: List.self)

  /// `roost dead-letters list`
  struct List: LoopCommand {
    static let isReading = true
    static let configuration = CommandConfiguration(abstract: "Lists them.")
    @OptionGroup var general: GeneralOptions

    func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
      try await session.show(
        SupervisorMethod.deadLetters, DeadLettersRequest(action: "list"), isIdempotent: true
      ) { (result, style) in DeadLetterText.table(result, style) }
      return .done
    }
  }

  /// `roost dead-letters show`
  struct Show: LoopCommand {
    static let isReading = true
    static let configuration = CommandConfiguration(abstract: "Shows one with its payload.")
    @Argument(help: "Its id, from the list.") var id: String
    @OptionGroup var general: GeneralOptions

    func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
      try await session.show(
        SupervisorMethod.deadLetters, DeadLettersRequest(action: "show", id: id), isIdempotent: true
      ) { (result, style) in
        result.letters.flatMap { DeadLetterText.details($0, style) }
          + (result.sentence.map { ["", VisibleText.make($0)] } ?? [])
      }
      return .done
    }
  }

  /// `roost dead-letters retry`
  struct Retry: LoopCommand {
    static let configuration = CommandConfiguration(abstract: "Delivers one once more.")
    @Argument(help: "Its id, from the list.") var id: String
    @OptionGroup var general: GeneralOptions

    func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
      try await session.act(on: id, "retry")
    }
  }

  /// `roost dead-letters drop`
  struct Drop: LoopCommand {
    static let configuration = CommandConfiguration(abstract: "Throws one away for good, or all of them.")
    @Argument(help: "Its id, from the list, or 'all'.") var id: String
    @OptionGroup var general: GeneralOptions

    func run(in session: CommandSession) async throws(Refusal) -> ExitStatus { try await session.act(on: id, "drop") }
  }
}

extension CommandSession {
  fileprivate func act(on id: String, _ action: String) async throws(Refusal) -> ExitStatus {
    try await show(SupervisorMethod.deadLetters, DeadLettersRequest(action: action, id: id), timeout: .moving) {
      (result, style) in
      [result.sentence.map { VisibleText.make($0) } ?? Amount.count(result.letters.count, "letter") + " affected."]
        + DeadLetterText.answer(result, style)
    }
    return .done
  }
}
