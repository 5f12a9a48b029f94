internal import Addresses
internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost relay`
struct Relay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the relays that are known, and adds and removes those of your own choice.",
    discussion: """
      A relay is there because supervisor.conf names it, because you have added it, or because an account's published list \
      does. What you add here is kept on this machine and published nowhere.

        roost relay list
        roost relay add wss://relay.example --read-only
      """,
    subcommands: [RelayListCommand.self, RelayInfo.self, RelayAdd.self, RelayRemove.self])
}

/// An address as it is typed.
struct RelayArgument: ParsableArguments, Sendable {
  @Argument(help: "The relay's address: wss://… or ws://….")
  var url: String

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    do throws(RelayURLFault) { _ = try RelayURL(url) } catch { throw ValidationError("\(error).") }
  }

  /// The address in its canonical spelling.
  var canonical: String {
    // `try?`: validated.
    (try? RelayURL(url).text) ?? url
  }
}

/// `roost relay list`
struct RelayListCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Shows the relays: how each is, what it is for, and who names it.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.show(PlanMethod.relays, NoArguments(), isIdempotent: true) { (list, style) in
      RelayText.list(list, style)
    }
    return .done
  }
}

/// `roost relay info`
struct RelayInfo: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Shows all that is known of one relay, and what it says of itself.",
    discussion: """
      What it says of itself (NIP-11) is asked of the relay when it was not asked in the last hour. None of it is verified.

      Exit code 1 when nothing here names the relay, and it says nothing of itself either.
      """)
  @OptionGroup var relay: RelayArgument
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let options = RequestOptions(ttlMilliseconds: Timeout.reading.milliseconds, isIdempotent: true)
    let list = try await session.client.request(PlanMethod.relays, NoArguments(), options: options)
    let known = list.relays.first { $0.relay == relay.canonical }
    let words = try await words(from: known?.connector, isKnown: known != nil, in: session)
    let shown = known ?? PlanRelayList.Relay(relay: relay.canonical, sources: [], reads: false, writes: false)
    await session.print(
      RelayInfoJSON(shown, words), RelayText.info(shown, words, now: WallClock.seconds, session.style))
    return .done
  }

  /// What the relay says about itself, requested from the worker that dials it, or from any.
  private func words(
    from connector: String?, isKnown: Bool, in session: CommandSession
  ) async throws(Refusal) -> RelayWords {
    let options = RequestOptions(
      worker: connector, ttlMilliseconds: Self.wordsTimeout.milliseconds, isIdempotent: true)
    do throws(Refusal) {
      let question = RelayInformationRequest(relay: relay.canonical, isForeign: false)
      return .document(
        try await session.client.request(RelayMethod.information, question, options: options))
    } catch {
      guard isKnown else {
        throw Refusal(
          .noSuchRelay, "nothing names \(relay.canonical), and nothing is heard of it: \(error.message)",
          outcome: .notStarted)
      }
      return .unknown(error.message)
    }
  }

  /// Longer than a relay-connector waits for the relay, so that the connector's reason arrives.
  private static let wordsTimeout = Timeout(milliseconds: 15_000)
}

/// `roost relay add`
struct RelayAdd: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Adds a relay, or changes what one that was added is for.",
    discussion: "It is kept on the disk when this returns. Observes are asked there from now on.")
  @OptionGroup var relay: RelayArgument
  @Flag(help: "Publish nothing there without being told so.")
  var readOnly = false
  @Flag(help: "Ask nothing there without being told so.")
  var writeOnly = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if readOnly, writeOnly { throw ValidationError("A relay that is neither read nor written is of no use.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let wanted = PlanRelay(relay: relay.canonical, reads: !writeOnly, writes: !readOnly)
    try await session.show(PlanMethod.addRelay, wanted, isIdempotent: true) { (list, style) in
      RelayText.list(list, style)
    }
    return .done
  }
}

/// `roost relay remove`
struct RelayRemove: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Removes a relay that was added.",
    discussion: "What supervisor.conf or an account's list names is changed there.")
  @OptionGroup var relay: RelayArgument
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.show(PlanMethod.removeRelay, PlanRelay(relay: relay.canonical)) { (list, style) in
      RelayText.list(list, style)
    }
    return .done
  }
}
