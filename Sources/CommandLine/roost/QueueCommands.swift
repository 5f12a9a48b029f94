internal import Addresses
internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost queue`
struct Queue: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "What was published: which relays have it, and what keeps the others.",
    discussion: """
      'roost publish' puts events in, and they stay until every relay has taken or refused them. ID is an event's id, its \
      note1… or nevent1….
      """,
    subcommands: [QueueList.self, QueueShow.self, QueueRetry.self, QueueCancel.self, QueueReplaced.self],
    defaultSubcommand: QueueList.self)
}

/// An event that was published.
struct PublicationArgument: ParsableArguments, Sendable {
  @Argument(help: ArgumentHelp("The event: 64 hexadecimal digits, note1… or nevent1….", valueName: "id"))
  var id: String

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    do throws(Refusal) { _ = try eventID() } catch { throw ValidationError("\(error.message).") }
  }

  func eventID() throws(Refusal) -> EventID {
    if let id = EventID(id) { return id }
    do throws(EntityFault) {
      switch try NostrEntity(id) {
      case .note(let id): return id
      case .event(let pointer): return pointer.id
      default: break
      }
    } catch {
      throw Refusal(.badRequest, "\"\(id.prefix(80))\" names no event: \(error)", outcome: .notStarted)
    }
    throw Refusal(.badRequest, "\"\(id.prefix(80))\" names something else than an event", outcome: .notStarted)
  }
}

/// A relay of a publication.
struct PublicationRelay: ParsableArguments, Sendable {
  @Option(help: ArgumentHelp("Only this relay of it.", valueName: "url"))
  var relay: String?

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    do throws(Refusal) { _ = try url() } catch { throw ValidationError("\(error.message).") }
  }

  func url() throws(Refusal) -> RelayURL? {
    guard let relay else { return nil }
    do throws(RelayURLFault) { return try RelayURL(relay) } catch {
      throw Refusal(.badRequest, "\(error)", outcome: .notStarted)
    }
  }
}

extension CommandSession {
  /// Prints a publication.
  func print(_ publication: Publication) async {
    await print(publication, PublicationText.lines(publication, now: WallClock.seconds, style))
  }
}

/// `roost queue list`
struct QueueList: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists what was published, the newest first; with --json one a line.")
  @Flag(name: .customLong("open"), help: "Only what is not at its end yet.")
  var isOpen = false
  @Option(
    help: ArgumentHelp(
      "Only what is optimistic (no relay has it yet), partial, confirmed, failed or cancelled.", valueName: "state"))
  var state: [String] = []
  @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
  var limit = 20
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if limit < 1 { throw ValidationError("The limit is at least 1.") }
    if isOpen, !state.isEmpty { throw ValidationError("Give --open or --state, not both.") }
    for word in state where Publication.State(rawValue: word) == nil {
      let known = Publication.State.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("'\(word)' is no state: \(known).")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var states = isOpen ? [Publication.State.optimistic, .partial] : state.compactMap(Publication.State.init)
    if states.isEmpty { states = Publication.State.allCases }
    let found = try await session.client.publications(in: states, limit: limit)
    if session.isJSON {
      for publication in found { await session.output.writeLine(JSONPayload.encode(publication)) }
    } else {
      await session.output.writeLines(PublicationText.lines(found, now: WallClock.seconds, session.style))
    }
    return .done
  }
}

/// `roost queue show`
struct QueueShow: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows each relay of one publication; with --follow each change of it.")
  @OptionGroup var event: PublicationArgument
  @Flag(name: .shortAndLong, help: "Show it again at each change, until it is at its end.")
  var follow = false
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let id = try event.eventID()
    for try await publication in session.client.progress(of: id) {
      await session.print(publication)
      if !follow { break }
    }
    return .done
  }
}

/// `roost queue retry`
struct QueueRetry: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Tries relays that failed or were called off again, and those that wait now; never those that have it.")
  @OptionGroup var event: PublicationArgument
  @OptionGroup var relay: PublicationRelay
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    await session.print(try await session.client.retryPublication(event.eventID(), at: relay.url()))
    return .done
  }
}

/// `roost queue cancel`
struct QueueCancel: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Stops sending it to relays that do not have it.")
  @OptionGroup var event: PublicationArgument
  @OptionGroup var relay: PublicationRelay
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    await session.print(try await session.client.cancelPublication(event.eventID(), at: relay.url()))
    return .done
  }
}
