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

  func eventID() throws(Refusal) -> EventID { try Self.eventID(id) }

  static func eventID(_ id: String) throws(Refusal) -> EventID {
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

/// An age on the command line.
private enum AgeText {
  /// Its seconds, rounded down.
  static func seconds(_ text: String) throws -> Int64 {
    guard let milliseconds = Amount.milliseconds(reading: text) else {
      throw ValidationError("An age is a whole number and its unit, at most 49 days: 90s, 15m, 1h.")
    }
    return Int64(milliseconds / 1_000)
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
      "Only what has waited for a relay for so long, the oldest first: 90s, 15m, 1h.", valueName: "age"))
  var olderThan: String?
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
    if let olderThan {
      _ = try AgeText.seconds(olderThan)
      if isOpen || !state.isEmpty { throw ValidationError("--older-than is without --open and --state.") }
    }
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
    let found: [Publication]
    if let olderThan {
      // `try?`: read before, in `validate`.
      found = try await session.client.unsent(
        olderThanSeconds: (try? AgeText.seconds(olderThan)) ?? 0, limit: limit)
    } else {
      found = try await session.client.publications(in: states, limit: limit)
    }
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
    abstract: "Tries relays that failed or were called off again, and those that wait now; never those that have it.",
    discussion: """
      With --older-than, all publications that still wait for a relay and were accepted at least so long ago; of these, \
      relays that failed or were called off are tried again only with --with-failed.

        roost queue retry note1…
        roost queue retry --older-than 1h
      """)
  @Argument(help: ArgumentHelp("The event: 64 hexadecimal digits, note1… or nevent1….", valueName: "id"))
  var id: String?
  @OptionGroup var relay: PublicationRelay
  @Option(help: ArgumentHelp("All that have waited for so long: 90s, 15m, 1h; 0s: all that wait.", valueName: "age"))
  var olderThan: String?
  @Flag(help: "With --older-than: relays that failed or were called off, too.")
  var withFailed = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    guard (id == nil) != (olderThan == nil) else { throw ValidationError("Give an event or --older-than.") }
    if let olderThan {
      _ = try AgeText.seconds(olderThan)
      if relay.relay != nil { throw ValidationError("--relay is for one event.") }
    } else if withFailed {
      throw ValidationError("--with-failed is for --older-than; one event is tried again at all relays.")
    }
    guard let id else { return }
    do throws(Refusal) { _ = try PublicationArgument.eventID(id) } catch { throw ValidationError("\(error.message).") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    if let id {
      await session.print(
        try await session.client.retryPublication(PublicationArgument.eventID(id), at: relay.url()))
      return .done
    }
    // `try?`: read before, in `validate`.
    let seconds = (try? AgeText.seconds(olderThan ?? "0s")) ?? 0
    let retried = try await session.client.retryUnsent(olderThanSeconds: seconds, withFailed: withFailed)
    await session.print(retried, PublicationText.retried(retried, now: WallClock.seconds, session.style))
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
